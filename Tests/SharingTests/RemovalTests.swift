import EventLoop
import Foundation
import Orders
import Sharing
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// Removed assets do not come back, whatever is interrupted, and whichever folders they had.
@Suite @LoopActor struct RemovalTests {
    private let fixture: TestHouse
    private let disk: TemporaryFolder
    private var volume: String { disk.path("weir") }
    private var mover: Mover { fixture.exchange.mover }

    init() async throws {
        fixture = try await TestHouse()
        disk = try TemporaryFolder()
    }

    /// Everything in the folder of bundles of a store or volume.
    private func bundles(in path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path + "/assets"))?.sorted() ?? []
    }

    private func move(_ asset: Asset, to path: String?) async throws {
        let move = try mover.move(asset, to: path)
        await mover.jobs.waitForMove(of: asset)
        #expect(move.state == .complete)
    }

    // MARK: Moves

    @Test("A move that begins with the first pieces leaves none of them behind", arguments: 0..<12)
    func movesWithFirstPieces(run: Int) async throws {
        let asset = try await fixture.open("/ts/master.m3u8")
        _ = try await fixture.rendition("video-90p", of: asset)
        async let pieces: Void = fixture.fetch("video-90p", of: asset)
        // The move meets the first pieces at another moment in each run.
        for _ in 0..<(run * 3) {
            await Task.yield()
        }
        try await move(asset, to: volume)
        try await pieces
        await fixture.flush()
        #expect(bundles(in: fixture.folder.path) == [])
        #expect(bundles(in: volume) == [asset.id])
        let rendition = try #require(asset.rendition("video-90p"))
        #expect(rendition.isComplete)
        let stored = try FileManager.default.contentsOfDirectory(atPath: volume + "/assets/\(asset.id)/video-90p")
        #expect(stored.count { $0.hasSuffix(".ts") } == rendition.folder.sizes.count)
    }

    @Test("Writes of a new folder are refused while the asset moves")
    func refusesNewFolders() async throws {
        let asset = try await fixture.open("/ts/master.m3u8")
        asset.bundle.suspendWrites()
        let error = #expect(throws: StoreError.self) { try asset.bundle.directory(create: true) }
        #expect(error?.code == .busy)
        #expect(throws: StoreError.self) { try asset.keys.folder.put([1], as: "0.key") }
        asset.bundle.resumeWrites()
        _ = try asset.bundle.directory(create: true)
        #expect(bundles(in: fixture.folder.path) == [asset.id])
    }

    @Test("A move to where the disk of another asset belongs makes no second volume there", arguments: [true, false])
    func waitsForTheDiskOfOthers(isMissing: Bool) async throws {
        let first = try await fixture.open("/ts/master.m3u8")
        try await fixture.fetch("video-90p", of: first)
        try await move(first, to: volume)
        try FileManager.default.moveItem(atPath: volume, toPath: disk.path("away"))
        if !isMissing {
            // As of a disk that is not mounted.
            try FileManager.default.createDirectory(atPath: volume, withIntermediateDirectories: true)
        }
        let second = try await fixture.open("/cmaf/master.m3u8")
        let move = try mover.move(second, to: volume)
        await mover.jobs.waitForMove(of: second)
        #expect(move.state == .failed)
        #expect((move.failure?.underlying as? StoreError)?.code == .away)
        #expect(FileManager.default.fileExists(atPath: volume) == !isMissing)
        #expect(second.isHome)

        if !isMissing {
            try FileManager.default.removeItem(atPath: volume)
        }
        try FileManager.default.moveItem(atPath: disk.path("away"), toPath: volume)
        try await self.move(second, to: volume)
        _ = try await fixture.library.remove(first)
        _ = try await fixture.library.remove(second)
        try await waitUntil("the end of the folders") { bundles(in: volume).isEmpty }
    }

    @Test("Of two moves that begin a new volume, the one that fails does not take it from the other")
    func aFailedMoveLeavesTheVolumeToOthers() async throws {
        let first = try await fixture.open("/ts/master.m3u8")
        let second = try await fixture.open("/cmaf/master.m3u8")
        try await fixture.fetch("video-90p", of: first)
        try await fixture.fetch("video-90p", of: second)
        let store = fixture.library.store
        // The first move made the volume, the second found it there, and the first fails.
        let made = try store.beginMove(to: volume, occupied: [])
        try await move(second, to: volume)
        store.endMove(to: made, isUsed: false)
        _ = try await fixture.library.remove(second)
        #expect(bundles(in: volume).isEmpty)

        let other = try store.beginMove(to: disk.path("other"), occupied: [])
        let again = try store.beginMove(to: disk.path("other"), occupied: [])
        #expect(other === again)
        store.endMove(to: other, isUsed: false)
        #expect(FileManager.default.fileExists(atPath: other.path))
        store.endMove(to: again, isUsed: false)
        #expect(!FileManager.default.fileExists(atPath: other.path))
    }

    /// Leaves an asset of whose move to the volume the process has not seen the end; returns its id.
    private func interruptMove() async throws -> String {
        let asset = try await fixture.open("/ts/master.m3u8")
        try await fixture.fetch("video-90p", of: asset)
        let store = fixture.library.store
        let target = try store.beginMove(to: volume, occupied: [])
        store.endMove(to: target, isUsed: true)
        try disk.write(Data("x".utf8), to: "weir/assets/\(asset.id)/video-90p/0.ts")
        asset.bundle.other = target
        await fixture.library.records.saveVolume(of: asset)
        await fixture.flush()
        return asset.id
    }

    @Test("What an interrupted move has left on a disk that is away is deleted once it is back")
    func deletesTheRestOnADiskThatWasAway() async throws {
        let id = try await interruptMove()
        try FileManager.default.moveItem(atPath: volume, toPath: disk.path("away"))
        try await fixture.restart()
        try FileManager.default.moveItem(atPath: disk.path("away"), toPath: volume)
        try await waitUntil("the end of the rest") { bundles(in: volume).isEmpty }
        #expect(bundles(in: fixture.folder.path) == [id])
        #expect(fixture.library.asset(named: "ts")?.rendition("video-90p")?.isComplete == true)
    }

    // MARK: Removals

    @Test("A removal while the asset moves leaves it on no disk", arguments: [true, false], 0..<6)
    func removesWhileMoving(isOtherDisk: Bool, run: Int) async throws {
        let other = try TemporaryFolder(inMemory: isOtherDisk)
        let asset = try await fixture.open("/ts/master.m3u8")
        try await fixture.fetch("video-90p", of: asset)
        let move = try mover.move(asset, to: other.path("weir"))
        for _ in 0..<(run * 5) {
            await Task.yield()
        }
        _ = try await fixture.library.remove(asset)
        #expect(move.state != .running)
        #expect(bundles(in: fixture.folder.path) == [] && bundles(in: other.path("weir")) == [])
    }

    @Test("A removal finds the folders that the asset once had")
    func removesFormerFolders() async throws {
        let asset = try await fixture.open("/ts/master.m3u8")
        try await fixture.fetch("video-90p", of: asset)
        try await move(asset, to: volume)
        // As an earlier version left them.
        try fixture.folder.write(Data("x".utf8), to: "assets/\(asset.id)/video-90p/0.ts")
        _ = try await fixture.library.remove(asset)
        #expect(bundles(in: fixture.folder.path) == [] && bundles(in: volume) == [])
    }

    @Test("The id of a removed asset is not given to another one, whose record would not be written")
    func givesNoIDTwice() async throws {
        let asset = try await fixture.open("/ts/master.m3u8")
        try await fixture.fetch("video-90p", of: asset)
        _ = try await fixture.library.remove(asset)
        try await waitUntil("the end of the folder") { bundles(in: fixture.folder.path).isEmpty }
        #expect(fixture.library.isTakenID(asset.id))
    }

    @Test("A removal is completed on a disk that was away for so short that nothing noticed it")
    func removesFromDiskThatWasAwayForAMoment() async throws {
        let asset = try await fixture.open("/ts/master.m3u8")
        try await fixture.fetch("video-90p", of: asset)
        try await move(asset, to: volume)
        try FileManager.default.moveItem(atPath: volume, toPath: disk.path("away"))
        _ = try await fixture.library.remove(asset)
        try FileManager.default.moveItem(atPath: disk.path("away"), toPath: volume)
        try await waitUntil("the end of the folder") { bundles(in: volume).isEmpty }
        try await waitUntil("the end of the removal") { !fixture.library.store.begunRemovals.contains(asset.id) }
    }

    @Test("An interrupted removal is completed by the next start, and not undone")
    func completesInterruptedRemoval() async throws {
        let asset = try await fixture.open("/ts/master.m3u8")
        try await fixture.fetch("video-90p", of: asset)
        await fixture.flush()
        // The process ends before the catalogue forgets the asset.
        #expect(try fixture.library.store.markRemoved(asset.id) == [])
        #expect(bundles(in: fixture.folder.path) == [".removed-\(asset.id)"])
        try await fixture.restart()
        // The daemon answers nobody before.
        await fixture.library.volumes.completeBegunRemovals()
        #expect(fixture.library.assets.isEmpty)
        await fixture.exchange.orphans.adopt()
        try await waitUntil("the end of the files") { bundles(in: fixture.folder.path).isEmpty }
        #expect(fixture.exchange.orphans.bundles.isEmpty)
        await fixture.flush()
        try await fixture.restart()
        #expect(fixture.library.assets.isEmpty)
    }

    @Test("A removed bundle is not adopted when the catalogue is lost")
    func isNotAdopted() async throws {
        let asset = try await fixture.exchange.importer.importAsset(
            at: Repository.path("fixtures/media/ts"), name: "film")
        await fixture.flush()
        #expect(try fixture.library.store.markRemoved(asset.id) == [])
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
        where name.hasPrefix("catalogue-1") || name == "records" {
            try FileManager.default.removeItem(atPath: fixture.folder.path(name))
        }
        try await fixture.restart()
        await fixture.exchange.orphans.adopt()
        #expect(fixture.library.assets.isEmpty && fixture.exchange.orphans.bundles.isEmpty)
        try await waitUntil("the files to go") { bundles(in: fixture.folder.path).isEmpty }
        #expect(!fixture.log.lines.contains { $0.contains("left unchanged") })
    }

    @Test("An import gets a new id, also of a bundle that was exported here")
    func importsWithNewID() async throws {
        let first = try await fixture.exchange.importer.importAsset(
            at: Repository.path("fixtures/media/ts"), name: "film")
        _ = try await fixture.exchange.exporter.export(first, to: disk.path("copy"))
        let id = first.id
        _ = try await fixture.library.remove(first)
        let again = try await fixture.exchange.importer.importAsset(at: disk.path("copy"))
        #expect(again.id != id && again.content.isEverythingComplete)
    }
}
