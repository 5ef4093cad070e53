import EventLoop
import Foundation
import HLS
import HTTPMessage
import Origin
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// A new URL for an asset whose old URL has expired.
@Suite @LoopActor struct FollowTests {
    /// The requested paths without queries and playlists, sorted.
    private func media(_ origin: TestOrigin) async throws -> [String] {
        try await origin.requests().map { String($0.path.prefix { $0 != "?" }) }
            .filter { !$0.hasSuffix(".m3u8") }.sorted()
    }

    /// A fixture whose worst variant is half stored and whose links have expired, and another origin with the same
    /// content.
    private func expired(_ name: String) async throws -> (TestHouse, Asset, Rendition, TestOrigin) {
        let fixture = try await TestHouse()
        try await fixture.origin.add(OriginRule("/\(name)/*") { $0.signed = .init(seconds: 600) })
        let asset = try await fixture.open("/\(name)/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        for resource in rendition.preliminaries {
            try await fetch(resource.resource, resource.folder, asset, fixture)
        }
        for number in 0..<3 {
            let segment = try #require(rendition.source?.playlist.segments[number])
            try await fetch(#require(rendition.resource(of: segment)), rendition.folder, asset, fixture)
        }
        try await fixture.origin.stop()
        let other = try await TestOrigin()
        try await other.add(OriginRule("/\(name)/*") { $0.signed = .init(seconds: 600, open: "*[?]fresh") })
        return (fixture, asset, rendition, other)
    }

    private func fetch(
        _ resource: Resource, _ folder: PieceFolder, _ asset: Asset, _ fixture: TestHouse
    ) async throws {
        let fetch = try fixture.library.fetch(resource, in: folder, of: asset, urgency: .background)
        try await fetch.end()
        fetch.release()
    }

    /// True if the asset is unchanged, in memory and after a restart.
    private func stays(_ fixture: TestHouse, _ asset: Asset, at url: WebURL) async throws {
        #expect(asset.origin == url && fixture.library.asset(at: url) === asset)
        let wasWhole = asset.content.isEverythingComplete
        try await fixture.restart()
        let again = try #require(fixture.library.asset(id: asset.id))
        #expect(again.origin == url && again.content.isEverythingComplete == wasWhole && !again.hasChanged)
    }

    @Test(arguments: ["aes", "ts", "byterange-fmp4"])
    func aNewURLProvidesOnlyTheHoles(_ name: String) async throws {
        let (fixture, asset, rendition, other) = try await expired(name)
        let kept = Set(rendition.folder.sizes.keys)
        let url = try WebURL(other.url("/\(name)/master.m3u8?fresh"))
        try await fixture.library.relocation.follow(asset, to: url)
        #expect(asset.origin == url && fixture.library.asset(at: url) === asset)
        #expect(try fixture.library.asset(at: fixture.url("/\(name)/master.m3u8")) == nil)
        #expect(try await media(other).isEmpty)
        try await fixture.restart()
        let again = try #require(fixture.library.asset(at: url))
        let whole = try await fixture.rendition("video-90p", of: again)
        let segments = try #require(whole.source?.playlist.segments)
        let resources =
            whole.preliminaries
            + segments.compactMap { segment in
                whole.resource(of: segment).map { (whole.folder, $0) }
            }
        for (folder, resource) in resources where !folder.contains(resource.name.description) {
            try await fetch(resource, folder, again, fixture)
        }
        #expect(whole.isComplete && kept.isSubset(of: whole.folder.sizes.keys))
        // Before the first hole is fetched, and when all are there, a small request compares a stored segment with the origin's.
        let requests = try await other.requests().filter { !$0.path.contains(".m3u8") }
        #expect(requests.filter(\.isComparison).count <= 2)
        #expect(requests.filter { !$0.isComparison }.count == segments.count - 3)
        #expect(!again.hasChanged && fixture.log.lines.isEmpty)
    }

    @Test func aFetchUnderWayContinuesAtTheNewURL() async throws {
        let fixture = try await TestHouse()
        try await fixture.origin.add(OriginRule("*/0.ts") { ($0.hold, $0.status) = (true, 403) })
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await waitUntil("the request") { try await fixture.origin.load().paused == 1 }
        let other = try await TestOrigin()
        try await fixture.library.relocation.follow(asset, to: WebURL(other.url("/ts/master.m3u8")))
        try await fixture.origin.release()
        try await fetch.end()
        #expect(fetch.bytes == Array(try Repository.fixture("/ts/90p/0.ts")))
        #expect(try await other.requests(for: "/ts/90p/0.ts").count == 1)
    }

    @Test func otherContentIsRefusedWithTheDifference() async throws {
        let (fixture, asset, _, other) = try await expired("ts")
        let url = asset.origin
        let short = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n"
        let longer = try String(decoding: Repository.fixture("/ts/90p/media.m3u8"), as: UTF8.self)
            .replacing("#EXT-X-PLAYLIST-TYPE:VOD\n", with: "")
        let cases = [
            ("/ts/90p/media.m3u8?fresh", "one media playlist where a multivariant playlist was", [OriginRule]()),
            ("/cmaf/master.m3u8", "none of the variants that were there", []),
            (
                "/ts/master.m3u8?fresh", "a video-90p of 1 segments in 2.0 s, not of 6 segments in 12.0 s",
                [OriginRule("/ts/90p/media.m3u8*") { ($0.status, $0.body) = (200, short) }]
            ),
            (
                "/ts/master.m3u8?fresh", "a video-90p that goes on",
                [
                    OriginRule("/ts/90p/media.m3u8*") {
                        ($0.status, $0.body) = (200, longer.replacing("#EXT-X-ENDLIST", with: ""))
                    }
                ]
            ),
        ]
        let signed = OriginRule("/ts/*") { $0.signed = .init(seconds: 600, open: "*[?]fresh") }
        for (path, sentence, rules) in cases {
            try await other.clearRules()
            for rule in rules + [signed] {
                try await other.add(rule)
            }
            do throws(LibraryError) {
                try await fixture.library.relocation.follow(asset, to: WebURL(parsing: other.url(path)))
                Issue.record("moved to \(path)")
            } catch {
                #expect(error.code == .otherContent && error.message.hasSuffix("it has \(sentence)"), "\(error)")
                #expect(!error.message.contains("fresh"))
            }
        }
        try await stays(fixture, asset, at: url)
    }

    @Test func aURLOfAnotherAssetOrWithoutAPlaylistIsRefused() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let other = try await fixture.open("/cmaf/master.m3u8")
        try await fixture.origin.add(
            OriginRule("/page.m3u8") { $0.html = true },
            OriginRule("/late.m3u8") { ($0.hold, $0.redirect) = (true, "/ts/master.m3u8") })
        func refusal(_ path: String) async -> LibraryError.Code? {
            await code { try await fixture.library.relocation.follow(asset, to: fixture.url(path)) }
        }
        #expect(await refusal("/cmaf/master.m3u8") == .urlTaken)
        #expect(await refusal("/page.m3u8") == .notPlaylist)
        #expect(await refusal("/nowhere.m3u8") == .badOrigin)
        // A URL that another asset is about to get.
        let opening = Task { @LoopActor in try await fixture.open("/late.m3u8") }
        try await waitUntil("the request") { try await fixture.origin.load().paused == 1 }
        let moving = Task { @LoopActor in await refusal("/late.m3u8") }
        try await fixture.origin.release()
        _ = try await opening.value
        #expect(await moving.value == .urlTaken)
        let gone = try await TestOrigin()
        try await gone.stop()
        #expect(
            await code { try await fixture.library.relocation.follow(asset, to: WebURL(gone.master("ts"))) }
                == .hostDead)
        #expect(other.origin == (try fixture.url("/cmaf/master.m3u8")))
        #expect(try asset.origin == fixture.url("/ts/master.m3u8"))
        _ = try await fixture.library.remove(asset)
        #expect(
            await code { try await fixture.library.relocation.follow(asset, to: fixture.url("/x.m3u8")) } == .missing)
    }

    @Test func aLoneMediaPlaylistKeepsItsPiecesAtTheNewURL() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/aes/90p/media.m3u8")
        try await fixture.fetch("media", of: asset)
        let other = try await TestOrigin()
        let url = try WebURL(other.url("/aes/90p/media.m3u8?new"))
        try await fixture.library.relocation.follow(asset, to: url)
        try await fixture.restart(.offline)
        let again = try #require(fixture.library.asset(at: url))
        #expect(again.content.isEverythingComplete && again.content.lone?.source?.base == url)
        #expect(again.keys.resource(0)?.url.port == url.port)
        #expect(try await media(other).isEmpty)
    }

    @Test func headerFieldsStayWithTheirOriginUnlessGivenAgain() async throws {
        let fixture = try await TestHouse()
        let old = try UserFields(["Cookie: old"])
        let new = try UserFields(["Cookie: new"])
        let asset = try await fixture.library.open(fixture.url("/ts/master.m3u8"), fields: old)
        try await fixture.fetch("video-90p", of: asset)
        try await fixture.library.relocation.follow(asset, to: fixture.url("/ts/master.m3u8?2"))
        #expect(asset.fields == old && fixture.log.lines.isEmpty)
        let other = try await TestOrigin()
        try await fixture.library.relocation.follow(asset, to: WebURL(other.url("/ts/master.m3u8")))
        #expect(asset.fields.isEmpty && fixture.log.lines.count == 1)
        #expect(fixture.log.lines.allSatisfy { $0.contains("(Cookie)") && !$0.contains("old") })
        #expect(try await other.requests().allSatisfy { $0.headers["cookie"] == nil })
        try await fixture.library.relocation.follow(asset, to: fixture.url("/ts/master.m3u8?3"), fields: new)
        try await fixture.restart()
        #expect(fixture.library.assets.first?.fields == new)
    }
}

extension WebURL {
    /// Parses a URL of the test.
    fileprivate init(parsing text: String) throws(LibraryError) {
        do { self = try WebURL(text) } catch { throw LibraryError(.refusedURL, "\(error)") }
    }
}
