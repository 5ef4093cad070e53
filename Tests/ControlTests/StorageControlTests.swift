import API
import Downloader
import EventLoop
import Foundation
import HTTPMessage
import Integrity
import Library
import Origin
import Retention
import Store
import TestSupport
import Testing

@testable import Control

/// Policies, names and purging over the API.
@Suite @LoopActor struct StorageControlTests {
    private let folder: TemporaryFolder
    private let origin: TestOrigin
    private let library: Library
    private let downloader: Downloader
    private let service: LibraryService
    private let events: EventFeed

    init() async throws {
        folder = try TemporaryFolder()
        origin = try await TestOrigin()
        library = Library(store: try Store(path: folder.path, reserve: 0), client: OriginClient())
        let retention = Retention(of: library)
        downloader = Downloader(
            library: library, retention: retention, integrity: Integrity(of: library, retention))
        service = LibraryService(library: library, retention: retention, downloader: downloader)
        events = EventFeed(downloader, of: library)
    }

    private func code(_ body: () async throws -> Void) async -> APIError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? APIError)?.code
        }
    }

    private func film(_ name: String = "ts") async throws -> API.Download {
        let begun = try await service.download(.init(source: origin.master(name), quality: .worst))
        try await waitUntil("the end of \(name)") { try await service.download(id: begun.id).state == .complete }
        return try await service.download(id: begun.id)
    }

    @Test func aPolicyIsSetAndReturned() async throws {
        _ = try await film()
        let policy = API.Policy(expires: 5_000_000_000, afterFirstPlay: 60, priority: .important, backup: .exclude)
        let asset = try await service.setPolicy(policy, ofAsset: "ts")
        #expect(asset.storage == API.Storage(policy: policy, expiration: 5_000_000_000))
        #expect(try await service.asset(named: "ts").storage == asset.storage)
        #expect(try await service.assets().assets[0].storage == asset.storage)
        #expect(folder.files().contains { $0.hasSuffix("/CACHEDIR.TAG") })
        for wrong in [
            API.Policy(expires: -1), .init(expires: .max), .init(afterFirstPlay: 0), .init(afterFirstPlay: .max),
        ] {
            #expect(await code { _ = try await service.setPolicy(wrong, ofAsset: "ts") } == .badRequest)
        }
        #expect(await code { _ = try await service.setPolicy(policy, ofAsset: "none") } == .noSuchAsset)
        #expect(try await service.asset(named: "ts").storage == asset.storage)
    }

    @Test func anExpiredAssetIsNeitherPlayableNorFetched() async throws {
        let download = try await film()
        _ = try await service.setPolicy(API.Policy(expires: 1), ofAsset: "ts")
        let asset = try await service.asset(named: "ts")
        #expect(asset.storage?.isExpired == true && asset.playable?.answer == .no && asset.local == .complete)
        #expect(asset.playable?.reason.contains("has expired") == true)
        do throws(APIError) {
            _ = try await service.download(.init(source: "ts", quality: .best))
            Issue.record("it began")
        } catch {
            #expect(error.code == .expired && error.code.status == 410)
            #expect(error.next == "weir policy ts --expires never --after-first-play never")
        }
        #expect(try await service.download(id: download.id).state == .complete)
        _ = try await service.setPolicy(API.Policy(), ofAsset: "ts")
        #expect(try await service.asset(named: "ts").playable?.answer == .yes)
    }

    @Test func aNewNameAppliesEverywhereAtOnce() async throws {
        let download = try await film()
        let renamed = try await service.change(.init(name: "film", title: "A film"), ofAsset: "ts")
        #expect(renamed.name == "film" && renamed.title == "A film" && renamed.id == download.id)
        #expect(try await service.download(id: download.id).asset == "film")
        #expect(await code { _ = try await service.asset(named: "ts") } == .noSuchAsset)
        #expect(try await service.change(.init(title: ""), ofAsset: "film").title == nil)
        _ = try await film("cmaf")
        #expect(await code { _ = try await service.change(.init(name: "film"), ofAsset: "cmaf") } == .nameTaken)
        #expect(await code { _ = try await service.change(.init(name: "A b"), ofAsset: "cmaf") } == .nameTaken)
        #expect(try await service.removeAsset(named: "film").name == "film")
    }

    /// Restarts the library on a full disk.
    @Test func aPurgeIsPublishedAndOnlyANewRequestFetchesAgain() async throws {
        let download = try await film()
        await library.close()
        let copy = try TemporaryFolder()
        let copied = try await ProcessRunner.run("cp", ["-a", folder.path + "/.", copy.path])
        #expect(copied.exit == .code(0))
        let library = Library(store: try Store(path: copy.path, reserve: .max), client: OriginClient())
        let retention = Retention(of: library, purge: .default)
        let downloader = Downloader(
            library: library, retention: retention, integrity: Integrity(of: library, retention))
        let service = LibraryService(library: library, retention: retention, downloader: downloader)
        var told: [API.Event.Purge] = []
        let subscription = library.events.subscribe {
            if case .purged(let asset, let purge) = $0 {
                told.append(.init(asset: asset.name, id: asset.id, purge: .init(purge)))
            }
        }
        defer { subscription.cancel() }
        #expect(try await service.asset(named: "ts").local == .complete)
        retention.recordDiskFull()
        try await waitUntil("the purge") { !told.isEmpty }
        let asset = try await service.asset(named: "ts")
        #expect(asset.storage?.purge?.bytes == download.bytes && asset.storage?.purge?.cause == .space)
        #expect(asset.state == .failed && asset.local == .none)
        #expect(told == [.init(asset: "ts", id: asset.id, purge: try #require(asset.storage?.purge))])
        let error = try await service.download(id: download.id).error
        #expect(error?.code == .diskFull && error?.message.contains("ts was purged") == true)
        downloader.resume()
        #expect(try await service.asset(named: "ts").state == .failed)
        var again = API.DownloadRequest(source: "ts", quality: .worst)
        again.ignoreSpace = true
        _ = try await service.download(again)
        #expect(try await service.asset(named: "ts").storage?.purge == nil)
        downloader.stop()
    }
}
