import EventLoop
import Foundation
import Glibc
import HLS
import Orders
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching
@testable import Substitution

/// Playability of assets without their origin, compared with the files.
@Suite @LoopActor struct PlayabilityTests {
    private func asset(
        _ fixture: TestHouse, _ name: String, renditions: [String], segments: Int = .max
    ) async throws -> Asset {
        let asset = try await fixture.open("/\(name)/master.m3u8")
        for id in renditions {
            try await fetch(fixture, id, of: asset, segments: segments)
        }
        return asset
    }

    /// Fetches missing resources of a rendition, up to a number of segments.
    private func fetch(
        _ fixture: TestHouse, _ id: String, of asset: Asset, segments count: Int = .max
    ) async throws {
        let rendition = try await fixture.rendition(id, of: asset)
        let playlist = try #require(rendition.source?.playlist)
        let segments = playlist.segments.prefix(count).compactMap { rendition.resource(of: $0) }
        for (folder, resource) in rendition.preliminaries + segments.map({ (rendition.folder, $0) })
        where !folder.contains(resource.name.description) {
            let fetch = try fixture.library.fetch(resource, in: folder, of: asset, urgency: .background)
            try await fetch.end()
            fetch.release()
        }
    }

    private func answer(_ fixture: TestHouse, _ asset: Asset) async -> Playability {
        await fixture.library.survey(asset)
        return await fixture.substitutions.playability(of: asset)
    }

    @Test func namesCompleteRenditions() async throws {
        let fixture = try await TestHouse()
        let asset = try await asset(fixture, "cmaf", renditions: ["video-180p", "audio-en"])
        let found = await answer(fixture, asset)
        #expect(found.answer == .yes && found.reason == "180p complete, audio en complete")
        #expect(found.duration.map { (11.9...12.1).contains($0) } == true)
    }

    /// In a debug build, which needs about eight times as long as a release build.
    @Test("What is missing of 40,000 segments is counted beside the loop")
    func longPlaylist() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/_vod/40000x1880/media.m3u8")
        let fetch = try fixture.fetch(7, of: asset.renditions[0], in: asset)
        try await fetch.end()
        fetch.release()
        var found: Playability?
        let longest = await LoopStopwatch.longest { found = await fixture.substitutions.playability(of: asset) }
        #expect(found?.reason == "39999 of 40000 segments are missing")
        #expect(longest < 0.1)
    }

    @Test func omitsRenditionsNeverFetched() async throws {
        let fixture = try await TestHouse()
        let asset = try await asset(fixture, "ts", renditions: [])
        #expect(await answer(fixture, asset) == Playability(.no, "nothing is stored"))
        let live = try await fixture.open("/_live/a/media.m3u8")
        #expect(await answer(fixture, live) == Playability(.no, "it is live"))
    }

    @Test func omitsAVariantWithoutItsAudio() async throws {
        let fixture = try await TestHouse()
        let asset = try await asset(fixture, "cmaf", renditions: ["video-180p"])
        let found = await answer(fixture, asset)
        #expect(found.answer == .no)
        #expect(found.reason == "the playlist of audio en is not known yet")
    }

    @Test func reportsAPartialAsset() async throws {
        let fixture = try await TestHouse()
        let asset = try await asset(fixture, "ts", renditions: ["video-90p"], segments: 2)
        let found = await answer(fixture, asset)
        #expect(found.answer == .partial && found.reason == "4 of 6 segments of 90p are missing")
        #expect(found.duration.map { (3.9...4.1).contains($0) } == true)
    }

    /// A change to a stored file, and the expected report.
    enum Damage: CaseIterable {
        case deleted, cut, grown, emptied, folderDeleted
    }

    @Test(arguments: Damage.allCases, [false, true])
    func findsChangedFiles(damage: Damage, isRestarted: Bool) async throws {
        let fixture = try await TestHouse()
        var asset = try await asset(fixture, "ts", renditions: ["video-90p"])
        #expect(await answer(fixture, asset).answer == .yes)
        let file = try #require(fixture.folder.files().first { $0.hasSuffix("/video-90p/3.ts") })
        let path = fixture.folder.path(file)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        await fixture.flush()
        switch damage {
        case .deleted: try FileManager.default.removeItem(atPath: path)
        case .cut: truncate(path, off_t(bytes.count - 188))
        case .grown: truncate(path, off_t(bytes.count + 188))
        case .emptied: truncate(path, 0)
        case .folderDeleted: try FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
        }
        if isRestarted {
            try await fixture.restart()
            asset = try #require(fixture.library.asset(named: "ts"))
        }
        let found = await answer(fixture, asset)
        let count = damage == .folderDeleted ? 6 : 1
        if damage == .folderDeleted {
            #expect(found == Playability(.no, "nothing is stored"))
        } else {
            #expect(found.answer == .partial && found.reason == "1 of 6 segments of 90p is missing")
        }
        #expect(!asset.isPlayableOffline)
        // Only missing resources are fetched again.
        try await fixture.origin.clearRequests()
        try await fetch(fixture, "video-90p", of: asset)
        // After a restart, one small request compares a stored segment with the origin's before that; another one compares the
        // rendition that is complete again, sooner or later.
        let media = try await fixture.origin.requests().filter { !$0.path.contains(".m3u8") }
        #expect(media.filter { !$0.isComparison }.count == count, "\(media)")
        #expect(media.count <= count + 2, "\(media)")
        #expect(await answer(fixture, asset).answer == .yes)
        #expect(asset.isPlayableOffline)
    }

    @Test func namesAMissingKey() async throws {
        let fixture = try await TestHouse()
        let asset = try await asset(fixture, "aes", renditions: ["video-90p"])
        #expect(await answer(fixture, asset).answer == .yes)
        let keys = fixture.folder.files().filter { $0.hasSuffix(".key") }
        for key in keys {
            try FileManager.default.removeItem(atPath: fixture.folder.path(key))
        }
        #expect(!keys.isEmpty)
        let found = await answer(fixture, asset)
        #expect(found.answer != .yes)
        #expect(
            found.reason == (keys.count == 1 ? "the key of 90p is missing" : "\(keys.count) keys of 90p are missing"))
    }

    @Test func concurrentQueriesShareOneComparison() async throws {
        let fixture = try await TestHouse()
        let asset = try await asset(fixture, "ts", renditions: ["video-90p"])
        let answers = (0..<8).map { _ in Task { @LoopActor in await answer(fixture, asset).answer } }
        for task in answers {
            #expect(await task.value == .yes)
        }
        #expect(!fixture.library.surveys.isRunning(ObjectIdentifier(asset)))
    }
}
