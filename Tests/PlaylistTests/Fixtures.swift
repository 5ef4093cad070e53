import Foundation
import Testing

@testable import Playlist

/// A golden case: a file of input, a separator line that names the view, and the expected output.
struct GoldenCase: CustomTestStringConvertible, Sendable {
    let name: String
    let input: [UInt8]
    /// The words of the separator line: the view, and for the offline one the places of the stored renditions.
    let view: [String]
    let expected: String

    var testDescription: String { name }
    var stored: Set<Int> { Set(view.dropFirst().compactMap { Int($0) }) }

    /// All cases of a folder under `fixtures/playlists`; a folder without any is a fault of the checkout.
    static func all(in folder: String) throws -> [GoldenCase] {
        try Fixtures.files(in: folder).map { name, bytes in
            let mark = Array("===== ".utf8)
            let start = try #require(bytes.indices.first { bytes[$0...].starts(with: mark) && isLineStart($0, bytes) })
            let end = try #require(bytes[start...].firstIndex(of: 0x0A))
            let words = String(decoding: bytes[start..<end], as: UTF8.self).split(separator: " ").dropFirst()
            return GoldenCase(
                name: name, input: Array(bytes[..<start]), view: words.map(String.init),
                expected: String(decoding: bytes[(end + 1)...], as: UTF8.self))
        }
    }

    private static func isLineStart(_ index: Int, _ bytes: [UInt8]) -> Bool {
        index == 0 || bytes[index - 1] == 0x0A
    }
}

/// The committed playlists.
enum Fixtures {
    /// The files of a folder under `fixtures/playlists`, by name.
    static func files(in folder: String) throws -> [(String, [UInt8])] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "fixtures/playlists/\(folder)")
        let names = try FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false)).sorted()
        try #require(!names.isEmpty)
        return try names.map { ($0, [UInt8](try Data(contentsOf: root.appending(path: $0)))) }
    }

    /// Names as Weir gives them to players; DRM and `data:` keys keep theirs.
    static func name(_ reference: MediaPlaylist.Reference) -> String? {
        switch reference {
        case .segment(let segment): "/a/x/\(segment.mediaSequenceNumber).\(segment.map == nil ? "ts" : "m4s")"
        case .map(let map): "/a/x/init-\(map.index).mp4"
        case .key(let key): key.isFetchable ? "/a/x/\(key.index).key" : nil
        case .part(let part): "/a/x/\(part.mediaSequenceNumber).\(part.partIndex).m4s"
        case .preloadHint(let hint): "/a/x/hint\(hint.kind == .map ? ".mp4" : ".m4s")"
        case .renditionReport(let report): "/a/y/\(report.lastMediaSequenceNumber ?? 0).m3u8"
        }
    }

    /// Names as Weir gives them to players; session data and what is not read keep theirs.
    static func name(_ reference: MultivariantPlaylist.Reference) -> String? {
        switch reference {
        case .variant, .media, .iFrameVariant: reference.renditionIndex.map { "/a/x/r\($0).m3u8" }
        case .sessionKey(let key): key.isFetchable ? "/a/x/session-\(key.index).key" : nil
        case .sessionData, .other: nil
        }
    }

    /// Reads a text that must be a media playlist.
    static func media(_ text: String) throws -> MediaPlaylist {
        guard case .media(let playlist) = try Playlist.parse(Array(text.utf8)) else { throw NotExpected() }
        return playlist
    }

    /// Reads a text that must be a multivariant playlist.
    static func multivariant(_ text: String) throws -> MultivariantPlaylist {
        guard case .multivariant(let playlist) = try Playlist.parse(Array(text.utf8)) else { throw NotExpected() }
        return playlist
    }

    /// The other kind of playlist came.
    struct NotExpected: Error {}
}
