import EventLoop
import HTTPMessage
import TestSupport
import Testing

@testable import Fetching
@testable import Library

@Suite struct TokenlessURLTests {
    private func isSame(_ one: String, _ other: String) throws -> Bool {
        TokenlessURL(try WebURL("https://host\(one)")) == TokenlessURL(try WebURL("https://host\(other)"))
    }

    @Test(arguments: [
        ("/m.m3u8", "/m.m3u8?token=1"), ("/m.m3u8?token=1", "/m.m3u8?token=2"),
        ("/m.m3u8?id=1&hdnts=exp=1~hmac=2", "/m.m3u8?hdnts=exp=3~hmac=4&id=1"),
        ("/m.m3u8?Policy=a&Signature=b&Key-Pair-Id=c", "/m.m3u8?Policy=d&Signature=e&Key-Pair-Id=f"),
        ("/m.m3u8?X-Amz-Date=1&X-Amz-Signature=2", "/m.m3u8?X-Amz-Date=3"), ("/m.m3u8?st=a&e=1", "/m.m3u8?st=b&e=2"),
        ("/m.m3u8?playbackSessionId=1", "/m.m3u8"),
        ("/0123456789abcdef0123456789abcdef/v/m.m3u8", "/fedcba9876543210fedcba9876543210/v/m.m3u8"),
        ("/eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3.sIg-_/m.m3u8", "/eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4.x9g-_/m.m3u8"),
        ("/exp=1700000000~acl=/v/m.m3u8", "/exp=1800000000~acl=/v/m.m3u8"),
        ("/1700000000/m.m3u8", "/1800000000/m.m3u8"),
        ("/v/m.m3u8;jsessionid=A1", "/v/m.m3u8;jsessionid=B2"), ("/v/m.m3u8;jsessionid=A1", "/v/m.m3u8"),
    ])
    func tokensAreIgnored(_ one: String, _ other: String) throws {
        #expect(try isSame(one, other))
    }

    @Test(arguments: [
        ("/m.m3u8?id=1", "/m.m3u8?id=2"), ("/m.m3u8", "/m.m3u8?id=2"), ("/a.m3u8?token=1", "/b.m3u8?token=1"),
        ("/m.m3u8?v=1&token=1", "/m.m3u8?v=2&token=1"), ("/m.m3u8?sub=en", "/m.m3u8?sub=de"),
        ("/a/m.m3u8", "/b/m.m3u8"), ("/season-2-episode-14/m.m3u8", "/season-2-episode-15/m.m3u8"),
        ("/the-longest-title-of-all/m.m3u8", "/the-longest-title-of-alm/m.m3u8"), ("/v;q=1/m.m3u8", "/v;q=2/m.m3u8"),
        ("/0123456789abcdef0123456789abcdef/v/m.m3u8", "/v/m.m3u8"), ("/0001/m.m3u8", "/0002/m.m3u8"),
    ])
    func otherDifferencesCount(_ one: String, _ other: String) throws {
        #expect(try !isSame(one, other))
    }

    @Test func anotherHostSchemeOrPortIsAnotherURL() throws {
        let url = TokenlessURL(try WebURL("https://host/m.m3u8"))
        for other in ["http://host/m.m3u8", "https://host2/m.m3u8", "https://host:444/m.m3u8"] {
            #expect(TokenlessURL(try WebURL(other)) != url)
        }
    }
}

/// Opens URLs that differ in their tokens.
@Suite @LoopActor struct TokenIdentityTests {
    private func known(_ query: String) async throws -> (LibraryFixture, Asset) {
        let fixture = try await LibraryFixture()
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

    /// A token in the path, as of SSAI sessions and of nginx's secure_link: nothing is stored twice.
    @Test func theSameContentWithAnotherTokenInThePathIsTheSameAsset() async throws {
        let fixture = try await LibraryFixture()
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
        let fixture = try await LibraryFixture()
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
        try await fixture.origin.clearRules()
        try await fixture.origin.add(
            OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, master) },
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
        let fixture = try await LibraryFixture()
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
