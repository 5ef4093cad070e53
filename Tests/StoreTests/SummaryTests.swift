import Foundation
import TestSupport
import Testing

@testable import Store

@Suite struct SummaryTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func summary(_ store: BundleStore, local: String = "complete") async throws -> SummaryRecord {
        var record = SummaryRecord(
            asset: "a-id", version: 1, local: local, isLive: false, duration: 12.5, bytes: 7, cachedBytes: 2,
            hasArtwork: true, quality: "720p", tracks: "{}")
        try await waitUntil("folders at rest") { store.stamp(of: "a-id")?.isStable ?? false }
        record.stamp = try #require(store.stamp(of: "a-id")).text
        record.revision = store.catalogue.revision(of: "a-id")
        return record
    }

    /// A store with one asset and its summary.
    private func prepared() async throws -> (BundleStore, SummaryRecord) {
        try folder.write(Data("piece".utf8), to: "assets/a-id/video/0.ts")
        let store = try BundleStore(path: folder.path, reserve: 0)
        try await store.catalogue.save(.init(assets: [.sample("a")]))
        let record = try await summary(store)
        try await store.catalogue.save(summaries: [record])
        return (store, record)
    }

    private func reopened() async throws -> BundleStore {
        try await TestSupport.reopened(unless: { ($0 as? StoreError)?.code == .busy }) {
            try BundleStore(path: folder.path, reserve: 0)
        }
    }

    @Test func isValidAfterARestart() async throws {
        var prepared: (BundleStore, SummaryRecord)? = try await prepared()
        let record = try #require(prepared?.1)
        prepared = nil
        let store = try await reopened()
        #expect(store.catalogue.readSummaries() == [record])
        #expect(store.outdated([record]) == [])
    }

    @Test(arguments: ["a piece more", "a piece less", "a folder more", "a folder less", "no bundle", "another bundle"])
    func isInvalidAfterAChangeOfFolders(what: String) async throws {
        let (store, record) = try await prepared()
        let bundle = folder.path("assets/a-id"), manager = FileManager.default
        switch what {
        case "a piece more": try folder.write(Data("x".utf8), to: "assets/a-id/video/1.ts")
        case "a piece less": try manager.removeItem(atPath: bundle + "/video/0.ts")
        case "a folder more": try folder.write(Data("x".utf8), to: "assets/a-id/audio/0.ts")
        case "a folder less": try manager.removeItem(atPath: bundle + "/video")
        case "no bundle": try manager.removeItem(atPath: bundle)
        default:
            try manager.moveItem(atPath: bundle, toPath: bundle + "-2")
            try manager.copyItem(atPath: bundle + "-2", toPath: bundle)
        }
        #expect(store.outdated([record]) == ["a-id"])
    }

    @Test func isInvalidAfterAChangeOfRows() async throws {
        var prepared: (BundleStore, SummaryRecord)? = try await prepared()
        var asset = AssetRecord.sample("a")
        asset.title = "another"
        try await prepared?.0.catalogue.save(.init(assets: [asset]))
        prepared = nil
        #expect(try await reopened().catalogue.readSummaries() == [])
    }

    @Test func discardsASummaryComputedBeforeAChange() async throws {
        let (store, record) = try await prepared()
        let late = try await summary(store, local: "none")
        var asset = AssetRecord.sample("a")
        asset.title = "another"
        try await store.catalogue.save(.init(assets: [asset]))
        try await store.catalogue.save(summaries: [late])
        #expect(late.revision == record.revision && store.catalogue.revision(of: "a-id") == record.revision + 1)
        let counting =
            "import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT local FROM summary').fetchall())"
        let rows = try await ProcessRunner.run("python3", ["-c", counting, folder.path("catalogue-1.sqlite")])
        #expect(rows.output == "[('complete',)]\n", "\(rows.errors)")
    }

    /// Seconds since 1970. Nanoseconds in 64 bits end in the year 2262, and file systems keep later and earlier times.
    @Test(arguments: [9_223_372_037, 10_413_792_000, 16_725_225_600, -9_223_372_037, -62_135_596_800])
    func stampsAFolderOfAnotherCentury(seconds: Int) throws {
        try folder.write(Data("piece".utf8), to: "assets/a-id/video/0.ts")
        let path = folder.path("assets/a-id/video")
        let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
        var status = stat()
        #expect(stat(path, &status) == 0)
        let store = try BundleStore(path: folder.path, reserve: 0)
        let stamp = try #require(store.stamp(of: "a-id"))
        // A time in the future is followed by no other one.
        if status.st_mtim.tv_sec == seconds && seconds > 0 {
            #expect(!stamp.isStable)
        }
        #expect(stamp.text.contains("video "))
    }

    @Test func stampsAnAssetWithoutABundle() async throws {
        let store = try BundleStore(path: folder.path, reserve: 0)
        let stamp = try #require(store.stamp(of: "a-id"))
        #expect(stamp.text == "" && stamp.isStable)
        var record = SummaryRecord(
            asset: "a-id", version: 1, local: "none", isLive: false, duration: nil, bytes: 0, cachedBytes: 0,
            hasArtwork: false, quality: nil, tracks: "{}")
        record.stamp = stamp.text
        #expect(store.outdated([record]) == [])
        try folder.write(Data("x".utf8), to: "assets/a-id/video/0.ts")
        #expect(store.outdated([record]) == ["a-id"])
    }
}
