import Assets
import Downloads
import EventLoop
import Foundation
import HTTPMessage
import HTTPServer
import Orders
import SafeText
import Store
import TestRooms
import TestSupport
import Testing

@testable import Control
@testable import WeirAPI

/// Downloads controlled through the API, with a real library and an origin.
@Suite @LoopActor struct DownloadControlServiceTests {
    private let house: TestHouse
    private var folder: TemporaryFolder { house.folder }
    private var origin: TestOrigin { house.origin }
    private var library: Library { house.library }
    private var downloader: Downloader { house.downloader }
    private let service: LibraryService

    init() async throws {
        house = try await TestHouse(.downloader { $0.running = 1 })
        service = LibraryService(of: house)
    }

    private func request(_ source: String, _ change: (inout API.DownloadRequest) -> Void = { _ in })
        -> API.DownloadRequest
    {
        var request = API.DownloadRequest(source: source, Selection(quality: .worst))
        change(&request)
        return request
    }

    private func reaches(_ state: JobState, _ id: String) async throws -> API.Download {
        try await waitUntil("\(state)") { try await service.download(id: id).state == state }
        return try await service.download(id: id)
    }

    private func error(_ body: () async throws -> Void) async -> APIError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? APIError
        }
    }

    @Test func aPauseIsStoredAndAResumeContinues() async throws {
        let begun = try await service.download(
            request(origin.master("ts")) {
                ($0.order.paused, $0.order.note, $0.order.priority, $0.title) = (true, "for the train", .important, "A")
            })
        #expect(begun.state == .paused && begun.note == "for the train" && begun.priority == .important)
        #expect(begun.title == "A" && begun.fraction == 0 && begun.bytes == 0)
        #expect(try await service.downloads().map(\.id) == [begun.id])
        let resumed = try await service.change(.resume, id: begun.id, .init())
        // On a busy machine the download may be complete before the response is made.
        #expect([.running, .complete].contains(resumed.state))
        let ended = try await reaches(.complete, begun.id)
        #expect(ended.fraction == 1 && ended.parts.map(\.fraction) == [1])
        #expect(ended.parts.map(\.weight) == [1] && ended.parts.map(\.isComplete) == [true])
        #expect(ended.note == "for the train")
        // A complete download can be neither paused nor cancelled.
        #expect(try await service.change(.pause, id: begun.id, .init()).state == .complete)
        #expect(try await service.change(.cancel, id: begun.id, .init()).state == .complete)
        #expect(await error { _ = try await service.change(.pause, id: "none", .init()) }?.code == .noSuchDownload)
    }

    /// It begins before all others that wait for their turn, important ones included.
    @Test func aDownloadIsMovedToTheFrontOfTheQueue() async throws {
        var ids: [String] = []
        for (name, priority) in [("ts", Priority.default), ("cmaf", .important), ("aes", .default)] {
            let begun = try await service.download(
                request(origin.master(name)) { ($0.order.paused, $0.order.priority) = (true, priority) })
            ids.append(begun.id)
        }
        #expect(try await service.downloads().map(\.id) == ids)
        _ = try await service.change(.first, id: ids[2], .init())
        #expect(try await service.downloads().map(\.id) == [ids[2], ids[0], ids[1]])
        #expect(await error { _ = try await service.change(.first, id: "none", .init()) }?.code == .noSuchDownload)
    }

    /// Mission S4: the description and the image can be changed later, and each list has them.
    @Test func s4ADescriptionIsChangedLater() async throws {
        let begun = try await service.download(request(origin.master("ts")) { $0.order.note = "for the train" })
        _ = try await reaches(.complete, begun.id)
        #expect(try await service.assets().assets.map(\.note) == ["for the train"])
        var change = API.AssetChange(title: "A film")
        change.note = "for the plane"
        let changed = try await service.change(change, ofAsset: "ts")
        #expect(changed.note == "for the plane" && changed.title == "A film")
        #expect(try await service.download(id: begun.id).note == "for the plane")
        #expect(try await service.assets().assets.map(\.note) == ["for the plane"])
        change.title = nil
        change.note = ""
        change.artwork = origin.url("/ts/90p/0.ts")
        #expect(await error { _ = try await service.change(change, ofAsset: "ts") }?.code == .notArtwork)
        change.artwork = nil
        #expect(try await service.change(change, ofAsset: "ts").note == nil)
        _ = try await service.open(API.PresentationRequest(source: origin.master("aes")))
        // No download is needed.
        change.note = "x"
        #expect(try await service.change(change, ofAsset: "aes").note == "x")
    }

    /// Mission P4.
    @Test func p4TheListHasTheRanges() async throws {
        let begun = try await service.download(
            request(origin.master("ts")) { $0.order.range = MediaRange(start: 4, end: nil) })
        _ = try await reaches(.complete, begun.id)
        #expect(try await service.assets().assets.first?.ranges == [.init(start: 4, end: 12)])
        _ = try await service.download(request(origin.master("ts")))
        #expect(try await service.asset(named: "ts").ranges == nil)
    }

    /// The table `[selection]` of the configuration.
    @Test func theDefaultsOfSelectionsAreInForce() async throws {
        let source = origin.master("cmaf")
        var bare = API.DownloadRequest(source: source)
        service.selectionDefaults = Selection(quality: .height(180), audio: .languages(["fr"]))
        #expect(try await service.explain(bare).explanation?.chosen.id == "video-180p")
        bare.order.selection.quality = .worst
        let begun = try await service.download(bare)
        #expect(begun.selection.variants.map(\.id) == ["video-90p"] && begun.selection.audio.map(\.language) == ["fr"])
    }

    /// A further language fetches no other picture, and no options follow the download as it is.
    @Test func whatAnOrderForAKnownAssetLeavesOutIsAsStored() async throws {
        let source = origin.master("cmaf")
        let begun = try await service.download(
            request(source) { $0.order.selection = Selection(quality: .height(180)) })
        _ = try await reaches(.complete, begun.id)
        let more = API.DownloadRequest(source: source, Selection(audio: .languages(["fr"])))
        #expect(try await service.explain(more).explanation?.chosen.id == "video-180p")
        _ = try await service.download(more)
        _ = try await reaches(.complete, begun.id)
        let again = try await service.download(API.DownloadRequest(source: "cmaf"))
        #expect(Set(again.parts.map(\.id)) == ["video-180p", "audio-en", "audio-fr"])
        // The order runs once more and finds everything, on a busy machine after its answer.
        _ = try await reaches(.complete, begun.id)
        let best = try await service.download(API.DownloadRequest(source: "cmaf", Selection(quality: .best)))
        #expect(best.selection.variants.map(\.id) == ["video-270p", "video-180p"])
    }

    @Test func onlyTheRangeIsExpected() async throws {
        let begun = try await service.download(
            request(origin.master("cmaf")) { $0.order.range = MediaRange(start: 4.5, end: 6) })
        let ended = try await reaches(.complete, begun.id)
        #expect(ended.expected.count == 1 && ended.expectedDuration.map { $0 < 5 } ?? false)
        #expect(ended.loaded == ended.expected && ended.loadedFraction == 1)
        #expect(ended.parts.map(\.kind) == [.video, .audio] && ended.parts.allSatisfy(\.isComplete))
        let media = try await origin.requests().map(\.path).filter { $0.hasSuffix("m4s") }
        #expect(Set(media).count < 6, "\(media)")
        let late = request(origin.master("ts")) { $0.order.range = MediaRange(start: 100, end: nil) }
        #expect(await error { _ = try await service.download(late) }?.code == .noMatch)
    }

    @Test func additionalSelectionsAreOneDownload() async throws {
        let begun = try await service.download(
            request(origin.master("cmaf")) {
                $0.order.additional = [Selection(quality: .best, audio: .languages(["fr"]), subtitles: .all)]
            })
        #expect(Set(begun.parts.map(\.id)).isSuperset(of: ["video-90p", "video-270p", "audio-en", "audio-fr"]))
        #expect(begun.parts.map(\.weight).reduce(0, +) > 0.999)
        let ended = try await reaches(.complete, begun.id)
        #expect(ended.parts.count == 5 && ended.unselected?.variants.map(\.height) == [180])
        let requests = try await origin.requests().filter { !$0.isComparison }
        let paths = requests.map(\.path).filter { !$0.hasSuffix("m3u8") }
        #expect(Set(paths).count == paths.count)
    }

    @Test func headersGoToTheOriginAndAreNotReturned() async throws {
        let begun = try await service.download(
            request(origin.master("ts")) { $0.headers = [API.Header("X-Secret: hush")].compactMap(\.self) })
        _ = try await reaches(.complete, begun.id)
        let seen = try await origin.requests().map { $0.headers["x-secret"] }
        #expect(!seen.isEmpty && seen.allSatisfy { $0 == "hush" })
        #expect(
            try !String(decoding: API.encode(try await service.download(id: begun.id)), as: UTF8.self).contains("hush"))
        let own = request(origin.master("aes")) { $0.headers = [API.Header("Host: x")].compactMap(\.self) }
        let refusal = await error { _ = try await service.download(own) }
        #expect(refusal?.code == .badRequest && refusal?.message.contains("Host") ?? false)
        #expect(library.asset(named: "aes") == nil)
    }

    @Test func aNewURLProvidesTheRest() async throws {
        try await origin.add(OriginRule("*old=1*") { $0.status = 403 })
        try await origin.add(OriginRule("/ts/90p/[345].ts") { $0.hold = true })
        let begun = try await service.download(request(origin.master("ts")))
        try await waitUntil("a half") { try await service.download(id: begun.id).loadedDuration >= 6 }
        _ = try await service.change(.pause, id: begun.id, .init())
        try await origin.clearRules()
        try await origin.clearRequests()
        let other = API.ResumeRequest(url: origin.master("aes"))
        #expect(await error { _ = try await service.change(.resume, id: begun.id, other) }?.code.exitCode == 65)
        #expect(try await service.download(id: begun.id).state == .paused)
        #expect(await error { _ = try await service.change(.pause, id: begun.id, other) }?.code == .badRequest)
        let bad = API.ResumeRequest(url: "ftp://h/x")
        #expect(await error { _ = try await service.change(.resume, id: begun.id, bad) }?.code == .refusedURL)
        let new = API.ResumeRequest(url: origin.master("ts") + "?token=new")
        _ = try await service.change(.resume, id: begun.id, new)
        _ = try await reaches(.complete, begun.id)
        // Before the rest is fetched, and after it, one small request compares a stored segment with the origin's.
        let requests = try await origin.requests().filter { $0.path.contains("/ts/90p/") && $0.path.hasSuffix(".ts") }
        let fetched = requests.filter { !$0.isComparison }.map(\.path)
        #expect(fetched.sorted() == ["/ts/90p/3.ts", "/ts/90p/4.ts", "/ts/90p/5.ts"])
        #expect(requests.count <= 5)
    }

    /// An asset that was played has a name from its URL.
    @Test func aLaterNameReplacesTheFormer() async throws {
        let url = origin.url("/ts/master.m3u8")
        let asset = try await library.open(WebURL(url))
        #expect(asset.name == "ts")
        let download = try await service.download(request(url) { $0.name = "trip" })
        #expect(asset.name == "trip" && download.asset == "trip")
        #expect(await error { _ = try await service.download(request(url) { $0.name = "a/b" }) }?.code != nil)
        #expect(asset.name == "trip" && library.assets.count == 1)
    }

    @Test func aLaterTitleReplacesTheFormer() async throws {
        let begun = try await service.download(request(origin.master("ts")) { $0.title = "A" })
        _ = try await reaches(.complete, begun.id)
        let again = try await service.download(request("ts") { ($0.title, $0.order.note) = ("B", "n") })
        #expect(again.title == "B" && again.note == "n")
        #expect(try await service.asset(named: "ts").title == "B")
    }

    @Test func downloadsOfANewerVersionAreListedAndUnchanged() async throws {
        try await origin.add(OriginRule("*.ts") { $0.hold = true })
        let begun = try await service.download(request(origin.master("ts")))
        let record = DownloadRecord(
            asset: begun.id, renditions: "video-90p", state: "resting", task: #"{"version":99}"#, created: 1)
        try await library.records.save([record])
        try await house.restart()
        let service = LibraryService(of: house)
        let told = try await service.download(id: begun.id)
        #expect(told.state == .failed && told.error?.code == .unreadable)
        #expect(told.error?.message.contains("newer Weir") ?? false)
        #expect(try await service.asset(named: "ts").local == .no)
        #expect(try await service.downloads().count == 1)
        for change in API.DownloadChange.allCases {
            #expect(await error { _ = try await service.change(change, id: begun.id, .init()) }?.code == .unreadable)
        }
        let refusal = await error { _ = try await service.download(request("ts")) }
        #expect(refusal?.code == .unreadable && refusal?.code.exitCode == 78)
        let last = try await folder.copy()
        #expect(try BundleStore(path: last.path, reserve: 0).catalogue.initial.downloads == [record])
    }

    @Test func artworkIsStoredAndNamedInTheBundle() async throws {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]
        let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 2]
        let hex = jpeg.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try await origin.add(
            OriginRule("/cover.jpg") { ($0.status, $0.bodyHex) = (200, hex) },
            OriginRule("/cover.html") { $0.html = true })
        let page = request(origin.master("ts")) { $0.artwork = origin.url("/cover.html") }
        #expect(await error { _ = try await service.download(page) }?.code == .notArtwork)
        #expect(downloader.downloads.isEmpty)
        let begun = try await service.download(
            request(origin.master("ts")) { $0.artwork = origin.url("/cover.jpg") })
        _ = try await reaches(.complete, begun.id)
        #expect(try await service.artwork(ofAsset: "ts") == .init(mediaType: "image/jpeg", bytes: jpeg))
        let bundle = folder.path("assets/\(begun.id)")
        #expect(
            try String(contentsOfFile: bundle + "/asset.json", encoding: .utf8).contains(#""artwork" : "artwork.jpg""#))
        #expect(
            await error { _ = try await service.setArtwork(Array("GIF89a".utf8), ofAsset: "ts") }?.code == .notArtwork)
        #expect(try await service.setArtwork(png, ofAsset: "ts").artwork == "/api/v1/assets/ts/artwork")
        #expect(try Data(contentsOf: URL(fileURLWithPath: bundle + "/artwork.png")) == Data(png))
        #expect(!FileManager.default.fileExists(atPath: bundle + "/artwork.jpg"))
        #expect(try String(contentsOfFile: bundle + "/asset.json", encoding: .utf8).contains("artwork.png"))
        _ = try await reaches(.complete, service.download(request(origin.master("aes"))).id)
        #expect(await error { _ = try await service.artwork(ofAsset: "aes") }?.code == .noArtwork)
        // Artwork may come from the asset's own address and from public addresses only.
        let other = try await TestOrigin()
        let foreign = request("aes") { $0.artwork = other.url("/ts/master.m3u8") }
        #expect(await error { _ = try await service.download(foreign) }?.code == .refusedURL)
    }

    @Test func protectedOrLiveContentIsRefusedByThatCode() async throws {
        let key = #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://k",KEYFORMAT="com.apple.streamingkeydelivery""#
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(key)\n#EXTINF:2,\n/ts/90p/0.ts\n#EXT-X-ENDLIST\n"
        try await origin.add(OriginRule("/drm.m3u8") { ($0.status, $0.body) = (200, playlist) })
        let protected = await error {
            _ = try await service.download(API.DownloadRequest(source: origin.url("/drm.m3u8")))
        }
        #expect(protected?.code == .protected && protected?.message.contains("protected") ?? false)
        #expect(protected?.code.exitCode == 65)
        let live = await error { _ = try await service.download(request(origin.url("/_live/a/master.m3u8"))) }
        #expect(live?.code == .live && live?.next?.contains("--record") ?? false)
    }

    /// The events that a reader has received since the last call.
    private func events(_ reader: EventReader, _ parser: inout EventTextParser) throws -> [API.Event] {
        guard case .bytes(let bytes) = reader.next() else { return [] }
        return try parser.parse(bytes).compactMap { try API.Event(name: $0.name, data: Array($0.data.utf8)) }
    }

    @Test func changesArePublished() async throws {
        let (id, events) = try await publishedEvents(of: "cmaf")
        expectOrder(of: events.map(\.name))
        #expect(events.contains(.removed(.init(id: id, asset: "cmaf"))))
        expectSelections(in: events)
        expectProgress(in: events)
    }

    /// Downloads a fixture, removes the asset when it is complete, and returns the download's id and all events.
    private func publishedEvents(of fixture: String) async throws -> (id: String, events: [API.Event]) {
        let feed = EventFeed(downloader, of: library)
        let reader = feed.reader(after: nil)
        reader.open {}
        var parser = EventTextParser()
        var events: [API.Event] = []
        let begun = try await service.download(request(origin.master(fixture)))
        try await waitUntil("the end") {
            events += try self.events(reader, &parser)
            return events.contains { $0.name == "complete" }
        }
        _ = try await service.removeAsset(named: fixture)
        events += try self.events(reader, &parser)
        reader.close()
        return (begun.id, events)
    }

    private func expectOrder(of names: [String]) {
        #expect(names.first == "snapshot" && names.suffix(2) == ["removed", "changed"])
        #expect(names.contains("progress") && names.filter { $0 == "complete" }.count == 1)
        #expect(names.firstIndex(of: "selection-resolved")! + 1 == names.firstIndex(of: "selections-further"))
        #expect(names.firstIndex(of: "selection-complete")! < names.firstIndex(of: "complete")!)
    }

    /// Mission S10 and S16: expects the selection before, the further ones, and an event for each complete rendition.
    private func expectSelections(in events: [API.Event]) {
        let renditions = events.compactMap { event -> String? in
            guard case .renditionComplete(let rendition) = event else { return nil }
            return rendition.rendition
        }
        #expect(renditions.sorted() == ["audio-en", "video-90p"])

        let resolved = events.compactMap { event -> API.Event.Selection? in
            if case .selectionResolved(let selection) = event {
                selection
            } else {
                nil
            }
        }
        let chosen = resolved.map { $0.selection.variants.map(\.id) + $0.selection.audio.compactMap(\.id) }
        #expect(chosen == [["video-90p", "audio-en"]])

        let further = events.compactMap { event -> API.Tracks? in
            if case .selectionsFurther(let further) = event {
                further.unselected
            } else {
                nil
            }
        }
        #expect(further.first?.audio.compactMap(\.language) == ["fr"] && further.first?.variants.count == 2)
    }

    /// Expects fractions that only grow and are the weighted sum of their parts, and a summary at the end.
    private func expectProgress(in events: [API.Event]) {
        let downloads = events.compactMap { event -> API.Download? in
            if case .download(_, let download) = event {
                download
            } else {
                nil
            }
        }
        for download in downloads {
            let sum = download.parts.reduce(0) { $0 + $1.weight * $1.fraction }
            #expect(abs(download.fraction - sum) < 1e-12 && download.selections?.count == 1)
        }
        let fractions = downloads.map(\.fraction)
        #expect(fractions == fractions.sorted() && fractions.last == 1)

        let summary = downloads.last?.summary
        #expect(summary?.requests ?? 0 > 0 && summary?.missing == [])
        #expect(summary?.chosen == ["video-90p", "audio-en"])
    }
}
