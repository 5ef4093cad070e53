import EventLoop
import HTTPMessage
import TestSupport
import Testing

@testable import Fetching
@testable import Library

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
