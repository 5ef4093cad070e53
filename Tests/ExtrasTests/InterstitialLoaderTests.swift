import EventLoop
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Extras
@testable import Fetching

@Suite @LoopActor struct InterstitialLoaderTests {
    private static let range = "#EXT-X-DATERANGE:ID=\"1\",START-DATE=\"2026-01-01T00:00:00Z\",X-ASSET-URI="

    /// A film that names an interstitial presentation, with its playlist loaded.
    private func film(_ uri: String) async throws -> (TestHouse, Asset) {
        let fixture = try await TestHouse()
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(Self.range)\"\(uri)\"\n#EXTINF:2,\n/ts/90p/0.ts\n#EXT-X-ENDLIST\n"
        try await fixture.origin.add(OriginRule("/film.m3u8") { ($0.status, $0.body) = (200, text) })
        return (fixture, try await fixture.open("/film.m3u8"))
    }

    @Test func aNameInAStoredPlaylistWorksAfterARestart() async throws {
        let (fixture, asset) = try await film("/ts/master.m3u8?token=1")
        let name = asset.content.interstitials.name(try fixture.url("/ts/master.m3u8?token=1"), .presentation)
        let interstitialAsset = try await fixture.library.interstitials.presentation(name, of: asset, query: nil)
        #expect(interstitialAsset.renditions.count == 3)
        #expect(
            fixture.library.presentation(id: interstitialAsset.id) === interstitialAsset
                && fixture.library.asset(id: interstitialAsset.id) == nil)
        #expect(fixture.library.assets.map(\.name) == ["film"])

        try await fixture.restart()
        let again = try #require(fixture.library.asset(named: "film"))
        #expect(fixture.library.presentation(id: interstitialAsset.id) == nil)
        #expect(
            try await fixture.library.interstitials.presentation(name, of: again, query: nil).origin
                == interstitialAsset.origin)
        let list = again.content.interstitials.name(try fixture.url("/else"), .presentation)
        #expect(
            await code { _ = try await fixture.library.interstitials.presentation(list, of: asset, query: nil) }
                == .missing)
    }

    @Test func anInterstitialInTheLibraryIsThatAsset() async throws {
        let (fixture, asset) = try await film("/ts/master.m3u8")
        let known = try await fixture.open("/ts/master.m3u8")
        let name = asset.content.interstitials.name(try fixture.url("/ts/master.m3u8"), .presentation)
        #expect(
            try await fixture.library.interstitials.presentation(name, of: asset, query: "_HLS_primary_id=1") === known)
    }

    @Test func forgetsTheLeastRecentlyUsed() async throws {
        let (fixture, asset) = try await film("/ts/master.m3u8")
        var ids: [String] = []
        for number in 0...64 {
            let url = try fixture.url("/ts/master.m3u8?\(number)")
            let name = asset.content.interstitials.name(url, .presentation)
            ids.append(try await fixture.library.interstitials.presentation(name, of: asset, query: nil).id)
            // Uses the first presentation each time.
            let first = asset.content.interstitials.name(try fixture.url("/ts/master.m3u8?0"), .presentation)
            #expect(try await fixture.library.interstitials.presentation(first, of: asset, query: nil).id == ids[0])
        }
        #expect(Set(ids).count == 65)
        #expect(ids.indices.filter { fixture.library.presentation(id: ids[$0]) == nil } == [1])
    }

    @Test func writesNothing() async throws {
        let (fixture, asset) = try await film("/aes/master.m3u8")
        let name = asset.content.interstitials.name(try fixture.url("/aes/master.m3u8"), .presentation)
        let interstitialAsset = try await fixture.library.interstitials.presentation(name, of: asset, query: nil)
        try await fixture.fetch("video-90p", of: interstitialAsset)
        #expect(interstitialAsset.bytes == 0 && !interstitialAsset.isPersistent)
        #expect(!fixture.folder.files().contains { $0.hasSuffix(".ts") || $0.hasSuffix(".key") })
        #expect(try await fixture.library.remove(asset) == asset.bytes)
    }

    @Test func makesNoRequestsOffline() async throws {
        let (fixture, asset) = try await film("/ts/master.m3u8")
        _ = try await fixture.rendition("media", of: asset)
        try await fixture.restart(.offline)
        let again = try #require(fixture.library.asset(named: "film"))
        let name = again.content.interstitials.name(try fixture.url("/ts/master.m3u8"), .presentation)
        let asked = try await fixture.origin.requests().count
        #expect(
            await code { _ = try await fixture.library.interstitials.presentation(name, of: again, query: nil) }
                == .notStored)
        #expect(
            await code { _ = try await fixture.library.interstitials.list(name, of: again, query: nil) { "\($0)" } }
                == .notStored)
        #expect(try await fixture.origin.requests().count == asked)
    }

    @Test(
        arguments: [
            (nil, ""), ("", ""), ("a=b&CMCD=sid", ""),
            ("_HLS_primary_id=1&CMCD=x&_HLS_start_offset=2.5", "_HLS_primary_id=1&_HLS_start_offset=2.5"),
        ] as [(String?, String)])
    func onlyHLSParametersGoToTheOrigin(_ query: String?, _ expected: String) throws {
        let bare = try WebURL("https://ads.example/a.json")
        #expect(bare.adding(parametersOf: query).query == (expected.isEmpty ? nil : expected))
        let signed = try WebURL("https://ads.example/a.json?token=x")
        #expect(signed.adding(parametersOf: query).query == "token=x" + (expected.isEmpty ? "" : "&" + expected))
    }
}
