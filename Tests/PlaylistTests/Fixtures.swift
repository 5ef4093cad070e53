import Foundation
import Testing

@testable import Playlist

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
        case .assetURI(let range): "/a/x/ad-\(range.index).m3u8"
        case .assetList: nil
        case .renditionReport(let report): "/a/y/\(report.lastMediaSequenceNumber ?? 0).m3u8"
        }
    }

    /// Names as Weir gives them to players; session data and what is not read keep theirs.
    static func name(_ reference: MultivariantPlaylist.Reference) -> String? {
        switch reference {
        case .variant, .media, .iFrameVariant: reference.renditionIndex.map { "/a/x/r\($0).m3u8" }
        case .sessionKey(let key): key.isFetchable ? "/a/x/session-\(key.index).key" : nil
        case .imageVariant(let images): "https://origin.example/\(images.uri)"
        case .steering: "/a/x/steering"
        case .sessionData: nil
        }
    }

    /// Names as Weir gives them on disk: what is not kept there has none.
    static func relativeName(_ reference: MediaPlaylist.Reference) -> String? {
        switch reference {
        case .segment(let segment): "\(segment.mediaSequenceNumber).\(segment.map == nil ? "ts" : "m4s")"
        case .map(let map): "init-\(map.index).mp4"
        case .key(let key): key.isFetchable ? "../keys/\(key.index).key" : nil
        case .part, .preloadHint, .renditionReport, .assetURI, .assetList: nil
        }
    }

    /// Names as Weir gives them on disk.
    static func relativeName(_ reference: MultivariantPlaylist.Reference) -> String? {
        if case .sessionKey(let key) = reference { return key.isFetchable ? "keys/\(key.index).key" : nil }
        return reference.renditionIndex.map { "r\($0)/media.m3u8" }
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
