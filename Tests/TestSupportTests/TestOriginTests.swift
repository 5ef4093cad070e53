import Foundation
import TestSupport
import Testing

@Suite("The fixture origin")
struct TestOriginTests {
    @Test(
        "serves every playlist and segment of the fixtures with its bytes and its media type",
        arguments: OriginKind.allCases)
    func serves(kind: OriginKind) async throws {
        let origin = try await kind.start()
        let types = [
            "/ts/master.m3u8": "application/vnd.apple.mpegurl", "/ts/90p/0.ts": "video/mp2t",
            "/cmaf/video-90p/init.mp4": "video/mp4", "/cmaf/video-90p/0.m4s": "video/iso.segment",
            "/cmaf/subtitles-en/0.vtt": "text/vtt", "/audio/low/0.aac": "audio/aac",
            "/aes/keys/0.key": "application/octet-stream",
        ]
        for (path, type) in types {
            let answer = try await HTTPProbe.fetch(origin.url(path))
            #expect(answer.status == 200 && answer["content-type"] == type, "\(path)")
            #expect(try answer.body == Repository.fixture(path), "\(path)")
        }
        #expect(try await HTTPProbe.fetch(origin.url("/nothing.ts")).status == 404)
        #expect(try await HTTPProbe.fetch(origin.url("/../../Package.swift")).status == 404)
    }

    /// Ranges of the 23,500 bytes of `/ts/90p/0.ts`, by RFC 9110 14.1.2.
    @Test(
        "answers a range with exactly its bytes",
        arguments: OriginKind.allCases,
        [
            ("bytes=0-", 206, 0..<23_500), ("bytes=0-0", 206, 0..<1), ("bytes=188-375", 206, 188..<376),
            ("bytes=23499-99999", 206, 23_499..<23_500), ("bytes=-500", 206, 23_000..<23_500),
            ("bytes=-99999", 206, 0..<23_500), ("bytes=23500-", 416, 0..<0), ("bytes=5-4", 416, 0..<0),
            ("bytes=0-1,4-5", 200, 0..<23_500), ("chunks=0-1", 200, 0..<23_500),
        ])
    func servesRanges(kind: OriginKind, answer row: (range: String, status: Int, expected: Range<Int>)) async throws {
        let (range, status, expected) = row
        let origin = try await kind.start()
        let file = try Repository.fixture("/ts/90p/0.ts")
        let answer = try await HTTPProbe.fetch(origin.url("/ts/90p/0.ts"), fields: ["Range": range])
        #expect(answer.status == status)
        #expect(answer.body == file[expected])
        switch status {
        case 206: #expect(answer["content-range"] == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/23500")
        case 416: #expect(answer["content-range"] == "bytes */23500")
        default: #expect(answer["content-range"] == nil)
        }
    }

    @Test(
        "honours validators: 304 for the same tag, the whole body for a range with an old tag",
        arguments: OriginKind.allCases)
    func honoursValidators(kind: OriginKind) async throws {
        let origin = try await kind.start()
        let url = origin.url("/ts/90p/0.ts")
        let tag = try #require(try await HTTPProbe.fetch(url, method: "HEAD")["etag"])
        #expect(try await HTTPProbe.fetch(url, fields: ["If-None-Match": tag]).status == 304)
        let same = try await HTTPProbe.fetch(url, fields: ["Range": "bytes=10-19", "If-Range": tag])
        #expect(same.status == 206 && same.body.count == 10)
        try await origin.add(OriginRule("/ts/90p/0.ts") { $0.etag = "other" })
        let other = try await HTTPProbe.fetch(url, fields: ["Range": "bytes=10-19", "If-Range": tag])
        #expect(other.status == 200 && other.body.count == 23_500 && other["etag"] == "\"other\"")
    }

    @Test("generated resources contain their own offset at every offset", arguments: OriginKind.allCases)
    func servesGeneratedResources(kind: OriginKind) async throws {
        let origin = try await kind.start()
        let whole = try await HTTPProbe.fetch(origin.url("/_size/1000000.ts"))
        #expect(whole.body.count == 1_000_000)
        #expect(whole.body.starts(with: Data("G000000000000 ".utf8)))
        let part = try await HTTPProbe.fetch(origin.url("/_size/1000000.ts"), fields: ["Range": "bytes=188027-200000"])
        #expect(part.body == whole.body[188_027...200_000])
        #expect(part.body.dropFirst().starts(with: Data("G000000188028 ".utf8)))
        let playlist = try await HTTPProbe.fetch(origin.url("/_vod/40x1000/media.m3u8"))
        #expect(playlist.text.contains("\n39.ts\n") && !playlist.text.contains("\n40.ts\n"))
        #expect(try await HTTPProbe.fetch(origin.url("/_vod/40x1000/39.ts")).body.count == 1000)
        #expect(try await HTTPProbe.fetch(origin.url("/_vod/40x1000/40.ts")).status == 404)
    }

    @Test(
        "a live window advances on request, and an event playlist grows until it ends", arguments: OriginKind.allCases)
    func advancesLivePlaylists(kind: OriginKind) async throws {
        let origin = try await kind.start()
        let live = origin.url("/_live/a/media.m3u8")
        #expect(try await HTTPProbe.fetch(live).text.contains("#EXT-X-MEDIA-SEQUENCE:0\n"))
        #expect(try await HTTPProbe.fetch(origin.url("/_live/a/4.ts")).status == 404)
        try await origin.advance("a", by: 5)
        let text = try await HTTPProbe.fetch(live).text
        #expect(text.contains("#EXT-X-MEDIA-SEQUENCE:5\n") && text.contains("\n8.ts\n") && !text.contains("\n9.ts\n"))
        #expect(text.contains("#EXT-X-DISCONTINUITY\n#EXTINF:2.000,\n6.ts\n"))
        #expect(try await HTTPProbe.fetch(origin.url("/_live/a/8.ts")).body == Repository.fixture("/ts/90p/2.ts"))
        #expect(try await HTTPProbe.fetch(origin.url("/_live/a/0.ts")).status == 404)

        let event = origin.url("/_event/b/media.m3u8")
        #expect(try await HTTPProbe.fetch(event).text.hasSuffix("1.ts\n"))
        try await origin.advance("b", by: 1)
        try await origin.end("b")
        #expect(try await HTTPProbe.fetch(event).text.hasSuffix("2.ts\n#EXT-X-ENDLIST\n"))
    }

    @Test("restarts on the same port after a stop", arguments: OriginKind.allCases)
    func restartsOnSamePort(kind: OriginKind) async throws {
        let origin = try await kind.start()
        try await origin.stop()
        await #expect(throws: SystemCallError.self) { try await HTTPProbe.fetch(origin.url("/ts/master.m3u8")) }
        try await origin.restart()
        #expect(try await HTTPProbe.fetch(origin.url("/ts/master.m3u8")).status == 200)
    }
}
