import Assets
import EventLoop
import Foundation
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// References of a multivariant playlist other than variants and renditions.
@Suite @LoopActor struct SessionTagTests {
    private func fixture(_ lines: String, media: String = "") async throws -> TestHouse {
        let fixture = try await TestHouse(.playback())
        try await fixture.putMaster("/film", lines)
        try await fixture.putMedia("/film/media.m3u8", media)
        return fixture
    }

    /// Plays the film completely, so that it is stored.
    private func play(_ fixture: TestHouse) async throws {
        let paths = try await fixture.entry(fixture.typed("/film/master.m3u8"))
        let variant = try #require(paths.last { $0.hasSuffix("/media.m3u8") })
        for path in try await fixture.paths(at: variant) {
            #expect(try await fixture.get(path).status == 200, "\(path)")
        }
    }

    // MARK: Session data

    private static let data = """
        #EXT-X-SESSION-DATA:DATA-ID="a",VALUE="Film"
        #EXT-X-SESSION-DATA:DATA-ID="b",LANGUAGE="en",URI="more/b.php?token=secret"
        #EXT-X-SESSION-DATA:DATA-ID="b",LANGUAGE="de",URI="more/b.php?token=secret&l=de"
        #EXT-X-SESSION-DATA:DATA-ID="c",FORMAT=RAW,URI="more/c.png"
        #EXT-X-SESSION-DATA:DATA-ID="d",FORMAT=RAW,URI="more/d.html"
        """

    @Test func sessionDataHasALocalNameAndAnInertType() async throws {
        let fixture = try await fixture(Self.data)
        try await fixture.put("/film/more/b.php*", "{\"b\": [1]}", type: "text/html")
        try await fixture.put("/film/more/c.png", "png", type: "image/png")
        try await fixture.put("/film/more/d.html", "<html>", type: "text/html")
        let paths = try await fixture.entry(fixture.typed("/film/master.m3u8")).filter { $0.contains("/data/") }
        #expect(paths.map { $0.split(separator: ".").last } == ["json", "json", "png", "bin"])
        #expect(Set(paths).count == 4 && paths.allSatisfy { !$0.contains("secret") })
        let types = ["application/json", "application/json", "image/png", "application/octet-stream"]
        let bodies = ["{\"b\": [1]}", "{\"b\": [1]}", "png", "<html>"]
        for (path, (type, body)) in zip(paths, zip(types, bodies)) {
            let answer = try await fixture.get(path)
            #expect(answer.status == 200 && answer.text == body && answer["content-type"] == type, "\(path)")
        }
        let asked = try await fixture.origin.requests().map(\.path)
        #expect(asked.contains("/film/more/b.php?token=secret&l=de"))
        #expect(try await fixture.get(paths[0].replacingOccurrences(of: "data-", with: "data-1")).status == 404)
    }

    @Test func invalidSessionDataIsABadGatewayThatNamesTheResponse() async throws {
        let fixture = try await fixture(Self.data)
        let path = try await fixture.entry(fixture.typed("/film/master.m3u8"))[0]
        try await fixture.origin.add(OriginRule("*b.php?token=secret") { ($0.html, $0.times) = (true, 1) })
        let page = try await fixture.get(path)
        #expect(page.status == 502 && page.text.contains("HTML instead of JSON"), "\(page.text)")
        try await fixture.put("*b.php?token=secret", String(repeating: "{", count: 1 << 20 + 1))
        let large = try await fixture.get(path)
        #expect(large.status == 502 && large.text.contains("larger than allowed"), "\(large.text)")
        try await fixture.origin.clearRules()
        #expect(try await fixture.get(path).status == 404)
    }

    @Test func sessionDataIsAvailableOfflineAndInTheBundle() async throws {
        let fixture = try await fixture(Self.data)
        try await fixture.put("/film/more/b.php*", "{}")
        try await play(fixture)
        try await waitUntil("the session data") {
            try await fixture.origin.requests().contains { $0.path.hasSuffix("d.html") && $0.state == "done" }
        }
        // One of the two is not available at the origin.
        try await waitUntil("both in the bundle") {
            fixture.folder.files().count { $0.contains("/data/data-") && $0.hasSuffix(".json") } == 2
        }
        let asked = try await fixture.origin.requests().filter { $0.path.contains("/more/") }.count
        #expect(asked == 4)
        try await fixture.stopOrigin()
        let text = try await fixture.get("/offline/film.m3u8").text
        #expect(text.contains("DATA-ID=\"a\",VALUE") && !text.contains("DATA-ID=\"c\""))
        let paths = PlaylistText.paths(in: text, at: "/").filter { $0.contains("/data/") }
        #expect(paths.count == 2)
        for path in paths {
            #expect(try await fixture.get(path).text == "{}")
        }
        let master = try #require(fixture.folder.files().first { $0.hasSuffix("/master.m3u8") })
        let bundle = try String(contentsOfFile: fixture.folder.path(master), encoding: .utf8)
        #expect(bundle.contains("DATA-ID=\"b\",LANGUAGE=\"de\",URI=\"data/data-"))
        #expect(!bundle.contains("DATA-ID=\"d\""))
    }

    // MARK: Session keys

    @Test func aSessionKeyIsTheKeyOfTheSameURL() async throws {
        let fixture = try await fixture(
            "#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"/aes/other.key\"\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"../k/1\"",
            media: "#EXT-X-KEY:METHOD=AES-128,URI=\"/k/1\"")
        try await fixture.put("/k/1", "0123456789abcdef", type: "text/plain")
        let keys = try await fixture.entry(fixture.typed("/film/master.m3u8")).prefix(2)
        #expect(keys.map { $0.split(separator: "/").last } == ["0.key", "1.key"])
        let text = try await fixture.mediaText(fixture.typed("/film/master.m3u8"), 2)
        #expect(PlaylistText.attribute("URI", in: text) == "../keys/1.key")
        #expect(try await fixture.get(keys[1]).text == "0123456789abcdef")
        try await play(fixture)
        #expect(try await fixture.origin.requests(for: "/k/1").count == 1)
        try await fixture.stopOrigin()
        let offline = try await fixture.entry("/offline/film.m3u8").filter { $0.contains("/keys/") }
        #expect(offline.count == 1 && offline[0].hasSuffix("/1.key"))
    }

    // MARK: Images

    @Test func imagesKeepTheirExtensionAndType() async throws {
        let images = "#EXT-X-IMAGE-STREAM-INF:BANDWIDTH=9,RESOLUTION=160x90,CODECS=\"jpeg\",URI="
        let fixture = try await fixture(images + "\"thumbs/list.m3u8?token=secret\"\n" + images + "\"webp.m3u8\"")
        try await fixture.put(
            "/film/thumbs/list.m3u8?token=secret",
            """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-TARGETDURATION:4
            #EXT-X-IMAGES-ONLY
            #EXTINF:4,
            #EXT-X-TILES:RESOLUTION=160x90,LAYOUT=2x1,DURATION=2
            0.jpg
            #EXTINF:4,
            1.JPEG?token=secret
            #EXTINF:4,
            #EXT-X-BYTERANGE:5@3
            all.png
            #EXT-X-ENDLIST

            """)
        try await fixture.put("/film/thumbs/*", "GIF89a67", type: "application/x-unknown")
        let entry = try await fixture.entry(fixture.typed("/film/master.m3u8"))
        #expect(entry[0].hasSuffix("/images-90p/media.m3u8") && entry[1].hasSuffix("/images-90p-2/media.m3u8"))
        let text = try await fixture.get(entry[0]).text
        #expect(text.contains("#EXT-X-IMAGES-ONLY\n") && text.contains("\n#EXT-X-TILES:RESOLUTION=160x90,LAYOUT=2x1"))
        let paths = PlaylistText.paths(in: text, at: entry[0])
        #expect(paths.map { $0.split(separator: "/").last } == ["0.jpg", "1.jpeg", "2.png"])
        let types = ["image/jpeg", "image/jpeg", "image/png"]
        for (path, (type, body)) in zip(paths, zip(types, ["GIF89a67", "GIF89a67", "89a67"])) {
            let answer = try await fixture.get(path)
            #expect(answer.text == body && answer["content-type"] == type, "\(path)")
        }
        #expect(try await !fixture.get("/offline/film.m3u8").text.contains("IMAGE"))
    }

    @Test func storedImagesAreListedOffline() async throws {
        let fixture = try await fixture("#EXT-X-IMAGE-STREAM-INF:BANDWIDTH=9,URI=\"thumbs.m3u8\"")
        try await fixture.put(
            "/film/thumbs.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.jpg\n#EXT-X-ENDLIST\n")
        try await fixture.put("/film/0.jpg", "GIF89a", type: "image/jpeg")
        try await play(fixture)
        #expect(try await !fixture.get("/film.m3u8").text.contains("IMAGE"))
        let asset = try #require(fixture.library.asset(named: "film"))
        let picture = "/a/\(asset.id)/aabcde/images/media.m3u8"
        let paths = try await fixture.paths(at: picture)
        #expect(try await fixture.get(paths[0]).text == "GIF89a")
        // A player may have the last byte before it is stored.
        try await waitUntil("both in the store") { try await fixture.entry("/offline/film.m3u8").count == 2 }
        try await fixture.stopOrigin()
        let offline = try await fixture.entry("/offline/film.m3u8")
        #expect(offline.count == 2 && offline[0].hasSuffix("/images/media.m3u8"))
        let stored = try await fixture.paths(at: offline[0])
        #expect(try await fixture.get(stored[0]).text == "GIF89a")
    }

    // MARK: I-frames

    @Test func iFramesAreByteRangesWithTheirOwnNames() async throws {
        let fixture = try await fixture("#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9,RESOLUTION=160x90,URI=\"trick.m3u8\"")
        try await fixture.put(
            "/film/trick.m3u8",
            """
            #EXTM3U
            #EXT-X-VERSION:4
            #EXT-X-TARGETDURATION:2
            #EXT-X-I-FRAMES-ONLY
            #EXTINF:2,
            #EXT-X-BYTERANGE:376@188
            /ts/90p/0.ts
            #EXTINF:2,
            #EXT-X-BYTERANGE:188
            /ts/90p/0.ts
            #EXT-X-ENDLIST

            """)
        let entry = try await fixture.entry(fixture.typed("/film/master.m3u8"))
        #expect(entry[0].hasSuffix("/iframes-90p/media.m3u8"))
        let text = try await fixture.get(entry[0]).text
        #expect(text.contains("#EXT-X-I-FRAMES-ONLY\n") && !text.contains("BYTERANGE"))
        let paths = PlaylistText.paths(in: text, at: entry[0])
        let bytes = try Repository.fixture("/ts/90p/0.ts")
        for (path, range) in zip(paths, [188..<564, 564..<752]) {
            let answer = try await fixture.get(path)
            #expect(answer.body == bytes[range] && answer["content-type"] == "video/mp2t")
        }
        #expect(
            try await fixture.origin.requests(for: "/ts/90p/0.ts").map(\.range) == ["bytes=188-563", "bytes=564-751"])
    }
}
