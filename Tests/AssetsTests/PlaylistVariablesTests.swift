import EventLoop
import HLS
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

@Suite @LoopActor struct PlaylistVariablesTests {
    @Test func variablesFromQueryAndMultivariantPlaylistSurviveARestart() async throws {
        let fixture = try await TestHouse()
        let master = """
            #EXTM3U
            #EXT-X-DEFINE:QUERYPARAM="token"
            #EXT-X-DEFINE:NAME="folder",VALUE="ts/90p"
            #EXT-X-STREAM-INF:BANDWIDTH=100000
            {$folder}/variables.m3u8
            """
        let media = """
            #EXTM3U
            #EXT-X-DEFINE:IMPORT="token"
            #EXT-X-TARGETDURATION:2
            #EXTINF:2,
            0.ts?t={$token}
            #EXT-X-ENDLIST
            """
        try await fixture.origin.add(
            OriginRule("/variables.m3u8?token=a%2Fb") { ($0.status, $0.body) = (200, master) },
            OriginRule("/ts/90p/variables.m3u8") { ($0.status, $0.body) = (200, media) })
        let asset = try await fixture.library.open(fixture.url("/variables.m3u8?token=a%2Fb"), name: "film")
        let rendition = try await fixture.rendition("video", of: asset)
        #expect(rendition.source?.playlist.segments.map(\.uri) == ["0.ts?t=a/b"])
        try await fixture.restart(.offline)
        let restored = try #require(fixture.library.asset(named: "film"))
        #expect(restored.rendition("video")?.source?.playlist.segments.map(\.uri) == ["0.ts?t=a/b"])
    }

    /// libavformat requests it so; hls.js refuses the playlist.
    @Test func anUndefinedVariableIsAPartOfTheName() async throws {
        let fixture = try await TestHouse()
        let text = "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"token\"\n#EXTINF:2,\n{$token}.ts\n#EXT-X-ENDLIST\n"
        try await fixture.origin.add(OriginRule("/variables.m3u8") { ($0.status, $0.body) = (200, text) })
        let asset = try await fixture.open("/variables.m3u8")
        let rendition = try #require(asset.renditions.first)
        #expect(rendition.source?.playlist.segments.map(\.uri) == ["{$token}.ts"])
        #expect(try fixture.resource(0, of: rendition).url.text.contains("$token"))
    }
}
