import Assets
import Downloads
import EventLoop
import Fetching
import Foundation
import Glibc
import HTTPMessage
import Orders
import Origin
import Retention
import SafeText
import TestRooms
import TestSupport
import Testing
import WeirAPI

@testable import Control

/// Responses of the control API, with a real library, downloads and an origin.
@Suite @LoopActor struct LibraryServiceTests {
    private let house: TestHouse
    private var folder: TemporaryFolder { house.folder }
    private var origin: TestOrigin { house.origin }
    private var library: Library { house.library }
    private let service: LibraryService

    init() async throws {
        house = try await TestHouse(.downloader())
        service = LibraryService(of: house)
    }

    private func request(_ source: String, name: String? = nil) -> API.DownloadRequest {
        var request = API.DownloadRequest(source: source, Selection(quality: .worst))
        request.name = name
        return request
    }

    private func completed(_ download: API.Download) async throws -> API.Download {
        var latest = download
        try await waitUntil("the end of the download") {
            latest = try await service.download(id: download.id)
            return latest.state.isFinal
        }
        return latest
    }

    private func code(_ body: () async throws -> Void) async -> APIError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? APIError)?.code
        }
    }

    @Test func p9TheFirstSecondsAreCachedAndNotPinned() async throws {
        let url = origin.master("ts")
        _ = try await service.open(API.PresentationRequest(source: url))
        let cached = try await service.cache(API.CacheRequest(seconds: 3), ofAsset: "ts")
        // Two segments of two seconds each, of one variant.
        let segments = try await origin.requests().map(\.path).filter { $0.hasSuffix(".ts") }
        #expect(segments.sorted() == ["/ts/270p/0.ts", "/ts/270p/1.ts"])
        #expect(cached.bytes > 0 && cached.cachedBytes == cached.bytes && cached.state == .cached)
        _ = try await service.cache(API.CacheRequest(seconds: 3), ofAsset: "ts")
        #expect(try await origin.requests().filter { $0.path.hasSuffix(".ts") }.count == 2)
        var worst = API.CacheRequest(seconds: 1)
        worst.selection = Selection(quality: .worst)
        _ = try await service.cache(worst, ofAsset: "ts")
        #expect(try await origin.requests().map(\.path).contains("/ts/90p/0.ts"))
        for seconds in [0, 1e7, .longest] as [Seconds] {
            #expect(
                await code { _ = try await service.cache(API.CacheRequest(seconds: seconds), ofAsset: "ts") }
                    == .badRequest)
        }
    }

    @Test func s18TheBundlesPathIsKnownEarlyAndTheIDOutlastsARename() async throws {
        let download = try await service.download(request(origin.master("ts"), name: "ts"))
        let early = try await service.asset(named: "ts")
        #expect(early.path == folder.path("assets/" + early.id))
        _ = try await completed(download)
        #expect(FileManager.default.fileExists(atPath: try #require(early.path) + "/master.m3u8"))
        _ = try await service.change(.init(name: "film"), ofAsset: "ts")
        let late = try await service.asset(named: early.id)
        #expect(late.name == "film" && late.id == early.id && late.path == early.path)
        #expect(try await service.removeAsset(named: early.id).name == "film")
        #expect(await code { _ = try await service.asset(named: early.id) } == .noSuchAsset)
    }

    @Test func theStoreIsDescribed() async throws {
        _ = try await completed(service.download(request(origin.master("ts"), name: "ts")))
        let store = try await service.store()
        #expect(store.path == folder.path && store.problem == nil && store.purge == "expired")
        let asset = try await service.asset(named: "ts")
        #expect(store.assets == 1 && store.bytes == asset.bytes && asset.bytes > 0)
        let disk = try #require(store.disk)
        #expect(disk.reservedBytes == 0 && disk.availableBytes == disk.freeBytes && disk.freeBytes <= disk.totalBytes)
    }

    @Test func aKnownStreamIsListedAndFetchedOnRequest() async throws {
        let url = try WebURL(origin.master("ts"))
        library.streams = [try #require(KnownStream(name: "film", title: "The film", url: url))]
        let listed = try await service.assets().assets
        #expect(listed.map(\.name) == ["film"] && listed[0].isKnownOnly == true && listed[0].id == "film")
        #expect(listed[0].local == .no && listed[0].title == "The film" && listed[0].url == url.text)
        #expect(try await service.asset(named: "film") == listed[0])
        #expect(await code { _ = try await service.removeAsset(named: "film") } == .noSuchAsset)
        #expect(await code { _ = try await service.setPolicy(StoragePolicy(), ofAsset: "film") } == .noSuchAsset)
        #expect(try await origin.requests().isEmpty)

        #expect(try await service.explain(request("film")).tracks.variants.count > 1)
        #expect(try await service.assets().assets == listed)
        let download = try await completed(service.download(request("film")))
        #expect(download.asset == "film" && download.title == "The film")
        let assets = try await service.assets().assets
        #expect(assets.map(\.name) == ["film"] && assets[0].isKnownOnly == nil && assets[0].local == .yes)
        #expect(try await service.removeAsset(named: "film").bytes > 0)
        #expect(try await service.assets().assets == listed)
    }

    @Test func anAssetPrecedesAStreamOfItsNameOrURL() async throws {
        _ = try await completed(service.download(request(origin.master("ts"), name: "mine")))
        let same = try WebURL(origin.master("ts"))
        let other = try WebURL(origin.master("cmaf"))
        library.streams = [
            try #require(KnownStream(name: "theirs", title: nil, url: same)),
            try #require(KnownStream(name: "mine", title: nil, url: other)),
        ]
        #expect(try await service.assets().assets.map(\.name) == ["mine"])
        #expect(try await service.asset(named: "theirs").name == "mine")
        #expect(try await service.asset(named: "mine").url == same.text)
    }

    @Test(arguments: [true, false]) func anExpiredLinkIsReportedWithTheNextCommand(isKnown: Bool) async throws {
        if isKnown {
            _ = try await service.download(request(origin.master("ts"), name: "film"))
        }
        var order = request(origin.master("ts"), name: "film")
        // Only one variant has this height: without an exact one the next best quality would be downloaded.
        if isKnown {
            order.order.selection.quality = .height(270)
        }
        try await origin.add(OriginRule("*/media.m3u8") { $0.status = 403 })
        do throws(APIError) {
            _ = try await service.download(order)
            Issue.record("it began")
        } catch {
            let next = isKnown ? "weir resume film --url NEW, with a new link" : "--cookies FILE \(origin.master("ts"))"
            #expect(error.code == .originRefused && error.next?.hasSuffix(next) ?? false, "\(error)")
            // Nothing is left of an order that was refused.
            #expect(try await service.assets().assets.count == (isKnown ? 1 : 0))
        }
    }

    @Test func theLatestRequestedVariantIsNamedFirst() async throws {
        var wanted = request(origin.master("cmaf"))
        wanted.order.selection = Selection(quality: .height(90), audio: .nothing)
        _ = try await service.download(wanted)
        wanted.order.selection.quality = .height(270)
        let more = try await service.download(wanted)
        #expect(more.selection.variants.map(\.height) == [270, 90])
    }

    @Test func aDownloadIsReportedFromStartToEnd() async throws {
        try await origin.add(OriginRule("*/5.m4s") { $0.hold = true })
        let begun = try await service.download(request(origin.master("cmaf"), name: "film"))
        #expect(begun.asset == "film")
        #expect(begun.state == .running)
        #expect(begun.selection.variants.map(\.height) == [90])
        #expect(begun.selection.audio.map(\.language) == ["en"])
        #expect(begun.selection.subtitles.isEmpty)
        try await waitUntil("something loaded") { try await service.download(id: begun.id).loadedDuration > 4 }
        let half = try await service.asset(named: "film")
        #expect(half.local == .partial && half.state == .downloading && half.stored == .partlySaved)

        try await origin.clearRules()
        try await origin.release()
        let ended = try await completed(begun)
        #expect(ended.state == .complete)
        #expect(ended.stage == nil && ended.error == nil)
        #expect(ended.loaded.count == 1)
        #expect(ended.bytes == ended.totalBytes)
        let asset = try await service.asset(named: "film")
        #expect(asset.local == .yes && asset.state == .saved && asset.download == ended.id)
        #expect(asset.tracks.variants.map(\.stored) == [.saved, .notStored, .notStored])
        #expect(asset.tracks.audio.map(\.stored) == [.saved, .notStored])
        #expect(asset.bytes == ended.bytes)
        #expect(try await service.asset(named: origin.master("cmaf")).name == "film")
    }

    @Test func anInspectionRegistersNoAsset() async throws {
        let shown = try await service.inspect(url: origin.master("cmaf"))
        #expect(shown.name == nil && !shown.isLive)
        #expect(shown.duration.map { (11.9...12.1).contains($0) } == true)
        #expect(shown.tracks.variants.map(\.id) == ["video-90p", "video-180p", "video-270p"])
        #expect(shown.tracks.variants.allSatisfy { ($0.estimatedBytes ?? 0) > 0 && $0.stored == .notStored })
        #expect(shown.tracks.audio.map(\.language) == ["en", "fr"])
        #expect(shown.tracks.subtitles.map(\.isForced) == [false])
        #expect(try await service.inspect(url: origin.url("/_live/a/media.m3u8")).isLive)
        #expect(try await service.assets().assets.isEmpty)
    }

    @Test func aSelectionIsExplainedAndStartsNothing() async throws {
        var wanted = API.DownloadRequest(source: origin.master("cmaf"), Selection(subtitles: .all))
        var preferences = Selection.Preferences()
        preferences.minimumSize = Selection.Size("180p")
        preferences.locale = "fr-CA"
        wanted.order.selection.preferences = preferences
        let presentation = try await service.explain(wanted)
        let explanation = try #require(presentation.explanation)
        #expect(explanation.chosen == .init(index: 1, id: "video-180p", reason: "the lowest bit rate"))
        #expect(
            explanation.others == [
                .init(index: 0, id: "video-90p", reason: "is not at least 180p"),
                .init(index: 2, id: "video-270p", reason: "has a higher bit rate"),
            ])
        #expect(explanation.selection.variants.map(\.id) == ["video-180p"])
        #expect(explanation.selection.audio.map(\.language) == ["fr"])
        #expect(explanation.selection.subtitles.map(\.language) == ["en"])
        #expect(presentation.tracks.variants.count == 3 && presentation.url == wanted.source)
        #expect(try await service.assets().assets.isEmpty)
        #expect(try await origin.requests().allSatisfy { $0.path.hasSuffix(".m3u8") })
        let media = API.DownloadRequest(source: origin.url("/cmaf/video-90p/media.m3u8"))
        #expect(try await service.explain(media).explanation == nil)
    }

    @Test func aDownloadMatchesItsExplanation() async throws {
        var wanted = API.DownloadRequest(source: origin.master("cmaf"))
        var preferences = Selection.Preferences()
        preferences.isFast = true
        preferences.languages = ["fr"]
        wanted.order.selection.preferences = preferences
        let begun = try await service.download(wanted)
        let explained = try await service.explain(wanted).explanation?.selection
        #expect(begun.selection.variants.map(\.id) == ["video-90p"])
        #expect(explained?.variants.map(\.id) == ["video-90p"])
        #expect(begun.selection.audio.map(\.id) == ["audio-fr"])
        #expect(explained?.audio.map(\.id) == ["audio-fr"])
        #expect(begun.unselected?.variants.map(\.height) == [180, 270])
        #expect(begun.unselected?.audio.map(\.language) == ["en"])
        #expect(begun.unselected?.subtitles.map(\.language) == ["en"])
        let ended = try await completed(begun)
        #expect(ended.unselected == begun.unselected && ended.selection.variants.map(\.height) == [90])
        var other = API.DownloadRequest(source: begun.asset, Selection(quality: .height(270)))
        #expect(try await service.explain(other).explanation?.chosen.index == 2)
        other.order.selection.quality = .height(720)
        #expect(await code { _ = try await service.explain(other) } == .noMatch)
    }

    @Test func aContradictionIsABadRequest() async throws {
        var wanted = API.DownloadRequest(source: origin.master("cmaf"), Selection(quality: .best))
        wanted.order.selection.wishes.isFast = true
        #expect(await code { _ = try await service.download(wanted) } == .badRequest)
        #expect(await code { _ = try await service.explain(wanted) } == .badRequest)
        #expect(try await service.assets().assets.isEmpty)
    }

    @Test func aPasswordInAURLIsNotRepeatedAndFindsTheSameAsset() async throws {
        let url = origin.master("ts")
        _ = try await completed(service.download(request(url, name: "ts")))
        let secret = url.replacing("://", with: "://u:tr0ub4dor@")
        #expect(try await service.asset(named: secret).name == "ts")
        for name in ["\(secret)/none", "https://u:tr0ub4dor@a b/", "https://u:tr0ub4dor@h:99999/"] {
            let error = await #expect(throws: APIError.self) { try await service.asset(named: name) }
            let text = error.map { "\($0)" } ?? "tr0ub4dor"
            #expect(error?.code == .noSuchAsset && !text.contains("tr0ub4dor") && !text.contains("u:"), "\(text)")
        }
        #expect(try await service.removeAsset(named: secret).name == "ts")
    }

    @Test func anAssetSaysThatCertificatesAreNotVerified() async throws {
        _ = try await completed(service.download(request(origin.master("audio"))))
        #expect(try await service.assets().assets[0].isInsecure == nil)
        var request = request(origin.master("audio"))
        request.route = API.Route()
        request.route?.insecure = true
        _ = try await completed(service.download(request))
        #expect(try await service.assets().assets[0].isInsecure == true)
        #expect(try await service.asset(named: "audio").isInsecure == true)
        request.route?.insecure = false
        _ = try await completed(service.download(request))
        #expect(try await service.asset(named: "audio").isInsecure == nil)
    }

    @Test func aRemovalDeletesTheAssetAndItsDownload() async throws {
        let ended = try await completed(service.download(request(origin.master("audio"))))
        let removal = try await service.removeAsset(named: "audio")
        #expect(removal.bytes == ended.bytes)
        #expect(await code { _ = try await service.asset(named: "audio") } == .noSuchAsset)
        #expect(await code { _ = try await service.download(id: ended.id) } == .noSuchDownload)
        #expect(await code { _ = try await service.removeAsset(named: "audio") } == .noSuchAsset)
    }

    @Test func impossibleRequestsHaveTheirErrorCodes() async throws {
        let live = origin.url("/_live/a/master.m3u8")
        #expect(await code { _ = try await service.download(request(live)) } == .live)
        #expect(await code { _ = try await service.download(request("unknown")) } == .noSuchAsset)
        #expect(await code { _ = try await service.download(request("ftp://host/a.m3u8")) } == .refusedURL)
        #expect(await code { _ = try await service.inspect(url: "nonsense") } == .refusedURL)
        #expect(await code { _ = try await service.inspect(url: origin.url("/ts/90p/0.ts")) } == .notPlaylist)
        #expect(await code { _ = try await service.inspect(url: origin.url("/nothing.m3u8")) } == .badOrigin)
        var tall = request(origin.master("ts"))
        tall.order.selection.quality = .height(4320)
        #expect(await code { _ = try await service.download(tall) } == .noMatch)
        // Nothing is left of an order that was refused, not even its name.
        _ = try await service.download(request(origin.master("ts")))
        let other = request(origin.master("aes"), name: "ts")
        #expect(await code { _ = try await service.download(other) } == .nameTaken)
    }

    /// The media of this fixture's 90p rendition begins two frames before that of the others.
    @Test func unmixableVariantsAreExplained() async throws {
        for quality in [Selection.Quality.worst, .best] {
            let wanted = API.DownloadRequest(source: origin.master("cmaf"), Selection(quality: quality))
            _ = try await completed(service.download(wanted))
        }
        let asked = API.DownloadRequest(source: "cmaf")
        let incompatible = try #require(try await service.explain(asked).explanation?.incompatible)
        #expect(incompatible.map(\.id) == ["video-90p"])
        #expect(incompatible.first?.reason == "its segments do not begin and end when these do")
    }

    @Test func playabilityIsCheckedOnDisk() async throws {
        _ = try await completed(service.download(request(origin.master("ts"))))
        let whole = try #require(try await service.asset(named: "ts").playable)
        #expect(whole.answer == .yes && whole.reason == "90p complete")
        #expect(whole.duration.map { (11.9...12.1).contains($0) } == true)
        #expect(try await service.assets().assets.map(\.playable) == [nil])
        let piece = try #require(folder.files().first { $0.hasSuffix("/3.ts") })
        truncate(folder.path(piece), 1000)
        let cut = try await service.asset(named: "ts")
        #expect(cut.playable?.answer == .partial && cut.playable?.reason == "1 of 6 segments of 90p is missing")
        #expect(cut.local == .partial)
        let lines = try String(decoding: API.encode(cut), as: UTF8.self)
        #expect(lines.contains(#""playable":{"answer":"partial","duration":10,"reason":"1 of 6 segments"#), "\(lines)")
        _ = try await completed(service.download(request("ts")))
        #expect(try await service.asset(named: "ts").playable == whole)
    }

    @Test func theModeAppliesToTheLibraryAndResumesDownloads() async throws {
        #expect(try await service.mode() == API.Mode(.auto))
        #expect(try await service.change(to: API.Mode(.offline)) == API.Mode(.offline))
        #expect(library.isOffline)
        #expect(await code { _ = try await service.inspect(url: origin.master("ts")) } == .offline)
        #expect(try await origin.requests().isEmpty)
        #expect(try await service.change(to: API.Mode(.local)) == API.Mode(.local))
        try await origin.add(OriginRule("*/1.ts") { $0.hold = true })
        let download = try await service.download(request(origin.master("ts")))
        try await waitUntil("the held request") { try await origin.load().paused == 1 }
        _ = try await service.change(to: API.Mode(.offline))
        try await waitUntil("the wait") { try await service.download(id: download.id).state == .waiting }
        #expect(try await service.download(id: download.id).need == .network)
        try await origin.clearRules()
        _ = try await service.change(to: API.Mode(.auto))
        #expect(try await service.download(id: download.id).state != .waiting)
        #expect(try await completed(download).state == .complete)
    }

    @Test func theRateOfDownloadsIsChangedWhileTheDaemonRuns() async throws {
        #expect(service.limit() == API.Limit(bytesPerSecond: nil))
        #expect(try service.change(to: API.Limit(bytesPerSecond: 2_000_000)).bytesPerSecond == 2_000_000)
        #expect(service.limit().bytesPerSecond == 2_000_000 && library.client.backgroundRate == 2_000_000)
        #expect(await code { _ = try service.change(to: API.Limit(bytesPerSecond: 10)) } == .badRequest)
        #expect(try service.change(to: API.Limit(bytesPerSecond: nil)) == API.Limit(bytesPerSecond: nil))
        #expect(service.limit().bytesPerSecond == nil)
    }

    @Test func lostPiecesMakeADownloadIncomplete() async throws {
        let ended = try await completed(service.download(request(origin.master("ts"))))
        let piece = try #require(folder.files().first { $0.hasSuffix("/3.ts") })
        try FileManager.default.removeItem(atPath: folder.path(piece))
        let asset = try #require(library.asset(named: "ts"))
        asset.renditions.forEach { $0.folder.reread() }
        #expect(try await service.download(id: ended.id).state == .failed)
        #expect(try await service.asset(named: "ts").local == .partial)
        _ = try await completed(service.download(request("ts")))
        #expect(try await service.asset(named: "ts").local == .yes)
    }
}
