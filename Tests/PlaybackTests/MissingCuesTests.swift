import Assets
import EventLoop
import Foundation
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Segments of subtitles that the origin does not deliver: an error would end playback in some players.
@Suite @LoopActor struct MissingCuesTests {
    private static let empty = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n\n"

    private func subtitles(_ fixture: TestHouse, _ entry: String = "/cmaf/master.m3u8") async throws -> [String] {
        try await fixture.paths(fixture.typed(entry), "subtitles-en")
    }

    @Test(arguments: [404, 403, 410, 500])
    func anEmptyFileStandsInWithTheTimesOfTheNeighbour(_ status: Int) async throws {
        let fixture = try await TestHouse(.playback())
        let paths = try await subtitles(fixture)
        #expect(try await fixture.get(paths[1]).status == 200)
        try await fixture.origin.add(OriginRule("*/[34].vtt") { $0.status = status })
        let answer = try await fixture.get(paths[3], ["Range": "bytes=0-"])
        #expect(answer.status == 200 && answer.text == Self.empty, "\(answer.status) \(answer.text)")
        #expect(answer["cache-status"]?.contains("no cues stand in") ?? false)
        #expect(!fixture.folder.files().contains { $0.hasSuffix("/3.vtt") })
        // The next request asks the origin again.
        try await fixture.origin.clearRules()
        #expect(try await fixture.get(paths[3]).text.contains("Second 6"))
    }

    @Test func withoutANeighbourItHasNoTimes() async throws {
        let fixture = try await TestHouse(.playback())
        let paths = try await subtitles(fixture)
        try await fixture.origin.add(OriginRule("*.vtt") { $0.html = true })
        let answer = try await fixture.get(paths[0])
        #expect(answer.status == 200 && answer.text == "WEBVTT\n\n")
    }

    @Test func aGapOfSubtitlesIsListedAndEmpty() async throws {
        let fixture = try await TestHouse(.playback())
        let lines = (0..<6).map { ($0 == 2 ? "#EXT-X-GAP\n" : "") + "#EXTINF:2,\n\($0).vtt\n" }.joined()
        try await fixture.put(
            "/cmaf/subtitles-en/media.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(lines)#EXT-X-ENDLIST\n")
        let paths = try await subtitles(fixture)
        #expect(paths.count == 6)
        for path in paths {
            #expect(try await fixture.get(path).status == 200)
        }
        #expect(try await fixture.get(paths[2]).text == Self.empty)
        #expect(try await fixture.origin.requests(for: "/cmaf/subtitles-en/2.vtt").isEmpty)
    }

    /// A player would play a text as sound, or decrypt it.
    @Test func soundPicturesAndEncryptedCuesAreRefusedAsBefore() async throws {
        let fixture = try await TestHouse(.playback())
        let lines = "#EXT-X-KEY:METHOD=AES-128,URI=\"/aes/keys/1.key\"\n#EXTINF:2,\n0.vtt\n"
        try await fixture.put(
            "/cmaf/subtitles-en/media.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(lines)#EXT-X-ENDLIST\n")
        try await fixture.origin.add(OriginRule("*.vtt") { $0.status = 404 }, OriginRule("*/1.m4s") { $0.status = 404 })
        let cues = try await subtitles(fixture)
        #expect(try await fixture.get(try #require(cues.first { $0.hasSuffix("0.vtt") })).status == 404)
        for id in ["video-90p", "audio-en"] {
            let paths = try await fixture.paths(fixture.typed("/cmaf/master.m3u8"), id)
            #expect(try await fixture.get(try #require(paths.first { $0.hasSuffix("/1.m4s") })).status == 404, "\(id)")
        }
    }
}
