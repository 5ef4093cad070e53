import EventLoop
import Foundation
import Glibc
import HTTPMessage
import Orders
import Playheads
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching
@testable import Retention

/// Policies, names and purging, with a store of real files.
@Suite @LoopActor struct StorageTests {
    private let clock = TestClock()
    private let fixture: TestHouse
    private var library: Library { fixture.library }
    private var retention: RetentionService { fixture.retention }

    init() async throws { fixture = try await TestHouse(.clock(clock)) }

    /// The fixture `ts` with one complete rendition.
    private func film() async throws -> Asset {
        let asset = try await fixture.open("/ts/master.m3u8")
        try await fixture.fetch("video-90p", of: asset)
        library.publish(asset)
        await fixture.flush()
        return asset
    }

    /// A bundle's `asset.json`.
    private func identity(of asset: Asset) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: fixture.folder.path("assets/\(asset.id)/asset.json")))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private func files(of asset: Asset) -> [String] {
        fixture.folder.files().filter { $0.contains("/\(asset.id)") && !$0.hasPrefix("records/") }
    }

    /// Begins a session of an asset.
    private func play(_ asset: Asset, as session: String = "aaaaaa") throws {
        _ = try #require(library.playheads.cursor(of: session, in: asset, "video-90p"))
    }

    // MARK: Policies

    @Test func aPolicySurvivesARestartAndIsInTheBundle() async throws {
        let asset = try await film()
        let policy = StoragePolicy(expires: 5_000_000_000, afterFirstPlay: 60, priority: .important)
        try await retention.setPolicy(policy, of: asset)
        let stored = try #require(try identity(of: asset)["policy"] as? [String: Any])
        #expect(stored["expires"] as? Int == 5_000_000_000 && stored["priority"] as? String == "important")
        try await fixture.restart()
        #expect(library.asset(named: "ts")?.life.policy == policy)
    }

    @Test func aPolicyOfAnAssetWithoutPiecesIsStored() async throws {
        let asset = try await fixture.open("/ts/master.m3u8")
        try await retention.setPolicy(StoragePolicy(priority: .important), of: asset)
        #expect(files(of: asset).isEmpty)
        try await fixture.restart()
        #expect(library.asset(named: "ts")?.life.policy.priority == .important)
    }

    @Test func anExcludedAssetIsMarkedAsSoonAsItsFolderExists() async throws {
        let asset = try await fixture.open("/ts/master.m3u8")
        try await retention.setPolicy(StoragePolicy(backup: .exclude), of: asset)
        try await fixture.fetch("video-90p", of: asset)
        await fixture.flush()
        let mark = "assets/\(asset.id)/CACHEDIR.TAG"
        #expect(fixture.folder.files().contains(mark))
        try await retention.setPolicy(StoragePolicy(), of: asset)
        #expect(!fixture.folder.files().contains(mark))
    }

    @Test func playTimesAreRecordedAndSurviveARestart() async throws {
        let asset = try await film()
        clock.date = 1000
        try play(asset)
        clock.date = 2000
        try play(asset, as: "bbbbbb")
        #expect(asset.life.firstPlayed == 1000 && asset.life.lastPlayed == 2000)
        try await waitUntil("the catalogue") {
            let copy = try await fixture.folder.copy()
            return try BundleStore(path: copy.path).catalogue.initial.storage.first?.life.lastPlayed == 2000
        }
        try await fixture.restart()
        #expect(library.asset(named: "ts")?.life.firstPlayed == 1000)
    }

    @Test func anExpiredAssetPlaysOnlyInEarlierSessions() async throws {
        let asset = try await film()
        clock.date = 1000
        try play(asset)
        try await retention.setPolicy(StoragePolicy(afterFirstPlay: 60), of: asset)
        clock.date = 1059
        try retention.checkExpiry(of: asset)
        clock.date = 1060
        try retention.checkExpiry(of: asset, for: "aaaaaa")
        #expect(await code { try retention.checkExpiry(of: asset, for: "bbbbbb") } == .expired)
        #expect(await code { try retention.checkExpiry(of: asset) } == .expired)
        do throws(LibraryError) {
            try retention.checkExpiry(of: asset)
        } catch {
            #expect(error.message.contains("weir policy ts --after-first-play never"), "\(error.message)")
        }
    }

    // MARK: Names

    @Test func aRenamedAssetIsNotFoundByItsOldName() async throws {
        let asset = try await film()
        let id = asset.id
        try await library.rename(asset, to: "film")
        #expect(library.asset(named: "film") === asset && library.asset(named: "ts") == nil && asset.id == id)
        #expect(library.asset(formerlyNamed: "ts") == nil)
        #expect(try identity(of: asset)["name"] as? String == "film")
        try await fixture.restart()
        #expect(library.asset(named: "film")?.id == id && library.assets.count == 1)
        let other = try await fixture.open("/cmaf/master.m3u8")
        #expect(await code { try await library.rename(other, to: "film") } == .nameTaken)
        #expect(await code { try await library.rename(other, to: "No Name") } == .nameTaken)
        #expect(other.name == "cmaf" && library.asset(named: "cmaf") === other)
        try await library.rename(other, to: "ts")
        #expect(library.asset(named: "ts") === other)
    }

    @Test func aPlayingSessionKeepsTheFormerName() async throws {
        let asset = try await film()
        try play(asset)
        try await library.rename(asset, to: "film")
        #expect(library.asset(formerlyNamed: "ts") === asset)
        library.playheads.forget(asset.id)
        #expect(library.asset(formerlyNamed: "ts") == nil)
    }

    // MARK: Purging

    @Test func aPurgedAssetStaysKnownAndCanBeFetchedAgain() async throws {
        let asset = try await film()
        let bytes = asset.bytes
        let rendition = try #require(asset.rendition("video-90p"))
        clock.date = 1000
        await retention.purge(asset, .space)
        #expect(asset.bytes == 0 && !rendition.isComplete && !asset.isPlayableOffline && files(of: asset).isEmpty)
        #expect(asset.life.purge == .init(date: 1000, bytes: bytes, cause: .space))
        #expect(fixture.log.lines.last?.contains("ts was purged") ?? false, "\(fixture.log.lines)")
        try await fixture.fetch("video-90p", of: asset)
        #expect(rendition.isComplete && asset.bytes == bytes)
        await fixture.flush()
        retention.forgetPurge(of: asset)
        await library.records.saveLife(of: asset)
        try await fixture.restart()
        let again = try #require(library.asset(named: "ts"))
        #expect(again.bytes == bytes && again.life.purge == nil && again.isPlayableOffline)
    }

    /// Whoever is told of it may end the process: the next one knows of the purge.
    @Test func aPurgeIsRecordedBeforeItIsTold() async throws {
        let asset = try await film()
        let copy = try TemporaryFolder()
        let folder = fixture.folder.path
        let subscription = library.events.subscribe { event in
            if case .purged = event {
                try? FileManager.default.copyItem(atPath: folder, toPath: copy.path("store"))
            }
        }
        defer { subscription.cancel() }
        await retention.purge(asset, .space)
        let records = try BundleStore(path: copy.path("store")).catalogue.initial.storage
        #expect(records.map(\.life.purge) == [asset.life.purge])
    }

    @Test func aPlayingAssetIsNotPurged() async throws {
        let asset = try await film()
        retention.expect("aaaaaa", at: asset, isOffline: false)
        await retention.purge(asset, .expired)
        #expect(asset.bytes > 0 && asset.life.purge == nil)
        let other = try await TestHouse()
        let played = try await other.open("/ts/master.m3u8")
        try await other.fetch("video-90p", of: played)
        _ = try #require(other.library.playheads.cursor(of: "aaaaaa", in: played, "video-90p"))
        await other.retention.purge(played, .expired)
        #expect(played.bytes > 0 && played.life.purge == nil)
    }

    @Test func anExpiredAssetIsPurgedAfterADayDespiteFreeSpace() async throws {
        let asset = try await film()
        try await retention.setPolicy(StoragePolicy(expires: 1000), of: asset)
        clock.date = 1000 + Purger.grace - 1
        await retention.purger.removeExpired()
        #expect(asset.bytes > 0)
        clock.date += 1
        await retention.purger.removeExpired()
        #expect(asset.bytes == 0 && asset.life.purge?.cause == .expired)
        #expect(library.asset(named: "ts") === asset)
        // There is nothing left to purge, and nothing more to tell.
        let told = fixture.log.lines.count
        clock.date += 600
        await retention.purger.removeExpired()
        #expect(asset.life.purge?.date == clock.date - 600 && fixture.log.lines.count == told)
    }

    /// Restarts on a disk that is always full, so that everything that may be purged is purged.
    private func fill(_ limit: PurgePlan.Limit) async throws {
        try await fixture.restart(.reserve(.max), .purge(limit))
        retention.recordDiskFull()
    }

    private func stored() -> [String] { library.assets.filter { $0.bytes > 0 }.map(\.name) }

    @Test func aFullDiskPurgesOnlyExpiredAssetsAndCachedPieces() async throws {
        let asset = try await film()
        let other = try await fixture.open("/cmaf/master.m3u8")
        try await fixture.fetch("video-90p", of: other)
        let third = try await fixture.open("/aes/master.m3u8")
        try await fixture.fetch("video-90p", of: third)
        try await retention.setPolicy(StoragePolicy(expires: 1), of: asset)
        try await fixture.restart(.reserve(.max))
        clock.date = 2
        retention.pin(.everything, of: try #require(library.asset(named: "aes")))
        retention.recordDiskFull()
        try await waitUntil("room for others", within: .seconds(20)) { self.stored() == ["aes"] }
        #expect(library.asset(named: "ts")?.life.purge?.cause == .expired)
        #expect(library.asset(named: "cmaf")?.life.purge == nil)
        try await waitUntil("a word about it", within: .seconds(20)) {
            fixture.log.lines.contains { $0.contains("nothing more that is stored may be deleted") }
        }
        #expect(stored() == ["aes"])
        let lines = fixture.log.lines
        #expect(lines.contains { $0.contains("of pieces cached by playback are evicted") }, "\(lines)")
    }

    @Test(arguments: [
        (PurgePlan.Limit.default, ["aes"]), (.important, []),
    ])
    func theConfigurationDecidesWhatIsPurged(limit: PurgePlan.Limit, left: [String]) async throws {
        _ = try await film()
        let important = try await fixture.open("/aes/master.m3u8")
        try await fixture.fetch("video-90p", of: important)
        try await retention.setPolicy(StoragePolicy(priority: .important), of: important)
        try await fixture.restart(.reserve(.max), .purge(limit))
        for asset in library.assets {
            retention.pin(.everything, of: asset)
        }
        retention.recordDiskFull()
        try await waitUntil("room", within: .seconds(20)) { self.stored() == left }
        let causes = library.assets.compactMap { $0.life.purge?.cause }
        #expect(causes == (limit == .default ? [.space] : [.spaceThoughImportant, .space]))
    }

    // MARK: Reading

    /// There may be more assets than file descriptors.
    @Test func readingAnAssetLeavesNoFolderOpen() async throws {
        let asset = try await film()
        try await retention.setPolicy(StoragePolicy(priority: .important), of: asset)
        try await fixture.restart()
        let known = try #require(library.asset(named: "ts"))
        #expect(known.bytes > 0 && known.content.additions.artwork == nil && known.bundle.exists)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let open = descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
        }
        let bundle = fixture.folder.path("assets/\(known.id)")
        #expect(!open.contains { $0.hasPrefix(bundle) }, "\(open)")
    }

    // MARK: Removal

    /// The duration of a removal does not depend on the size of the asset: the bundle is moved, and its files are
    /// deleted in the background.
    @Test func aRemovalMovesTheBundleAndDeletesItInTheBackground() async throws {
        let asset = try await film()
        let folder = fixture.folder.path("assets/\(asset.id)")
        for number in 0..<10_000 {
            close(creat(folder + "/video-90p/\(100_000 + number).ts", 0o600))
        }
        // An open descriptor of the folder shows whether its files are deleted during the call or after it.
        let open = Glibc.open(folder + "/video-90p", O_RDONLY | O_DIRECTORY)
        defer { close(open) }
        var links = stat()
        _ = try await library.remove(asset)
        #expect(library.asset(named: "ts") == nil && access(folder, F_OK) != 0)
        try await waitUntil("the files' end", within: .seconds(30)) {
            fstat(open, &links)
            return links.st_nlink == 0
        }
        #expect(fixture.folder.files().filter { $0.hasPrefix("tmp/") }.isEmpty)
        #expect(library.assets.isEmpty)
        let again = try await fixture.open("/ts/master.m3u8")
        #expect(again.bytes == 0)
    }
}
