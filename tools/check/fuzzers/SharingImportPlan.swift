// sources: Sources/Sharing/Import/ImportPlan.swift Sources/Sharing/Import/ImportPlan+Additions.swift Sources/Sharing/Import/ImportPlan+MoviePackage.swift Sources/Sharing/Import/MoviePackage.swift Sources/Sharing/Import/ImportSource.swift Sources/Sharing/ExchangeError.swift Sources/Sharing/XMLElement.swift
// rooms: as built
import Dispatch
import Foundation
import Glibc

/// The plan of an import has each piece once, in a folder of the asset, from a file of the folder that was handed in; and each segment's
/// file is the one in the line that the piece names. An input is up to three playlists with NULs between them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    let end = DispatchSemaphore(value: 0)
    Task.detached {
        await House.shared.check(bytes)
        end.signal()
    }
    end.wait()
    return 0
}

@LoopActor private final class House {
    static let shared = make()
    private let path: String
    private let store: BundleStore
    private let files = ["entry.m3u8", "v/media.m3u8", "w/media.m3u8"]

    private init(path: String) throws {
        self.path = path
        for folder in ["/film/v", "/film/w"] {
            try FileManager.default.createDirectory(atPath: path + folder, withIntermediateDirectories: true)
        }
        store = try BundleStore(path: path + "/store", reserve: 0)
    }

    /// Ends the run if there is no folder to work in: that is a fault of the machine, and no find.
    private static func make() -> House {
        var template = Array("/tmp/fuzz-import-XXXXXX".utf8CString)
        guard let folder = mkdtemp(&template) else {
            end("no folder can be made in /tmp: \(String(cString: strerror(errno)))")
        }
        let path = String(cString: folder)
        // libFuzzer ends by exit(3).
        clean(path)
        do {
            return try House(path: path)
        } catch {
            end("\(path) cannot be used: \(error)")
        }
    }

    private static func end(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("the fuzzer of import plans has nowhere to work: \(reason)\n".utf8))
        exit(73)
    }

    private static func clean(_ path: String) {
        Ended.path = path
        atexit { try? FileManager.default.removeItem(atPath: Ended.path) }
    }

    func check(_ bytes: [UInt8]) async {
        let end = Array("\n#EXT-X-ENDLIST\n".utf8)
        let texts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).map { Array($0) + end }
        for (name, text) in zip(files, texts) {
            FileManager.default.createFile(atPath: "\(path)/film/\(name)", contents: Data(text))
        }
        for name in files.dropFirst(texts.count) {
            unlink("\(path)/film/\(name)")
        }
        guard let origin = try? WebURL.placeholder(for: "film-aaaa") else { return }
        let asset = Asset(
            id: "film-aaaa", name: "film", title: nil, origin: origin, created: 1, store: store, isPreview: true)
        let folder = PlaylistFolder(path: "\(path)/film/entry.m3u8", followsEntry: false)
        let plan = ImportPlan(asset, from: folder)
        do {
            try await plan.readFolder()
        } catch {
            precondition(!"\(error)".isEmpty, "an error without a word")
            asset.close()
            return
        }
        let pieces = plan.takePieces().flatMap { $0 }
        let names = texts.reduce(0) { $0 + Self.nameCount($1) }
        // A playlist that several renditions name is read for each.
        let readers = max(1, asset.renditions.count)
        precondition(pieces.count <= names * readers, "\(pieces.count) pieces of \(names) names")
        precondition(Set(pieces.map { "\($0.folder)/\($0.file)" }).count == pieces.count, "a piece twice")
        let lines = Dictionary(uniqueKeysWithValues: zip(files.map { "\(path)/film/\($0)" }, texts.map(Self.lines)))
        for piece in pieces {
            check(piece, of: asset, lines)
        }
        asset.close()
    }

    private func check(_ piece: ImportPlan.Piece, of asset: Asset, _ lines: [String: [[UInt8]]]) {
        precondition(Directory.isName(piece.file) && Directory.isName(piece.folder), "a piece outside the bundle")
        let components = piece.source.components
        let isInside = components.allSatisfy {
            !["", ".", ".."].contains($0) && !$0.contains("/") && !$0.utf8.contains(0)
        }
        precondition(!components.isEmpty && isInside, "a file outside the folder")
        if let range = piece.range {
            precondition(range.lowerBound >= 0, "a range before the file")
        }
        let isOfAsset = asset.renditions.contains { $0.name.id == piece.folder } || piece.folder == asset.keys.folder.id
        precondition(isOfAsset || piece.folder == asset.content.sessionData.folder.id, "no folder of the asset")
        // The line that names it, without a second reading of variables, escapes and queries.
        guard let comma = piece.namedBy.range(of: ", line "), let number = Int(piece.namedBy[comma.upperBound...]),
            let text = lines[String(piece.namedBy[..<comma.lowerBound])]
        else { return }
        precondition((1...text.count).contains(number), "line \(number) of \(text.count)")
        let line = String(decoding: text[number - 1], as: UTF8.self)
        let isPlain = line.utf8.allSatisfy { byte in
            isalnum(CInt(byte)) != 0 || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "_")
        }
        guard isPlain, !line.isEmpty, let last = line.split(separator: "/").last else { return }
        precondition(components.last == String(last), "line \(number) names \(last), not \(components)")
    }

    /// The lines and the URI attributes that can name a file, and EXTINFs, of which an empty one names its playlist.
    private static func nameCount(_ text: [UInt8]) -> Int {
        let lines = lines(text)
        let uris = lines.filter { $0.first != UInt8(ascii: "#") }.count
        let attributes = String(decoding: text, as: UTF8.self).components(separatedBy: "URI").count - 1
        return uris + attributes
    }

    private static func lines(_ text: [UInt8]) -> [[UInt8]] {
        text.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            line.last == 0x0D ? Array(line.dropLast()) : Array(line)
        }
    }
}

private enum Ended {
    nonisolated(unsafe) static var path = ""
}
