import ArgumentParser
import Foundation
import Orders

/// The file or folder that a film is written to: `~/Videos/{title}.mkv`. A word in braces stands for something of the film.
struct ExportPattern: Equatable, Sendable {
    enum Field: String, CaseIterable {
        case title
        case name
        case date
        case quality
        case ext
    }

    /// The values of the fields.
    struct Film {
        let name: String
        let title: String?
        /// Such as `720p`; nil for an asset without pictures.
        let quality: String?
        /// Such as `2026-12-24`.
        let date: String

        /// The value as a part of a file's name. A film without a title, or with one that no file can have, is called by its name.
        func value(of field: Field) -> String {
            switch field {
            case .title:
                let safe = FileName.safe(title ?? name)
                return safe.isEmpty ? name : safe
            case .name: return name
            case .date: return date
            case .quality: return FileName.safe(quality ?? "")
            case .ext: return ExportFormat.mkv.rawValue
            }
        }
    }

    private enum Part: Equatable {
        case text(String)
        case field(Field)
    }

    private let parts: [Part]

    /// The folder for which a shell writes `~`; that of the user's account where the environment names none.
    static func home(_ environment: [String: String]) -> String {
        guard let home = environment["HOME"], home.hasPrefix("/") else { return NSHomeDirectory() }
        return home
    }

    /// - Parameters:
    ///   - text: a file, a folder that does not exist, or one that does, which gets `{title}.{ext}`.
    ///   - home: the user's folder, which a leading `~` stands for.
    init(_ text: String, home: String = Self.home(ProcessInfo.processInfo.environment)) throws {
        guard !text.isEmpty else { throw ValidationError("the target is empty") }
        var path = text
        if text == "~" || text.hasPrefix("~/") {
            path = home + text.dropFirst()
        }
        if Self.isFolder(path) || path.hasSuffix("/") {
            path += "/{title}.{ext}"
        }
        try ExportEnding.check((path as NSString).pathExtension, otherwise: "leave the ending out, for a folder")
        parts = try Self.parts(of: path)
    }

    private static func parts(of path: String) throws -> [Part] {
        var parts: [Part] = []
        for (index, piece) in path.split(separator: "{", omittingEmptySubsequences: false).enumerated() {
            guard index > 0 else {
                parts.append(.text(String(piece)))
                continue
            }
            let word = piece.prefix { $0 != "}" }
            guard word.endIndex < piece.endIndex, let field = Field(rawValue: String(word)) else {
                let known = Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
                throw ValidationError("\"{\(word)\" begins none of \(known)")
            }
            parts.append(.field(field))
            parts.append(.text(String(piece[word.endIndex...].dropFirst())))
        }
        return parts
    }

    /// The target, if it is a name without an ending that nothing has yet: the folder of a film, or one for films that is not there.
    var doubtfulFolder: String? {
        guard case .text(let path)? = parts.last, parts.count == 1, ExportFormat.of(path) == .folder else { return nil }
        return path
    }

    /// The format of the target, by its ending.
    var format: ExportFormat {
        let film = Film(name: "film", title: nil, quality: nil, date: "")
        return ExportFormat.of(path(for: film) { _ in false })
    }

    /// The folder of the target as far as it does not depend on the film.
    var knownFolder: String {
        guard case .text(let fixed)? = parts.first, let slash = fixed.lastIndex(of: "/") else { return "." }
        return slash == fixed.startIndex ? "/" : String(fixed[..<slash])
    }

    /// Returns the path for a film: one that nothing has yet, if necessary with ` (2)` before its ending.
    func path(for film: Film, isTaken: (String) -> Bool) -> String {
        var path = ""
        for part in parts {
            switch part {
            case .text(let text): path += text
            case .field(let field): path += film.value(of: field)
            }
        }
        guard isTaken(path) else { return path }

        var stem = path
        var tail = ""
        if ExportFormat.of(path) != .folder {
            tail = "." + (path as NSString).pathExtension
            stem.removeLast(tail.count)
        }
        var number = 2
        while isTaken("\(stem) (\(number))\(tail)") {
            number += 1
        }
        return "\(stem) (\(number))\(tail)"
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
