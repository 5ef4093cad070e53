import Foundation
import Testing

@testable import HLS

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

    /// Names as in players' playlists. DRM and `data:` keys keep theirs.
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

    /// Names as in players' playlists. Session data and unread resources keep theirs.
    static func name(_ reference: MultivariantPlaylist.Reference) -> String? {
        switch reference {
        case .variant, .media, .iFrameVariant: reference.renditionIndex.map { "/a/x/r\($0).m3u8" }
        case .sessionKey(let key): key.isFetchable ? "/a/x/session-\(key.index).key" : nil
        case .imageVariant(let images): "https://origin.example/\(images.uri)"
        case .steering: "/a/x/steering"
        case .sessionData: nil
        }
    }

    /// Names as in bundles on disk; nil for what bundles do not store.
    static func relativeName(_ reference: MediaPlaylist.Reference) -> String? {
        switch reference {
        case .segment(let segment): "\(segment.mediaSequenceNumber).\(segment.map == nil ? "ts" : "m4s")"
        case .map(let map): "init-\(map.index).mp4"
        case .key(let key): key.isFetchable ? "../keys/\(key.index).key" : nil
        case .part, .preloadHint, .renditionReport, .assetURI, .assetList: nil
        }
    }

    /// Names as in bundles on disk.
    static func relativeName(_ reference: MultivariantPlaylist.Reference) -> String? {
        if case .sessionKey(let key) = reference {
            return key.isFetchable ? "keys/\(key.index).key" : nil
        }
        return reference.renditionIndex.map { "r\($0)/media.m3u8" }
    }

    /// Parses a text that must be a media playlist.
    static func media(_ text: String) throws -> MediaPlaylist {
        guard case .media(let playlist) = try Playlist.parse(Array(text.utf8)) else { throw NotExpected() }
        return playlist
    }

    /// Parses a text that must be a multivariant playlist.
    static func multivariant(_ text: String) throws -> MultivariantPlaylist {
        guard case .multivariant(let playlist) = try Playlist.parse(Array(text.utf8)) else { throw NotExpected() }
        return playlist
    }

    /// The text is a playlist of the other kind.
    struct NotExpected: Error {}
}
