import EventLoop
import Foundation
import HLS
import HTTPMessage
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// Playlists that are fetched again, with the same or with other content.
@Suite @LoopActor struct IdentityTests {
    private static func text(_ path: String) throws -> String {
        String(decoding: try Repository.fixture(path), as: UTF8.self)
    }

    /// A fixture whose URIs are all signed with a token; requests with another token are refused (200: get a page).
    private func sign(_ name: String, _ token: String, at origin: TestOrigin, refusal: Int = 403) async throws {
        try await origin.clearRules()
        let master = try Self.text("/\(name)/master.m3u8").replacing("media.m3u8", with: "media.m3u8?\(token)")
        try await origin.add(OriginRule("/\(name)/master.m3u8") { ($0.status, $0.body) = (200, master) })
        for variant in ["90p", "180p"] {
            let media = try Self.text("/\(name)/\(variant)/media.m3u8").replacing(".ts", with: ".ts?\(token)")
                .replacing(".key", with: ".key?\(token)")
            try await origin.add(
                OriginRule("/\(name)/\(variant)/media.m3u8\(Self.query(token))") { ($0.status, $0.body) = (200, media) }
            )
        }
        for type in ["ts", "key", "m3u8"] {
            try await origin.add(
                OriginRule("*.\(type)\(Self.query(token))"),
                OriginRule("*.\(type)*") { if refusal == 200 { $0.html = true } else { $0.status = refusal } })
        }
    }

    /// The query as a glob. `?` is in brackets since it matches any character.
    private static func query(_ token: String) -> String { "[?]\(token)" }

    private func multivariant(_ lines: String...) -> String { "#EXTM3U\n" + lines.map { $0 + "\n" }.joined() }

    private func serve(_ path: String, _ text: String, at origin: TestOrigin) async throws {
        try await origin.replaceRules(with: OriginRule(path) { ($0.status, $0.body) = (200, text) })
    }

    private func fetch(_ number: Int, of rendition: Rendition, in asset: Asset, _ fixture: TestHouse) async throws {
        let fetch = try fixture.fetch(number, of: rendition, in: asset)
        try await fetch.end()
        fetch.release()
    }

    // MARK: Multivariant playlists

    private static let low = "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=160x90"
    private static let high = "#EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=160x90"

    /// An asset with two variants of one height, and a piece of the first.
    private func pair() async throws -> (TestHouse, Asset, Rendition) {
        let fixture = try await TestHouse()
        let text = multivariant(Self.low, "90p/media.m3u8", Self.high, "180p/media.m3u8")
        try await serve("/ts/master.m3u8", text, at: fixture.origin)
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fetch(0, of: rendition, in: asset, fixture)
        asset.entryChecks.latest = nil
        return (fixture, asset, rendition)
    }

    @Test func otherURIsAndMoreVariantsKeepStoredPieces() async throws {
        let (fixture, asset, rendition) = try await pair()
        let new = "#EXT-X-STREAM-INF:BANDWIDTH=3,RESOLUTION=480x270"
        let text = multivariant(new, "270p/media.m3u8", Self.low, "http://cdn.example/90p?t=2", Self.high, "180p?t=2")
        try await serve("/ts/master.m3u8", text, at: fixture.origin)
        #expect(try await fixture.library.playlists.refresh(asset) == .answered)
        #expect(asset.renditions.map(\.name.id) == ["video-270p", "video-90p", "video-90p-2"])
        #expect(asset.rendition("video-90p") === rendition && rendition.folder.contains("0.ts"))
        #expect(asset.urls(of: rendition).map(\.text) == ["http://cdn.example/90p?t=2"])
        #expect(!asset.hasChanged && fixture.log.lines.isEmpty)
        try await fixture.restart(.offline)
        let restored = try #require(fixture.library.assets.first)
        #expect(restored.renditions.map(\.name.id) == ["video-270p", "video-90p", "video-90p-2"])
        #expect(restored.rendition("video-90p")?.source != nil)
    }

    @Test func reorderedVariantsKeepTheirOwnPieces() async throws {
        let (fixture, asset, rendition) = try await pair()
        let text = multivariant(Self.high, "180p/media.m3u8?t=2", Self.low, "90p/media.m3u8?t=2")
        try await serve("/ts/master.m3u8", text, at: fixture.origin)
        #expect(try await fixture.library.playlists.refresh(asset) == .answered)
        #expect(asset.multivariant?.variants.map(\.bandwidth) == [1, 2])
        #expect(asset.urls(of: rendition).first?.query == "t=2")
        #expect(asset.urls(of: rendition).first?.path == "/ts/90p/media.m3u8")
        #expect(!asset.hasChanged && fixture.log.lines.isEmpty)
    }

    @Test func aChangedVariantKeepsStoredPiecesAndIsReported() async throws {
        let (fixture, asset, rendition) = try await pair()
        let text = multivariant(
            Self.low.replacing("=1,", with: "=9,"), "x/media.m3u8", Self.high, "180p/media.m3u8?t=2")
        try await serve("/ts/master.m3u8", text, at: fixture.origin)
        for _ in 0..<2 {
            asset.entryChecks.latest = nil
            #expect(try await fixture.library.playlists.refresh(asset) == .answered)
        }
        #expect(asset.multivariant?.variants.map(\.bandwidth) == [1, 2])
        #expect(asset.urls(of: rendition).first?.path == "/ts/90p/media.m3u8")
        #expect(asset.urls(of: asset.renditions[1]).first?.query == "t=2")
        #expect(asset.hasChanged)
        #expect(fixture.log.lines.count == 1 && fixture.log.lines.allSatisfy { $0.contains("other content") })
    }

    @Test func aChangedVariantWithoutPiecesIsReplaced() async throws {
        let (fixture, asset, _) = try await pair()
        let former = try await fixture.rendition("video-90p-2", of: asset)
        let text = multivariant(Self.low, "90p/media.m3u8", Self.high.replacing("=2,", with: "=9,"), "270p/media.m3u8")
        try await serve("/ts/master.m3u8", text, at: fixture.origin)
        #expect(try await fixture.library.playlists.refresh(asset) == .answered)
        let rendition = try #require(asset.rendition("video-90p-2"))
        #expect(rendition !== former && rendition.source == nil && !asset.hasChanged)
        #expect(rendition.folder === former.folder)
        try await fixture.restart()
        let restored = try #require(fixture.library.assets.first)
        #expect(restored.renditions.map { $0.source != nil } == [true, false])
        _ = try await fixture.rendition("video-90p-2", of: restored)
        #expect(restored.rendition("video-90p-2")?.source?.base.path == "/ts/270p/media.m3u8")
    }

    // MARK: Signed URLs

    /// Some origins answer 404 or 400 once a session has expired, or a page to log in.
    @Test(arguments: [401, 403, 410, 404, 400, 200])
    func aRefusedResourceIsFetchedAtARefreshedURL(_ status: Int) async throws {
        let fixture = try await TestHouse()
        try await sign("aes", "t=1", at: fixture.origin)
        let asset = try await fixture.open("/aes/master.m3u8")
        let rendition = try await fixture.rendition("video-180p", of: asset)
        let other = try await fixture.rendition("video-90p", of: asset)
        try await fetch(0, of: rendition, in: asset, fixture)
        try await sign("aes", "t=2", at: fixture.origin, refusal: status)
        try await fixture.origin.clearRequests()
        let fetches = try (1..<6).map { try fixture.fetch($0, of: rendition, in: asset) }
        for (number, fetch) in zip(1..., fetches) {
            try await fetch.end()
            #expect(fetch.bytes == Array(try Repository.fixture("/aes/180p/\(number).ts")))
        }
        let playlists = try await fixture.origin.requests().map(\.path).filter { $0.contains(".m3u8") }
        #expect(playlists == ["/aes/master.m3u8", "/aes/180p/media.m3u8?t=2"])
        try await fixture.fetch("video-180p", of: asset)
        #expect(rendition.isComplete && !asset.hasChanged)
        // Another rendition refers to the keys by the same numbers.
        #expect(other.preliminaries.allSatisfy { asset.keys.folder.contains($0.resource.name.description) })
        try await fixture.restart(.offline)
        let restored = try #require(fixture.library.assets.first)
        #expect(restored.rendition("video-180p")?.isComplete ?? false)
    }

    /// A presentation signed with t=1, and with t=2 after `meanwhile`.
    private func resigned(
        _ meanwhile: (TestHouse, Asset, Rendition) async throws -> Fetch
    ) async throws -> (TestHouse, Asset, Rendition, Fetch) {
        let fixture = try await TestHouse()
        try await sign("aes", "t=1", at: fixture.origin)
        let asset = try await fixture.open("/aes/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fixture.origin.clearRules()
        let fetch = try await meanwhile(fixture, asset, rendition)
        try await sign("aes", "t=2", at: fixture.origin)
        _ = await fixture.library.playlists.renew(rendition, in: asset)
        #expect(try fixture.resource(0, of: rendition).url.query == "t=2")
        try await fixture.origin.clearRequests()
        return (fixture, asset, rendition, fetch)
    }

    @Test func aRequestWithAFreshURLJoinsTheFetchUnderWay() async throws {
        let (fixture, asset, rendition, fetch) = try await resigned { fixture, asset, rendition in
            try await fixture.origin.add(OriginRule("*.ts*") { $0.hold = true })
            let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
            try await waitUntil("the request") { @LoopActor in try await fixture.mediaRequests().count == 1 }
            return fetch
        }
        #expect(try fixture.fetch(0, of: rendition, in: asset) === fetch)
        try await fixture.origin.release()
        try await fetch.end()
        #expect(fetch.bytes == Array(try Repository.fixture("/aes/90p/0.ts")))
        #expect(try await fixture.mediaRequests().isEmpty)
    }

    @Test func aCutFetchIsResumedAtAFreshURL() async throws {
        let (fixture, asset, rendition, fetch) = try await resigned { fixture, asset, rendition in
            try await fixture.origin.add(
                OriginRule("*.ts*") { ($0.cutAfter, $0.times) = (5000, 1) }, OriginRule("*.ts*") { $0.resetAfter = -1 })
            let fetch = try fixture.fetch(0, of: rendition, in: asset)
            #expect(await fetch.result().code == .originAbsent)
            fetch.release()
            return fetch
        }
        #expect(try fixture.fetch(0, of: rendition, in: asset) === fetch)
        try await fetch.end()
        #expect(fetch.bytes == Array(try Repository.fixture("/aes/90p/0.ts")))
        let requests = try await fixture.origin.requests()
        #expect(requests.map(\.path) == ["/aes/90p/0.ts?t=2"])
        #expect(requests.first?.range == "bytes=5000-")
    }

    /// Other answers than refusals make the playlists be fetched again once: a missing segment has another reason mostly.
    @Test func missingSegmentsAreReportedWithoutRepeatedRequests() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fixture.origin.add(OriginRule("*.ts") { $0.status = 404 })
        try await fixture.origin.clearRequests()
        for number in 0..<4 {
            let fetch = try fixture.fetch(number, of: rendition, in: asset)
            #expect(await fetch.result().code == .missing)
            fetch.release()
        }
        let requests = try await fixture.origin.requests().map(\.path)
        #expect(requests.count { $0.contains(".m3u8") } == 2 && requests.count == 6, "\(requests)")
    }

    @Test("a player's segment with a passing 404 or a page in its place is requested once more", arguments: [404, 200])
    func aPassingAnswer(status: Int) async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let first = try fixture.fetch(0, of: rendition, in: asset)
        #expect(await first.result().code == nil)
        first.release()
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.status, $0.body, $0.times) = (status, "<html>Busy</html>", 1) })
        let second = try fixture.fetch(1, of: rendition, in: asset)
        #expect(await second.result().code == nil)
        second.release()
    }

    @Test func aPermanentRefusalIsReportedWithoutRepeatedRequests() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fixture.origin.add(OriginRule("*.ts") { $0.status = 403 })
        try await fixture.origin.clearRequests()
        for number in 0..<4 {
            let fetch = try fixture.fetch(number, of: rendition, in: asset)
            #expect(await fetch.result().code == .originRefused)
            fetch.release()
        }
        let playlists = try await fixture.origin.requests().map(\.path).filter { $0.contains(".m3u8") }
        #expect(playlists == ["/ts/master.m3u8", "/ts/90p/media.m3u8"])
    }

    @Test func aRefusedPlaylistIsFetchedAtTheURLOfTheRefreshedEntry() async throws {
        let fixture = try await TestHouse()
        try await sign("aes", "t=1", at: fixture.origin)
        let asset = try await fixture.open("/aes/master.m3u8")
        try await sign("aes", "t=2", at: fixture.origin)
        try await fixture.fetch("video-90p", of: asset)
        #expect(asset.content.completeRenditions == [0])
    }

    @Test func otherContentIsNotMixedWithStoredPieces() async throws {
        let fixture = try await TestHouse()
        try await sign("aes", "t=1", at: fixture.origin)
        let asset = try await fixture.open("/aes/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fetch(0, of: rendition, in: asset, fixture)
        try await sign("aes", "t=2", at: fixture.origin)
        let other = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1.5,\n1.ts?t=2\n#EXT-X-ENDLIST\n"
        let rules = [OriginRule("/aes/90p/media.m3u8*") { ($0.status, $0.body) = (200, other) }]
        try await fixture.origin.replaceRules(with: rules[0], OriginRule("*t=1") { $0.status = 403 })
        let fetch = try fixture.fetch(1, of: rendition, in: asset)
        #expect(await fetch.result().code == .originRefused)
        #expect(asset.hasChanged && fixture.log.lines.count == 1)
        #expect(rendition.source?.playlist.segments.count == 6)
        #expect(rendition.folder.sizes.count == 1)
    }

    // MARK: A lone media playlist

    private func lone(_ name: String = "t=1", end: String = "#EXT-X-ENDLIST\n") -> String {
        let segments = (0..<3).map { "#EXTINF:2,\n90p/\($0).ts?\(name)\n" }
        return "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + segments.joined() + end
    }

    @Test func aLoneMediaPlaylistGetsFreshURLsAndKeepsItsPieces() async throws {
        let fixture = try await TestHouse()
        try await serve("/ts/film.m3u8", lone(), at: fixture.origin)
        let asset = try await fixture.open("/ts/film.m3u8")
        try await fetch(0, of: asset.renditions[0], in: asset, fixture)
        try await serve("/ts/film.m3u8", lone("t=2"), at: fixture.origin)
        try await fixture.origin.add(OriginRule("*t=1") { $0.status = 403 })
        try await fetch(1, of: asset.renditions[0], in: asset, fixture)
        #expect(try await fixture.mediaRequests() == ["/ts/90p/0.ts?t=1", "/ts/90p/1.ts?t=1", "/ts/90p/1.ts?t=2"])
        asset.entryChecks.latest = nil
        #expect(try await fixture.library.playlists.refresh(asset) == .answered)
        #expect(asset.renditions[0].folder.sizes.count == 2 && !asset.hasChanged)
    }

    @Test(arguments: [true, false])
    func aLoneMediaPlaylistOfOtherContentIsAdoptedOnlyWithoutPieces(_ isStored: Bool) async throws {
        let fixture = try await TestHouse()
        try await serve("/ts/film.m3u8", lone(), at: fixture.origin)
        let asset = try await fixture.open("/ts/film.m3u8")
        if isStored {
            try await fetch(0, of: asset.renditions[0], in: asset, fixture)
        }
        try await serve("/ts/film.m3u8", lone().replacing("EXTINF:2", with: "EXTINF:1"), at: fixture.origin)
        asset.entryChecks.latest = nil
        #expect(try await fixture.library.playlists.refresh(asset) == .answered)
        #expect(asset.duration == (isStored ? 6 : 3) && asset.hasChanged == isStored)
        try await fixture.restart()
        #expect(fixture.library.assets.first?.duration == (isStored ? 6 : 3))
    }

    // MARK: Live playlists

    @Test func anOlderLivePlaylistIsIgnoredAndARestartIsAdopted() async throws {
        func window(_ first: Int, _ duration: String = "1") -> String {
            let segments = (first..<first + 4).map { "#EXTINF:\(duration),\n\($0).ts\n" }.joined()
            return "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(first)\n\(segments)"
        }
        let fixture = try await TestHouse()
        try await serve("/ts/live.m3u8", window(7), at: fixture.origin)
        let asset = try await fixture.open("/ts/live.m3u8")
        let rendition = asset.renditions[0]
        func reload(_ text: String) async throws -> Int {
            try await serve("/ts/live.m3u8", text, at: fixture.origin)
            let before = try await fixture.origin.requests().count
            try await waitUntil("a reload") { @LoopActor in
                _ = try await fixture.library.playlists.source(of: rendition, in: asset)
                return try await fixture.origin.requests().count > before
            }
            return Int(try await fixture.library.playlists.source(of: rendition, in: asset).playlist.mediaSequence)
        }
        #expect(try await reload(window(6)) == 7)
        #expect(try await reload(window(8)) == 8)
        #expect(try await reload(window(0, "0.5")) == 8)
        #expect(try await reload(window(1, "0.5")) == 1)
    }

    // MARK: Variables

    @Test func aStoredPlaylistIsReadWithItsVariables() async throws {
        let fixture = try await TestHouse()
        let master = try Self.text("/aes/master.m3u8").replacing(
            "#EXTM3U", with: "#EXTM3U\n#EXT-X-DEFINE:NAME=\"t\",VALUE=\"1\"")
        try await serve("/aes/master.m3u8", master, at: fixture.origin)
        let media = try Self.text("/aes/90p/media.m3u8").replacing(".key", with: ".key?{$t}").replacing(
            "#EXTM3U", with: "#EXTM3U\n#EXT-X-DEFINE:IMPORT=\"t\"")
        try await fixture.origin.add(OriginRule("/aes/90p/media.m3u8") { ($0.status, $0.body) = (200, media) })
        let asset = try await fixture.open("/aes/master.m3u8")
        try await fixture.fetch("video-90p", of: asset)
        try await serve(
            "/aes/master.m3u8", master.replacing("VALUE=\"1\"", with: "VALUE=\"2\""), at: fixture.origin)
        asset.entryChecks.latest = nil
        #expect(try await fixture.library.playlists.refresh(asset) == .answered)
        #expect(asset.multivariant?.variables == ["t": "2"])
        try await fixture.restart(.offline)
        let restored = try #require(fixture.library.assets.first)
        #expect(restored.multivariant?.variables == ["t": "2"])
        #expect(restored.rendition("video-90p")?.isComplete ?? false)
        #expect(restored.keys.resource(0)?.url.query == "1")
    }
}
