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
    ])
    func tokensAreIgnored(_ one: String, _ other: String) throws {
        #expect(try isSame(one, other))
    }

    @Test(arguments: [
        ("/m.m3u8?id=1", "/m.m3u8?id=2"), ("/m.m3u8", "/m.m3u8?id=2"), ("/a.m3u8?token=1", "/b.m3u8?token=1"),
        ("/m.m3u8?v=1&token=1", "/m.m3u8?v=2&token=1"), ("/m.m3u8?sub=en", "/m.m3u8?sub=de"),
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
