import EventLoop
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// Opens URLs that differ in their tokens.
@Suite @LoopActor struct TokenIdentityTests {
    private func known(_ query: String) async throws -> (TestHouse, Asset) {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8\(query)")
        _ = try await fixture.rendition("video-90p", of: asset)
        return (fixture, asset)
    }

    @Test func theSameContentWithAnotherTokenIsTheSameAssetAtTheNewURL() async throws {
        let (fixture, asset) = try await known("?token=1")
        let again = try await fixture.open("/ts/master.m3u8?token=2")
        #expect(again === asset && fixture.library.assets.count == 1)
        #expect(asset.origin.query == "token=2")
        let url = try WebURL(fixture.origin.url("/ts/master.m3u8?token=1"))
        #expect(fixture.library.asset(at: url) == nil)
        try await fixture.restart()
        #expect(fixture.library.assets.map(\.origin.query) == ["token=2"])
    }

    /// Each asset is found by the URL that it has now, and none that was removed.
    @Test func assetsAreFoundByTheirURLsWithoutTokens() async throws {
        let fixture = try await TestHouse()
        var assets: [Asset] = []
        func playlist(_ count: Int) -> String {
            let lines = (0..<count).map { "#EXTINF:\(count + 1),\nfilm\(count)-\($0).ts\n" }.joined()
            return "#EXTM3U\n#EXT-X-TARGETDURATION:9\n\(lines)#EXT-X-ENDLIST\n"
        }
        // Three films whose URLs differ only in what looks like a token.
        for (count, token) in ["a", "b", "c"].enumerated() {
            try await fixture.origin.add(
                OriginRule("/*.m3u8?token=\(token)") { ($0.status, $0.body) = (200, playlist(count + 1)) })
            assets.append(try await fixture.open("/film.m3u8?token=\(token)"))
        }
        assets.append(try await fixture.open("/other.m3u8?token=a"))
        let index = fixture.library.byTokenlessURL
        let url = try WebURL(fixture.origin.url("/film.m3u8?token=x"))
        let found = await index.assets(like: url).map(\.id)
        #expect(Set(found) == Set(assets.prefix(3).map(\.id)) && found.count == 3)
        for asset in assets.prefix(2) {
            _ = try await fixture.library.remove(asset)
        }
        #expect(await index.assets(like: url).map(\.id) == [assets[2].id])
        try await fixture.restart()
        #expect(await fixture.library.byTokenlessURL.assets(like: url).map(\.id) == [assets[2].id])
        // The asset moves.
        try await fixture.origin.add(OriginRule("/new.m3u8?token=d") { ($0.status, $0.body) = (200, playlist(3)) })
        let moved = try #require(fixture.library.asset(id: assets[2].id))
        let next = try WebURL(fixture.origin.url("/new.m3u8?token=d"))
        try await fixture.library.relocation.follow(moved, to: next)
        #expect(await fixture.library.byTokenlessURL.assets(like: url).isEmpty)
        #expect(await fixture.library.byTokenlessURL.assets(like: next).map(\.id) == [moved.id])
    }

    /// A token in the path, as of SSAI sessions and of nginx's secure_link: nothing is stored twice.
    @Test func theSameContentWithAnotherTokenInThePathIsTheSameAsset() async throws {
        let fixture = try await TestHouse()
        let tokens = ["0123456789abcdef01234567", "76543210fedcba9876543210"]
        for token in tokens {
            try await fixture.origin.add(OriginRule("/\(token)/master.m3u8") { $0.redirect = "/ts/master.m3u8" })
        }
        let asset = try await fixture.open("/\(tokens[0])/master.m3u8")
        try await fixture.fetch("video-90p", of: asset)
        #expect(try await fixture.open("/\(tokens[1])/master.m3u8") === asset)
        #expect(fixture.library.assets.count == 1 && asset.origin.path.contains(tokens[1]))
    }

    /// Each session has other advertisements in front, and its URLs are good for a while.
    @Test func segmentsOfASessionThatHasExpiredComeFromTheNextWithOtherAdvertisements() async throws {
        let fixture = try await TestHouse()
        func playlist(_ token: String, ads: [String]) -> String {
            let film = (0..<4).map { "#EXTINF:2,\n/film/\($0).ts?token=\(token)\n" }.joined()
            let ads = ads.map { "#EXTINF:1,\n/ads/\($0).ts\n" }.joined()
            return "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + ads + "#EXT-X-DISCONTINUITY\n" + film + "#EXT-X-ENDLIST\n"
        }
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n/media.m3u8\n"
        try await fixture.origin.add(
            OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, master) },
            OriginRule("/media.m3u8") { ($0.status, $0.body) = (200, playlist("a", ads: ["x"])) })
        let asset = try await fixture.open("/master.m3u8")
        let rendition = try await fixture.rendition("video", of: asset)
        try await fixture.origin.replaceRules(
            with: OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, master) },
            OriginRule("/media.m3u8") { ($0.status, $0.body) = (200, playlist("b", ads: ["y", "z"])) },
            OriginRule("/film/*?token=a") { $0.status = 403 },
            OriginRule("/film/2.ts?token=b") { $0.redirect = "/ts/90p/2.ts" })
        // The third segment of the film is the fourth of the session.
        let fetch = try fixture.fetch(3, of: rendition, in: asset)
        try await fetch.end()
        #expect(fetch.bytes == Array(try Repository.fixture("/ts/90p/2.ts")))
        // The advertisement of the old session does not become one of the new.
        try await fixture.origin.add(OriginRule("/ads/x.ts") { $0.status = 403 })
        let ad = try fixture.fetch(0, of: rendition, in: asset)
        #expect(await ad.result().code == .originRefused)
    }

    @Test func anotherNumberInTheURLIsAnotherAsset() async throws {
        let (fixture, asset) = try await known("?id=1")
        #expect(try await fixture.open("/ts/master.m3u8?id=2") !== asset)
        #expect(fixture.library.assets.count == 2)
    }

    @Test func otherContentIsAnotherAsset() async throws {
        let (fixture, asset) = try await known("?token=1")
        try await fixture.origin.add(
            OriginRule("/ts/90p/media.m3u8*") {
                ($0.status, $0.body) = (200, "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n")
            })
        #expect(try await fixture.open("/ts/master.m3u8?token=2") !== asset)
        #expect(asset.origin.query == "token=1")
    }

    @Test func unknownContentMatchesNoAsset() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8?token=1")
        #expect(try await fixture.open("/ts/master.m3u8?token=2") !== asset)
    }

    @Test func concurrentOpensWithOtherTokensGetOneAsset() async throws {
        let (fixture, asset) = try await known("?token=1")
        async let first = fixture.open("/ts/master.m3u8?token=2")
        async let second = fixture.open("/ts/master.m3u8?token=2")
        let both = try await [first, second]
        #expect(both.allSatisfy { $0 === asset })
    }
}
