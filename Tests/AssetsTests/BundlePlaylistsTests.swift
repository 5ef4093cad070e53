import EventLoop
import Foundation
import HLS
import HTTPMessage
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

@Suite @LoopActor struct BundlePlaylistsTests {
    private func text(_ path: String, of asset: Asset, in fixture: TestHouse) throws -> String {
        try String(contentsOfFile: fixture.folder.path("assets/\(asset.id)/\(path)"), encoding: .utf8)
    }

    /// Every kind of presentation, and the renditions that make up one complete variant.
    nonisolated static let presentations: [(fixture: String, renditions: [String])] = [
        ("ts", ["video-90p"]), ("cmaf", ["video-90p", "audio-en"]), ("byterange-ts", ["video-90p"]),
        ("byterange-fmp4", ["video-180p"]), ("aes", ["video-90p"]), ("aes-noiv", ["video-180p"]), ("audio", ["audio"]),
    ]

    @Test(arguments: presentations)
    func aBundlePlaysWithoutWeir(_ name: String, _ renditions: [String]) async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/\(name)/master.m3u8")
        for rendition in renditions {
            try await fixture.fetch(rendition, of: asset)
        }
        #expect(asset.isPlayableOffline)
        var expected: [FrameHashes] = []
        for id in renditions {
            let url = try #require(asset.rendition(id).flatMap { asset.urls(of: $0).first })
            expected.append(try await FrameHashes.of(url.text))
        }
        try await fixture.origin.stop()

        let path = fixture.folder.path("assets/\(asset.id)/master.m3u8")
        let frames = try await FrameHashes.of(path, options: ["-allowed_extensions", "ALL"])
        #expect(frames.errors.isEmpty)
        let hashes = frames.streams.map { $0.frames.map(\.hash) }
        #expect(Set(hashes) == Set(expected.flatMap(\.streams).map { $0.frames.map(\.hash) }))
        #expect(!hashes.isEmpty && hashes.allSatisfy { $0.count >= 100 })
        #expect(try Self.urls(in: fixture.folder.path("assets/\(asset.id)")).isEmpty)
    }

    /// Absolute URLs in the playlists of a folder.
    nonisolated private static func urls(in path: String) throws -> [String] {
        let files = FileManager.default.enumerator(atPath: path)?.allObjects as? [String] ?? []
        return try files.filter { $0.hasSuffix(".m3u8") }.flatMap { file in
            try String(contentsOfFile: path + "/" + file, encoding: .utf8).split(separator: "\n")
                .filter { $0.contains("://") }.map(String.init)
        }
    }

    /// Opens `cmaf`, and stores one variant and one rendition of sound.
    private func openPartly(in fixture: TestHouse) async throws -> Asset {
        let asset = try await fixture.library.open(
            fixture.url("/cmaf/master.m3u8?token=secret"), name: "film", title: "A \"film\"")
        try await fixture.fetch("audio-fr", of: asset)
        try await fixture.fetch("video-180p", of: asset)
        return asset
    }

    @Test func listsOnlyCompleteRenditions() async throws {
        let fixture = try await TestHouse()
        let asset = try await openPartly(in: fixture)
        #expect(
            try text("master.m3u8", of: asset, in: fixture) == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="Français",LANGUAGE="fr",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="1",\
                URI="audio-fr/media.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=116384,AVERAGE-BANDWIDTH=111467,CODECS="avc1.4d400c,mp4a.40.2",\
                RESOLUTION=320x180,FRAME-RATE=10.000,AUDIO="aac"
                video-180p/media.m3u8

                """)
    }

    @Test func aMediaPlaylistNamesTheFilesBesideIt() async throws {
        let fixture = try await TestHouse()
        let asset = try await openPartly(in: fixture)
        #expect(
            try text("video-180p/media.m3u8", of: asset, in: fixture).hasPrefix(
                """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:1
                #EXT-X-MEDIA-SEQUENCE:0
                #EXT-X-PLAYLIST-TYPE:VOD
                #EXT-X-MAP:URI="init-0.mp4"
                #EXTINF:1.000000,
                0.m4s

                """))
    }

    @Test func theIdentityHasNoToken() async throws {
        let fixture = try await TestHouse()
        let asset = try await openPartly(in: fixture)
        #expect(
            try text("asset.json", of: asset, in: fixture) == """
                {
                  "created" : \(asset.created),
                  "format" : 1,
                  "id" : "\(asset.id)",
                  "name" : "film",
                  "origin" : "\(fixture.origin.url("/cmaf/master.m3u8"))?…",
                  "title" : "A \\"film\\""
                }
                """)
    }

    @Test func keysAndRangesAreFilesOfTheBundle() async throws {
        let fixture = try await TestHouse()
        let encrypted = try await fixture.open("/aes-noiv/master.m3u8")
        try await fixture.fetch("video-90p", of: encrypted)
        let media = try text("video-90p/media.m3u8", of: encrypted, in: fixture)
        #expect(media.contains("#EXT-X-KEY:METHOD=AES-128,URI=\"../keys/0.key\"\n#EXTINF:2.000000,\n7.ts\n"))
        #expect(media.contains("#EXT-X-MEDIA-SEQUENCE:7\n"))

        let ranges = try await fixture.open("/byterange-fmp4/master.m3u8")
        try await fixture.fetch("video-90p", of: ranges)
        let text = try text("video-90p/media.m3u8", of: ranges, in: fixture)
        #expect(text.contains("#EXT-X-MAP:URI=\"init-0.mp4\"\n#EXTINF:2.000000,\n0.mp4\n"))
        #expect(!text.contains("BYTERANGE"))
    }

    @Test func aLoneMediaPlaylistGetsAMultivariantPlaylist() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/90p/media.m3u8")
        try await fixture.fetch("media", of: asset)
        let largest = try (0..<6).map { try Repository.fixture("/ts/90p/\($0).ts").count }.max() ?? 0
        #expect(
            try text("master.m3u8", of: asset, in: fixture)
                == "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(largest * 4)\nmedia/media.m3u8\n")
    }

    @Test func playlistsAreWrittenOnlyWhenCompletenessChanges() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let master = fixture.folder.path("assets/\(asset.id)/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        #expect(!FileManager.default.fileExists(atPath: master))
        try await fixture.fetch("video-90p", of: asset)
        #expect(FileManager.default.fileExists(atPath: master))

        try FileManager.default.removeItem(atPath: master)
        let other = try await fixture.rendition("video-180p", of: asset)
        let piece = try fixture.fetch(0, of: other, in: asset)
        try await piece.end()
        #expect(!FileManager.default.fileExists(atPath: master))

        // If a process ends before it has written the playlists, the next process writes them.
        try await fixture.restart()
        let again = try #require(fixture.library.asset(named: "ts"))
        fixture.library.publish(again)
        #expect(fixture.folder.files().contains("assets/\(asset.id)/master.m3u8"))
    }
}
