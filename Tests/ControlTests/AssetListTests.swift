import Assets
import Downloads
import EventLoop
import Fetching
import Foundation
import HTTPMessage
import HTTPServer
import Integrity
import Orders
import Origin
import Retention
import Sharing
import Store
import Substitution
import TestRooms
import TestSupport
import Testing
import WeirAPI

@testable import Control

/// Lists of assets: brief, full, paged, and from summaries that an earlier process stored.
@Suite @LoopActor struct AssetListTests {
    private let folder: TemporaryFolder

    private static let counting =
        "import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM summary').fetchone()[0])"

    init() throws { folder = try TemporaryFolder() }

    private func service() async throws -> LibraryService {
        let opened = try await reopened(unless: { ($0 as? StoreError)?.code == .busy }) {
            try BundleStore(path: folder.path, reserve: 0)
        }
        let summaries = Summaries(opened)
        let library = Library(store: opened, client: OriginClient(), summaries: summaries)
        let retention = RetentionService(of: library)
        let downloader = Downloader(
            library: library, retention: retention, integrity: IntegrityService(of: library, retention))
        return LibraryService(
            library: library, summaries: summaries, substitutions: Substitutions(), retention: retention,
            exchange: ExchangeServices(library, moves: MoveRegister()), downloader: downloader)
    }

    private func list(_ service: LibraryService, _ query: String? = nil) async throws -> API.AssetList {
        try API.decode(from: try await service.assets(wish(query)))
    }

    private func wish(_ query: String?) throws(APIError) -> API.AssetQuery {
        try API.AssetQuery(ControlQuery(query, knowing: API.AssetQuery.keys))
    }

    private func take(_ fixture: String, _ name: String, _ service: LibraryService) async throws {
        let path = Repository.path("fixtures/media/\(fixture)")
        _ = try await service.importAsset(API.ImportRequest(path: path, name: name))
    }

    @Test func listsAgreeWithSingleAssets() async throws {
        let service = try await service()
        #expect(try await list(service).assets == [])
        for name in ["ts", "cmaf", "audio"] {
            try await take(name, name, service)
        }
        _ = try await service.setPolicy(StoragePolicy(priority: .important), ofAsset: "cmaf")
        for _ in 0..<2 {
            let whole = try await list(service)
            let brief = try await list(service, "brief=1")
            #expect(whole.assets.map(\.name) == ["audio", "cmaf", "ts"] && whole.next == nil && whole.playCache != nil)
            for (place, asset) in whole.assets.enumerated() {
                var single = try await service.asset(named: asset.name)
                single.playable = nil
                single.parts = nil
                #expect(single.isFragmented == (asset.name == "cmaf" ? true : nil))
                single.isFragmented = nil
                #expect(asset == single && !asset.tracks.variants.isEmpty && asset.local == .yes)
                #expect(asset.quality == asset.tracks.storedQuality)
                #expect(asset.storage?.policy.priority == (asset.name == "cmaf" ? .important : .default))
                single.tracks = API.Tracks()
                if single.storage == API.Storage() {
                    single.storage = nil
                }
                #expect(brief.assets[place] == single)
            }
        }
        // The list follows changes.
        let asset = try #require(service.library.asset(named: "ts"))
        try await service.library.rename(asset, to: "zz")
        #expect(try await list(service).assets.map(\.name) == ["audio", "cmaf", "zz"])
        await service.library.setTitle(#"A "tracks":{} title"#, of: asset)
        #expect(try await list(service).assets.last?.title == #"A "tracks":{} title"#)
        let bundle = folder.path("assets/\(asset.id)/video-90p")
        for name in try FileManager.default.contentsOfDirectory(atPath: bundle) where name.hasSuffix(".ts") {
            try FileManager.default.removeItem(atPath: bundle + "/" + name)
        }
        await service.library.survey(asset)
        let last = try #require(try await list(service).assets.last)
        #expect(last.local == .partial && last.tracks.variants.first { $0.id == "video-90p" }?.stored == .notStored)
        _ = try await service.removeAsset(named: "zz")
        #expect(try await list(service).assets.map(\.name) == ["audio", "cmaf"])
    }

    @Test func pagesAreConsecutive() async throws {
        let service = try await service()
        for name in ["a", "b", "c", "d", "e"] {
            try await take("audio", name, service)
        }
        let first = try await list(service, "limit=2")
        #expect(first.assets.map(\.name) == ["a", "b"] && first.next == "b")
        let second = try await list(service, "limit=2&after=b")
        #expect(second.assets.map(\.name) == ["c", "d"] && second.next == "d")
        let last = try await list(service, "brief=1&limit=2&after=d")
        #expect(last.assets.map(\.name) == ["e"] && last.next == nil)
        // The asset whose name begins the page may be gone.
        #expect(try await list(service, "limit=1&after=bb").assets.map(\.name) == ["c"])
        #expect(try await list(service, "after=e").assets == [])
        for query in [
            "limit=0", "limit=-1", "limit=x", "limit=", "brief=AAA", "brief=", "brief=true", "limit=+2", "limit=2.0",
        ] {
            let error = #expect(throws: APIError.self) { try wish(query) }
            #expect(error?.code == .badRequest)
        }
    }

    /// Leaves a store with two assets and their summaries. Returns the list that the summaries must reproduce.
    private func leave() async throws -> API.AssetList {
        let service = try await service()
        for name in ["ts", "cmaf"] {
            try await take(name, name, service)
        }
        let list = try await list(service)
        // A summary is not stored right after a change: the file time could not show a second change.
        let catalogue = folder.path("catalogue-1.sqlite")
        try await waitUntil("summaries") {
            let result = try await ProcessRunner.run(
                "python3",
                ["-c", Self.counting, catalogue])
            return result.output.hasPrefix("2")
        }
        await service.summaries.close()
        await service.library.close()
        return list
    }

    @Test func afterARestartListsComeFromSummaries() async throws {
        let before = try await leave()
        let again = try await self.service()
        // Concurrent requests get the same list.
        async let (pages, brief) = (list(again, "limit=1"), list(again, "brief=1"))
        let whole = try await list(again)
        #expect(whole.assets == before.assets)
        #expect(try await pages.assets == Array(before.assets.prefix(1)))
        #expect(try await brief.assets.map(\.bytes) == before.assets.map(\.bytes))
        let downloads = try await again.downloads()
        #expect(downloads.map(\.state) == [.complete, .complete] && downloads.allSatisfy { $0.bytes > 0 })
        let feed = EventFeed(again.downloader, of: again.library)
        let reader = feed.reader(after: nil)
        reader.open {}
        guard case .bytes(let begin) = reader.next() else { throw TimedOut("a snapshot") }
        #expect(String(decoding: begin, as: UTF8.self).hasSuffix("\ndata: {\"downloads\":[]}\n\n"))
        #expect(again.library.assets.allSatisfy { !$0.isLoaded })
        // Files deleted between two processes are noticed.
        let asset = try #require(again.library.asset(named: "ts"))
        #expect(asset.isPlayableOffline && asset.isLoaded)
        #expect(try await list(again).assets == before.assets)
    }

    /// Leaves a store with a download that is paused.
    private func leavePaused() async throws {
        let service = try await service()
        let origin = try await TestOrigin()
        try await origin.add(OriginRule("/ts/90p/*.ts") { $0.hold = true })
        let begun = try await service.download(.init(source: origin.master("ts"), Selection(quality: .worst)))
        _ = try await service.change(.pause, id: begun.id, .init())
        await service.summaries.close()
        await service.library.close()
        service.library.client.stop()
    }

    /// A start reports the state of each download of the queue, however long their playlists are.
    @Test func theStateOfADownloadTakesNoPlaylist() async throws {
        try await leavePaused()
        let again = try await service()
        again.downloader.resume()
        let download = try #require(again.downloader.downloads.first)
        #expect(API.Download(stateOf: download).state == .paused && !download.asset.isLoaded)
        #expect(API.Download(download).state == .paused && download.asset.isLoaded)
    }

    @Test func aChangeDuringTheComparisonIsReported() async throws {
        _ = try await leave()
        let again = try await self.service()
        // The comparison began when the library opened, but its result is not here yet: the loop has not been released.
        let asset = try #require(again.library.asset(named: "ts"))
        #expect(again.summaries.summary(of: asset) == nil)
        let bundle = folder.path("assets/\(asset.id)/video-90p")
        let pieces = try FileManager.default.contentsOfDirectory(atPath: bundle).filter { $0.hasSuffix(".ts") }
        try FileManager.default.removeItem(atPath: bundle + "/" + (try #require(pieces.first)))
        await again.library.survey(asset)
        let found = try await list(again).assets
        #expect(found.map(\.local) == [.yes, .partial])
    }

    @Test func piecesDeletedBetweenStartsAreNotReported() async throws {
        var service: LibraryService? = try await service()
        try await take("ts", "ts", try #require(service))
        let id = try #require(service?.library.asset(named: "ts")).id
        await service?.library.close()
        service = nil
        try FileManager.default.removeItem(atPath: folder.path("assets/\(id)/video-90p"))
        let asset = try #require(try await list(try await self.service()).assets.first)
        #expect(asset.local == .partial)
    }

    @Test("A job begins with an asset whose playlists were read on other threads")
    func jobOfASleepingAsset() async throws {
        var service: LibraryService? = try await service()
        try await take("ts", "ts", try #require(service))
        await service?.library.close()
        service = nil

        let again = try await self.service()
        #expect(again.library.assets.map(\.isLoaded) == [false])
        var wasLoaded: [Bool] = []
        let jobs = AssetJobs<API.Verification>(
            again, start: { asset, _ in wasLoaded.append(asset.isLoaded) },
            look: { API.Verification(asset: $0.name, state: .running) }, stop: { _ in })
        var handlers = EndpointHandlers()
        jobs.register(Endpoints.verification, in: &handlers)
        let request = ControlRequest(.post, "/api/v1/assets/ts/verification", authorization: "Bearer secret")
        #expect(await ControlRoutes(handlers, token: "secret").respond(to: request).status == .accepted)
        #expect(wasLoaded == [true])
    }

    /// A service with a film of so many qualities and languages, which is read in slices.
    private func service(qualities: Int, languages: Int) async throws -> LibraryService {
        let film = try TemporaryFolder()
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n"
        let sounds = (0..<languages).map { number in
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\(number)\",URI=\"media.m3u8?a\(number)\"\n"
        }
        let variants = (0..<qualities).map { number in
            "#EXT-X-STREAM-INF:BANDWIDTH=\(100_000 + number),AUDIO=\"a\"\nmedia.m3u8?\(number)\n"
        }
        try film.write(Data([0x47] + [UInt8](repeating: 0, count: 187)), to: "0.ts")
        try film.write(Data(media.utf8), to: "media.m3u8")
        try film.write(Data("#EXTM3U\n\(sounds.joined())\(variants.joined())".utf8), to: "master.m3u8")
        let service = try await service()
        _ = try await service.importAsset(API.ImportRequest(path: film.path + "/master.m3u8", name: "film"))
        return service
    }

    @Test("What changes while an asset is read for a list is in the next list")
    func changesDuringAList() async throws {
        let service = try await service(qualities: 20, languages: 280)
        let film = try #require(service.library.asset(named: "film"))
        let losses = Task { @LoopActor in
            var count = 0
            for rendition in film.renditions where !Task.isCancelled {
                rendition.folder.removeFromList("0.ts")
                count += 1
                await Task.yield()
            }
            return count
        }
        _ = try await service.assets()
        losses.cancel()
        let count = await losses.value
        let tracks = try #require(try await service.assets().assets.first?.tracks)
        let complete = tracks.variants.count(where: \.isComplete) + tracks.audio.count(where: \.isComplete)
        #expect(count > 0 && complete == 300 - count)
    }

    /// Before, each requested rendition was looked for among all others.
    @Test("An asset with 2,000 tracks leaves the loop to others")
    func assetWithManyTracks() async throws {
        let service = try await service(qualities: 200, languages: 1800)
        var asset: API.Asset?
        let longest = try await LoopStopwatch.longest { asset = try await service.asset(named: "film") }
        let tracks = try #require(asset?.tracks)
        #expect(tracks.variants.count == 200 && tracks.audio.count == 1800)
        #expect(tracks.variants.allSatisfy { $0.stored == .saved && $0.isComplete })
        // In a debug build, which needs about eight times as long as a release build.
        #expect(longest < 0.16)
    }
}

extension LibraryService {
    /// All assets with all their details.
    func assets() async throws -> API.AssetList { try API.decode(from: try await assets(API.AssetQuery())) }
}
