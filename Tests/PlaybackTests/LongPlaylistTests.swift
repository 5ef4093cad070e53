import EventLoop
import Fetching
import HLS
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Playback

/// Long playlists of all kinds: written on a worker.
@Suite @LoopActor struct LongPlaylistTests {
    private static let head = """
        #EXT-X-TARGETDURATION:2
        #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=12,PART-HOLD-BACK=3
        #EXT-X-PART-INF:PART-TARGET=0.5
        #EXT-X-MEDIA-SEQUENCE:7

        """
    private static let tail = """
        #EXT-X-PART:DURATION=0.5,URI="p.m4s?token=2",BYTERANGE="100@0"
        #EXT-X-PART:DURATION=0.5,URI="q.m4s",GAP=YES
        #EXT-X-PRELOAD-HINT:TYPE=PART,URI="p.m4s?token=2",BYTERANGE-START=100
        #EXT-X-PRELOAD-HINT:TYPE=UNKNOWN,URI="r"
        #EXT-X-RENDITION-REPORT:URI="../video-360p/media.m3u8",LAST-MSN=2,LAST-PART=0
        #EXT-X-RENDITION-REPORT:URI="../none/media.m3u8",LAST-MSN=2
        """
    private static let segments = (0..<4000).map { number in
        (number % 1000 == 0 ? "#EXT-X-KEY:METHOD=AES-128,URI=\"k\(number)\"\n#EXT-X-MAP:URI=\"m\(number).mp4\"\n" : "")
            + "#EXTINF:2,\n\(number).m4s?token=1\n"
    }.joined()

    private func viewed() throws -> ViewedAsset {
        let viewed = try ViewedAsset()
        try viewed.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=1280x720\nvideo-720p/media.m3u8\n"
                + "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=640x360\nvideo-360p/media.m3u8")
        return viewed
    }

    private func source(_ text: String, isRecorded: Bool = false) async throws -> Rendition.Source {
        guard case .media(let playlist) = try Playlist.parse(Array("#EXTM3U\n\(text)\n".utf8)) else {
            throw TimedOut("a media playlist")
        }
        let base = try WebURL("http://origin/film/video-720p/media.m3u8?token=secret")
        let source = Rendition.Source(playlist: playlist, base: base, isRecorded: isRecorded)
        return try await source.prepared(as: .media, owner: viewed().asset)
    }

    private func check(
        _ viewed: ViewedAsset, _ source: Rendition.Source, contains words: [String]
    ) async throws {
        let rendition = try #require(viewed.asset.rendition("video-720p"))
        let draft = await viewed.view.draft(rendition, source)
        #expect(draft.size > PureWork.small)
        let written = try #require(try viewed.text(of: draft))
        for word in words {
            #expect(written.contains(word), "\(word)")
        }
        #expect(!written.contains("token"))
    }

    /// In a debug build, which needs about eight times as long as a release build.
    @Test("of a film that was not used since the start: read on other threads")
    func ofAnUnreadFilm() async throws {
        let house = try await TestHouse(.playback())
        let paths = try await house.paths(at: house.typed("/_vod/40000x1880/media.m3u8"))
        #expect(try await house.get(paths[7]).status == 200)
        await house.flush()
        try await house.restart()
        let asset = try #require(house.library.assets.first)
        #expect(!asset.isLoaded)
        var answer: HTTPAnswer?
        let longest = try await LoopStopwatch.longest { answer = try await house.get("/\(asset.name).m3u8") }
        #expect(answer?.status == 200)
        #expect(longest < 0.1)
    }

    @Test func ofLowLatency() async throws {
        let viewed = try viewed()
        let source = try await source(Self.head + Self.segments + Self.tail)
        try #require(viewed.asset.rendition("video-720p")).adopt(source)
        try await check(
            viewed, source,
            contains: ["\"../video-360p/media.m3u8\"", "\"none\"", "\n4006.m4s\n", "\"../keys/3.key\""])
    }

    /// Few bytes, but as many names.
    @Test func ofShortLines() async throws {
        let viewed = try viewed()
        let lines = (0..<2000).map { "#EXTINF:2,\n\($0).ts\n" }.joined()
        let source = try await source("#EXT-X-TARGETDURATION:2\n" + lines)
        #expect(source.playlist.text.write().count < PureWork.small)
        try #require(viewed.asset.rendition("video-720p")).adopt(source)
        try await check(viewed, source, contains: ["\n0.ts\n", "\n1999.ts\n"])
        let short = try await self.source("#EXT-X-TARGETDURATION:2\n" + lines.prefix(10_000))
        let rendition = try #require(viewed.asset.rendition("video-720p"))
        #expect(await viewed.view.draft(rendition, short).size <= PureWork.small)
    }

    @Test func ofADeltaUpdate() async throws {
        let viewed = try viewed()
        let rendition = try #require(viewed.asset.rendition("video-720p"))
        rendition.adopt(try await source(Self.head + Self.segments + Self.tail))
        let rest = (10..<4001).map { "#EXTINF:2,\n\($0).m4s?token=1\n" }.joined()
        let update = try await source(Self.head + "#EXT-X-SKIP:SKIPPED-SEGMENTS=10\n" + rest + Self.tail)
        rendition.show(update)
        try await check(viewed, update, contains: ["SKIPPED-SEGMENTS=10", "\n17.m4s\n", "\n4007.m4s\n"])
    }

    @Test func ofARecording() async throws {
        let viewed = try viewed()
        let lines = (0..<8000).map { "#EXTINF:2.000,\n\($0).m4s\n" }.joined()
        let text =
            "#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-KEY:METHOD=AES-128,URI=\"../keys/0.key\"\n"
            + "#EXT-X-MAP:URI=\"init-0.mp4\"\n" + lines
        let recorded = try await source(text, isRecorded: true)
        try await check(viewed, recorded, contains: ["\"init-0.mp4\"", "\n7999.m4s\n", "\"../keys/0.key\""])
    }

    @Test(
        "with more than has names",
        arguments: [
            String(repeating: "#EXT-X-PART:DURATION=0.5,URI=\"p\"\n", count: 2001),
            (0..<2001).map { "#EXT-X-MAP:URI=\"\($0)\"\n" }.joined(),
            (0..<20_001).map { "#EXT-X-KEY:METHOD=AES-128,URI=\"\($0)\"\n" }.joined(),
        ])
    func isRefusedWhileLive(lines: String) throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + lines + "#EXTINF:2,\na.ts\n"
        #expect(throws: PlaylistError.self) { try Playlist.parse(Array(text.utf8)) }
        #expect(throws: Never.self) { try Playlist.parse(Array((text + "#EXT-X-ENDLIST\n").utf8)) }
    }
}
