import ArgumentParser
import Foundation
import Orders

/// The file or folder that a film is written to, as a pattern: `~/Videos/{title}.mkv`.
struct ExportTarget: Equatable, Sendable {
    /// A word in braces that stands for something of the film.
    enum Field: String, CaseIterable {
        case title
        case name
        case date
        case quality
        case ext
    }

    /// The values that the words in braces stand for.
    struct Film {
        let name: String
        let title: String?
        /// Such as `720p`; nil for an asset without pictures.
        let quality: String?
        /// Such as `2026-12-24`.
        let date: String

        /// A text for file names; the title of an asset without one is its name.
        func value(of field: Field, ending: String) -> String {
            switch field {
            case .title:
                let safe = FileName.safe(title ?? name)
                return safe.isEmpty ? name : safe
            case .name: return name
            case .date: return date
            case .quality: return FileName.safe(quality ?? "")
            case .ext: return ending
            }
        }
    }

    /// With `{ext}` where a folder was given.
    private let pattern: String

    /// The endings that `{ext}` may stand for.
    static let usualFormat = ExportFormat.mkv

    /// - Parameter home: the user's folder, which a leading `~` stands for.
    init(_ text: String, home: String = NSHomeDirectory()) throws {
        guard !text.isEmpty else { throw ValidationError("the target is empty") }
        var pattern = text
        if text == "~" || text.hasPrefix("~/") {
            pattern = home + text.dropFirst()
        }
        if pattern.hasSuffix("/") || Self.isFolder(pattern) {
            pattern += (pattern.hasSuffix("/") ? "" : "/") + "{title}.{ext}"
        }

        for part in pattern.split(separator: "{", omittingEmptySubsequences: false).dropFirst() {
            guard let end = part.firstIndex(of: "}"), Field(rawValue: String(part[..<end])) != nil else {
                let known = Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
                throw ValidationError("\"\(text)\" has a brace that is none of \(known)")
            }
        }
        let ending = (pattern as NSString).pathExtension.lowercased()
        try ExportEnding.check(ending)
        self.pattern = pattern
    }

    /// The folder of the target as far as it does not depend on the film.
    var knownFolder: String {
        let fixed = pattern.prefix { $0 != "{" }
        guard let slash = fixed.lastIndex(of: "/") else { return "." }
        return slash == fixed.startIndex ? "/" : String(fixed[..<slash])
    }

    /// Returns the path for a film: one that nothing has yet, if necessary with ` (2)` before its ending.
    func path(for film: Film, isTaken: (String) -> Bool) -> String {
        var path = pattern
        for field in Field.allCases {
            path = path.replacing("{\(field.rawValue)}", with: film.value(of: field, ending: Self.usualFormat.rawValue))
        }
        guard isTaken(path) else { return path }

        let ending = (path as NSString).pathExtension
        var stem = path
        var tail = ""
        if !ending.isEmpty, ExportFormat.of(path) != .folder {
            stem = String(path.dropLast(ending.count + 1))
            tail = "." + ending
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

/// The endings of files that users may expect from an export, and that would become folders.
enum ExportEnding {
    private static let others: Set<String> = [
        "zip", "gz", "tgz", "xz", "zst", "7z", "rar", "webm", "avi", "mov", "m4v", "ts", "m2ts", "mpg", "mpeg", "flv",
        "wmv", "ogg", "mp3", "m4a", "aac", "m3u8", "m3u",
    ]

    /// Throws for an ending, in lower case, that no export has.
    static func check(_ ending: String) throws {
        guard others.contains(ending) else { return }
        throw ValidationError(
            "no export is made as .\(ending): end the target in .tar, .mp4 or .mkv; for a folder of that name: --format folder"
        )
    }
}

/// Names of files that every disk takes, a USB stick's as well.
enum FileName {
    /// Characters that FAT refuses, or that mean something in a path.
    private static let refused = Set("/\\:*?\"<>|")

    /// A longer name is refused by most file systems; an ending and a number must still fit.
    private static let longest = 200

    /// The text as a part of a file's name: without separators and control characters, not hidden, not too long.
    static func safe(_ text: String) -> String {
        var safe = ""
        for character in text {
            let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
            let isRefused = refused.contains(character) || isControl
            let next = isRefused ? "_" : String(character)
            guard safe.utf8.count + next.utf8.count <= longest else { break }
            safe += next
        }
        while safe.first == "." || safe.first == " " {
            safe.removeFirst()
        }
        while safe.last == "." || safe.last == " " {
            safe.removeLast()
        }
        return safe
    }
}
