import Assets
import EventLoop
import Foundation
import HTTPMessage
import HTTPServer
import TestRooms
import TestSupport
import Testing

@testable import Playback

@Suite @LoopActor struct InterstitialTests {
    private static let uri =
        "#EXT-X-DATERANGE:ID=\"1\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T00:00:00Z\",X-ASSET-URI="
    private static let list =
        "#EXT-X-DATERANGE:ID=\"2\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T00:00:02Z\",X-ASSET-LIST="

    /// A film with one interstitial, named by `attribute`.
    private func film(_ attribute: String, allowedOrigins: [String] = []) async throws -> TestHouse {
        let fixture = try await TestHouse(.playback { $0.http.allowedOrigins = allowedOrigins })
        try await fixture.putMaster("/film")
        try await fixture.putMedia("/film/media.m3u8", attribute)
        return fixture
    }

    private func name(_ attribute: String, in fixture: TestHouse) async throws -> String {
        let text = try await fixture.mediaText(fixture.typed("/film/master.m3u8"))
        return try #require(PlaylistText.attribute(attribute, in: text), "\(text)")
    }

    // MARK: Presentations

    @Test func anInterstitialPlaysUnderALocalName() async throws {
        let fixture = try await film(Self.uri + "\"../ads/one/master.m3u8?token=secret\"")
        try await fixture.putMaster("/ads/one")
        try await fixture.putMedia("/ads/one/media.m3u8", "")
        let name = try await name("X-ASSET-URI", in: fixture)
        #expect(name.hasPrefix("/a/film-") && name.hasSuffix(".m3u8"))
        #expect(name.contains("/interstitials/") && name.utf8.count < 60)

        let paths = try await fixture.media(name + "?_HLS_primary_id=7&CMCD=sid")
        #expect(paths.count == 2 && paths.allSatisfy { $0.hasSuffix(".ts") })
        let piece = try await fixture.get(paths[1])
        #expect(piece.body == (try Repository.fixture("/ts/90p/1.ts")))
        #expect(piece["content-type"] == "video/mp2t")
        let asked = try await fixture.origin.requests().map(\.path).filter { $0.hasPrefix("/ads/") }
        #expect(asked == ["/ads/one/master.m3u8?token=secret&_HLS_primary_id=7", "/ads/one/media.m3u8"])
    }

    @Test func aPageOfAnotherOriginGetsAbsoluteURLs() async throws {
        let page = "https://player.example"
        let ranges = Self.uri + "\"/ts/master.m3u8\"\n" + Self.list + "\"/list.json\""
        let fixture = try await film(ranges, allowedOrigins: [page])
        try await fixture.origin.add(
            OriginRule("/list.json") { ($0.status, $0.body) = (200, "{\"ASSETS\":[{\"URI\":\"/ts/master.m3u8\"}]}") })
        let media = try await fixture.entry(fixture.typed("/film/master.m3u8"))[0]
        let text = try await fixture.get(media, ["Origin": page]).text
        let uri = try #require(PlaylistText.attribute("X-ASSET-URI", in: text), "\(text)")
        #expect(uri.hasPrefix(fixture.players.url("/a/film-")), "\(uri)")
        #expect(try await HTTPProbe.fetch(uri, fields: ["Origin": page]).status == 200)
        let list = try #require(PlaylistText.attribute("X-ASSET-LIST", in: text))
        let json = try await fixture.get(list, ["Origin": page]).text
        #expect(json.contains("\"URI\":\"\(uri)\""), "\(json) \(uri)")
        let proxied = ["Origin": page, "X-Forwarded-Proto": "https", "X-Forwarded-Host": "tv.example"]
        let secure = try #require(
            PlaylistText.attribute("X-ASSET-URI", in: try await fixture.get(media, proxied).text))
        #expect(secure.hasPrefix("https://tv.example/a/film-"), "\(secure)")
        #expect(try await fixture.get(list, proxied).text.contains("\"URI\":\"https://tv.example/a/"))
        // Others reach Weir by another name, or through a proxy.
        #expect(!(try await fixture.get(media).text.contains("http://")))
    }

    @Test func anInterstitialIsFetchedOnceAndNeitherListedNorStored() async throws {
        let fixture = try await film(Self.uri + "\"/ts/master.m3u8\"")
        let name = try await name("X-ASSET-URI", in: fixture)
        let url = fixture.players.url(name)
        let players = (0..<5).map { _ in Task { try await HTTPProbe.fetch(url) } }
        for player in players {
            #expect(try await player.value.status == 200)
        }
        #expect(try await fixture.origin.requests(for: "/ts/master.m3u8").count == 1)
        let piece = try await fixture.media(name)[0]
        #expect(try await fixture.get(piece).status == 200)
        #expect(fixture.library.assets.map(\.name) == ["film"])
        #expect(!fixture.folder.files().contains { $0.contains("assets/") && $0.hasSuffix("/0.ts") })
    }

    @Test func onlyTheUsersHostMayBePrivate() async throws {
        let other = try await TestOrigin()
        let local = { (port: Int) in "\"http://localhost:\(port)/ts/master.m3u8\"" }
        for uri in ["\"\(other.master("ts"))\"", local(other.port), "\"http://10.255.255.1/a.m3u8\""] {
            let fixture = try await film(Self.uri + uri)
            let answer = try await fixture.get(try await name("X-ASSET-URI", in: fixture))
            #expect(answer.status == 403 && answer.text.contains("your URL does not name it"), "\(answer.text)")
        }
        let fixture = try await film(Self.uri + local(9))
        try await fixture.putMaster("/ads")
        try await fixture.origin.add(OriginRule("/to/*") { $0.redirect = other.master("ts") })
        try await fixture.putMedia("/ads/media.m3u8", Self.uri + "\"/to/elsewhere.m3u8\"")
        let nested = try await fixture.mediaText(fixture.typed("/ads/master.m3u8"))
        let answer = try await fixture.get(try #require(PlaylistText.attribute("X-ASSET-URI", in: nested)))
        #expect(answer.status == 403, "\(answer.text)")
        #expect(try await other.requests().isEmpty)
    }

    /// An interstitial asset that may use a private address for one asset is not available to another asset that may
    /// not.
    @Test func anInterstitialAssetBelongsToOneAsset() async throws {
        let other = try await TestOrigin()
        try await other.add(
            OriginRule("/x/media.m3u8") {
                ($0.status, $0.body) = (
                    200, "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(Self.uri)\"/ts/master.m3u8\"\n#EXTINF:2,\n/ts/90p/0.ts\n"
                )
            })
        let fixture = try await film(Self.uri + "\"\(other.master("ts"))\"")
        let own = try await fixture.get("/" + other.url("/x/media.m3u8"))
        let name = try #require(PlaylistText.attribute("X-ASSET-URI", in: own.text))
        #expect(try await fixture.get(name).status == 200)
        #expect(try await fixture.get(try await self.name("X-ASSET-URI", in: fixture)).status == 403)
    }

    @Test func anInvalidInterstitialIsABadGatewayThatNamesTheResponse() async throws {
        let fixture = try await film(Self.uri + "\"/ads/none.m3u8\"")
        let name = try await name("X-ASSET-URI", in: fixture)
        let missing = try await fixture.get(name)
        #expect(missing.status == 502 && missing.text.contains("404"))
        try await fixture.origin.replaceRules(with: OriginRule("/ads/*") { $0.html = true })
        let page = try await fixture.get(name)
        #expect(page.status == 502 && page.text.contains("HTML"), "\(page.text)")
        let unknown = try await fixture.get(name.replacingOccurrences(of: ".m3u8", with: "0.m3u8"))
        #expect(unknown.status == 404, "\(unknown.text)")
        #expect(try await fixture.get("/a/none/aabcde/interstitials/1.m3u8").status == 404)
    }

    @Test func interstitialsInLivePlaylistsHaveLocalNames() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.putMedia("/live.m3u8", Self.uri + "\"/ts/master.m3u8\"", isLive: true)
        let text = try await fixture.get(fixture.typed("/live.m3u8")).text
        let name = try #require(PlaylistText.attribute("X-ASSET-URI", in: text))
        #expect(try await fixture.media(name).count == 6)
    }

    // MARK: Storage

    @Test func offlinePlaylistsNameOnlyStoredInterstitials() async throws {
        let fixture = try await film(Self.uri + "\"/ads/master.m3u8\"\n" + Self.list + "\"/ads/list.json\"")
        try await fixture.putMaster("/ads")
        try await fixture.putMedia("/ads/media.m3u8", "", count: 1)
        for path in try await fixture.media(fixture.typed("/film/master.m3u8")) where path.hasSuffix(".ts") {
            #expect(try await fixture.get(path).status == 200)
        }
        for entry in ["/film.m3u8", "/offline/film.m3u8", fixture.typed("/film/master.m3u8")] {
            #expect(try await !fixture.mediaText(entry).contains("DATERANGE"), "\(entry)")
        }
        let known = try #require(fixture.library.asset(named: "film"))
        let direct = "/a/\(known.id)/oabcde/interstitials/1.m3u8"
        #expect(try await fixture.get(direct).status == 404)

        let piece = try await fixture.media(fixture.typed("/ads/master.m3u8"))[0]
        #expect(try await fixture.get(piece).status == 200)
        try await fixture.stopOrigin()
        for (entry, expected) in [("/film.m3u8", "/ads.m3u8"), ("/offline/film.m3u8", "/offline/ads.m3u8")] {
            let text = try await fixture.mediaText(entry)
            #expect(text.contains("X-ASSET-URI=\"\(expected)\"") && !text.contains("X-ASSET-LIST"), "\(text)")
            #expect(try await fixture.media(expected).count == 1)
        }
    }

    // MARK: Lists

    @Test func anAssetListIsFetchedForEachPlayerWithLocalURIs() async throws {
        let fixture = try await film(Self.list + "\"/ads/list?token=secret\"")
        let other = try await TestOrigin()
        try await fixture.origin.add(OriginRule("/ads/list*") { $0.redirect = "/moved/here/list.json" })
        try await fixture.put(
            "/moved/here/list.json",
            """
            {"ASSETS": [ {"URI":"../one/master.m3u8", "DURATION":4.0},
             {"DURATION":2, "URI":"\(other.master("ts"))"} ], "X-MORE": {"URI":"../one"}}
            """, type: "text/plain")
        try await fixture.putMaster("/moved/one")
        try await fixture.putMedia("/moved/one/media.m3u8", "")
        let name = try await name("X-ASSET-LIST", in: fixture)
        #expect(name.hasSuffix(".json") && !name.contains("secret"))
        let answer = try await fixture.get(name + "?_HLS_start_offset=1.5&_HLS_primary_id=x&foo=1")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer["content-type"] == "application/json" && answer["cache-control"] == "no-store")
        let names = answer.text.components(separatedBy: "\"URI\":\"").dropFirst().map {
            String($0.prefix { $0 != "\"" })
        }
        #expect(names.count == 3 && names[2] == "../one")
        #expect(
            answer.text.hasPrefix("{\"ASSETS\": [ {\"URI\":\"/a/film-") && answer.text.contains("\"DURATION\":4.0},\n"))
        #expect(try await fixture.media(names[0]).count == 2)
        #expect(try await fixture.get(names[1]).status == 403)

        #expect(try await fixture.get(name).status == 200)
        let asked = try await fixture.origin.requests().map(\.path).filter { $0.hasPrefix("/ads/list") }
        #expect(
            asked == ["/ads/list?token=secret&_HLS_start_offset=1.5&_HLS_primary_id=x", "/ads/list?token=secret"])
        // A record for the catalogue may still be on its way.
        let files = fixture.folder.files().filter { !$0.hasPrefix("records/") && !$0.hasSuffix("asset.json") }
        #expect(files.filter { $0.hasSuffix(".json") } == [])
    }

    @Test func anEmptyAssetListIsForwarded() async throws {
        let fixture = try await film(Self.list + "\"/ads/list.json\"")
        try await fixture.put("/ads/list.json", "{\"ASSETS\": []}", type: "application/json")
        let answer = try await fixture.get(try await name("X-ASSET-LIST", in: fixture))
        #expect(answer.status == 200 && answer.text == "{\"ASSETS\": []}")
    }

    nonisolated static let bad: [(words: String, status: Int, rule: @Sendable (inout OriginRule) -> Void)] = [
        ("gave HTML (text/html) where a list of assets should be", 502, { $0.html = true }),
        ("404", 502, { $0.status = 404 }),
        ("an empty body", 502, { ($0.status, $0.body) = (200, "") }),
        ("no ASSETS", 502, { ($0.status, $0.body) = (200, "{}") }),
        ("line 2: the list of assets is not valid JSON", 502, { ($0.status, $0.body) = (200, "{\n]") }),
        ("gave a playlist", 502, { ($0.status, $0.body) = (200, "#EXTM3U\n#EXTINF:1,\na\n") }),
        ("larger than allowed", 502, { ($0.status, $0.body) = (200, String(repeating: " ", count: 1 << 20) + "{}") }),
        ("not valid JSON", 502, { ($0.status, $0.bodyHex) = (200, "7b22ff227d") }),
        ("401", 502, { $0.status = 401 }),
        ("your URL does not name it", 403, { $0.redirect = "http://localhost:9/list.json" }),
    ]

    @Test(arguments: bad.indices)
    func anInvalidAssetListIsRefusedWithAMessage(_ index: Int) async throws {
        let example = Self.bad[index]
        let fixture = try await film(Self.list + "\"/ads/list.json\"")
        try await fixture.origin.add(OriginRule("/ads/list.json", example.rule))
        let answer = try await fixture.get(try await name("X-ASSET-LIST", in: fixture))
        #expect(answer.status == example.status && answer.isComplete)
        #expect(answer.text.contains(example.words) && answer.text.hasSuffix(".\n"), "\(answer.text)")
    }
}
