import Assets
import Downloads
import EventLoop
import Foundation
import HTTPMessage
import Orders
import Retention
import Store
import TestRooms
import TestSupport
import Testing
import WeirAPI

@testable import Control

/// Policies, names and purging over the API.
@Suite @LoopActor struct StorageControlTests {
    private let house: TestHouse
    private var folder: TemporaryFolder { house.folder }
    private var origin: TestOrigin { house.origin }
    private var library: Library { house.library }
    private var downloader: Downloader { house.downloader }
    private let service: LibraryService
    private let events: EventFeed

    init() async throws {
        house = try await TestHouse(.downloader())
        service = LibraryService(of: house)
        events = EventFeed(house.downloader, of: house.library)
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
        let begun = try await service.download(.init(source: origin.master(name), Selection(quality: .worst)))
        try await waitUntil("the end of \(name)") { try await service.download(id: begun.id).state == .complete }
        return try await service.download(id: begun.id)
    }

    @Test func aPolicyIsSetAndReturned() async throws {
        _ = try await film()
        let policy = StoragePolicy(expires: 5_000_000_000, afterFirstPlay: 60, priority: .important, backup: .exclude)
        let asset = try await service.setPolicy(policy, ofAsset: "ts")
        #expect(asset.storage == API.Storage(policy: policy, expiration: 5_000_000_000))
        #expect(try await service.asset(named: "ts").storage == asset.storage)
        #expect(try await service.assets().assets[0].storage == asset.storage)
        #expect(folder.files().contains { $0.hasSuffix("/CACHEDIR.TAG") })
        for wrong in [
            StoragePolicy(expires: -1), .init(expires: .max), .init(afterFirstPlay: 0), .init(afterFirstPlay: .max),
        ] {
            #expect(await code { _ = try await service.setPolicy(wrong, ofAsset: "ts") } == .badRequest)
        }
        #expect(await code { _ = try await service.setPolicy(policy, ofAsset: "none") } == .noSuchAsset)
        #expect(try await service.asset(named: "ts").storage == asset.storage)
    }

    @Test func anExpiredAssetIsNeitherPlayableNorFetched() async throws {
        let download = try await film()
        _ = try await service.setPolicy(StoragePolicy(expires: 1), ofAsset: "ts")
        let asset = try await service.asset(named: "ts")
        #expect(asset.storage?.isExpired == true && asset.playable?.answer == .no && asset.local == .yes)
        #expect(asset.playable?.reason.contains("has expired") == true)
        do throws(APIError) {
            _ = try await service.download(.init(source: "ts", Selection(quality: .best)))
            Issue.record("it began")
        } catch {
            #expect(error.code == .expired && error.code.status == 410)
            #expect(error.next == "weir policy ts --expires never --after-first-play never")
        }
        #expect(try await service.download(id: download.id).state == .complete)
        _ = try await service.setPolicy(StoragePolicy(), ofAsset: "ts")
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
        try await house.restart(.reserve(.max), .purge(.default))
        let service = LibraryService(of: house)
        var told: [API.Event.Purge] = []
        let subscription = library.events.subscribe {
            if case .purged(let asset, let purge) = $0 {
                told.append(.init(asset: asset.name, id: asset.id, purge: purge))
            }
        }
        defer { subscription.cancel() }
        #expect(try await service.asset(named: "ts").local == .yes)
        house.retention.recordDiskFull()
        try await waitUntil("the purge") { !told.isEmpty }
        let asset = try await service.asset(named: "ts")
        #expect(asset.storage?.purge?.bytes == Int64(download.bytes) && asset.storage?.purge?.cause == .space)
        #expect(asset.state == .failed && asset.stored == .purged && asset.local == .no)
        #expect(told == [.init(asset: "ts", id: asset.id, purge: try #require(asset.storage?.purge))])
        let error = try await service.download(id: download.id).error
        #expect(error?.code == .diskFull && error?.message.contains("ts was purged") == true)
        downloader.resume()
        #expect(try await service.asset(named: "ts").state == .failed)
        var again = API.DownloadRequest(source: "ts", Selection(quality: .worst))
        again.order.ignoreSpace = true
        _ = try await service.download(again)
        #expect(try await service.asset(named: "ts").storage?.purge == nil)
        downloader.stop()
    }
}
