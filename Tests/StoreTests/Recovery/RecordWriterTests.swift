import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Store

@Suite struct RecordSyncThreadTests {
    let folder: TemporaryFolder
    let records: RecordFolder
    let id = SampleCatalogue.rows(1).asset.id

    init() throws {
        folder = try TemporaryFolder()
        records = RecordFolder(try Directory.open(path: folder.path("records")))
    }

    /// A catalogue of one asset.
    private final class Rows: Sendable {
        let rows: Mutex<AssetRows?>
        let readings = Mutex(0)

        init(_ rows: AssetRows?) { self.rows = Mutex(rows) }

        func read() -> AssetRows? {
            readings.withLock { $0 += 1 }
            return rows.withLock { $0 }
        }
    }

    private func flush(_ writer: RecordWriter) async {
        await writer.flush()
    }

    @Test func writesSimultaneousChangesOnceAndRemovesTheOldRecord() async throws {
        let rows = Rows(SampleCatalogue.rows(1, segments: 2))
        let writer = try RecordWriter(records) { _ in rows.read() }
        for _ in 0..<100 {
            writer.scheduleWhole(id)
        }
        await flush(writer)
        #expect(try records.index() == [id: [1]])
        #expect(rows.readings.withLock { $0 } <= 2)
        rows.rows.withLock { $0?.revision = 2 }
        writer.scheduleWhole(id)
        writer.stop()
        #expect(try records.index() == [id: [2]])
    }

    // MARK: Changes

    /// A change after the rows of `SampleCatalogue`: it adds a key.
    private func change(_ revision: Int) -> AssetChange {
        let key = KeyRecord(asset: id, number: revision, url: "https://keys.example/\(revision)")
        return AssetChange(asset: id, revision: revision, contents: .init(keys: [key]))
    }

    private func inode(_ revision: Int) -> UInt64? {
        let path = folder.path("records/\(id).\(revision).json")
        return (try? FileManager.default.attributesOfItem(atPath: path))?[.systemFileNumber] as? UInt64
    }

    @Test func appendsTheChangesAfterTheFirst() async throws {
        let rows = Rows(SampleCatalogue.rows(1, segments: 80))
        let writer = try RecordWriter(records) { _ in rows.read() }
        writer.schedule([change(1)])
        await flush(writer)
        let first = try #require(inode(1))
        // Two writes may return in any order.
        writer.schedule([change(3)])
        writer.schedule([change(2), change(4)])
        await flush(writer)
        #expect(inode(4) == first && rows.readings.withLock { $0 } == 1)
        #expect(try records.index() == [id: [4]])
        let record = try records.read(id, 4)
        #expect(record.revision == 4 && record.belongings.keys.map(\.number) == [0, 2, 3, 4])
        writer.stop()
    }

    @Test func writesTheWholeRecordIfAChangeIsMissing() async throws {
        let rows = Rows(SampleCatalogue.rows(1))
        let writer = try RecordWriter(records) { _ in rows.read() }
        writer.scheduleWhole(id)
        await flush(writer)
        rows.rows.withLock { $0?.revision = 5 }
        writer.schedule([change(3)])
        await flush(writer)
        #expect(try records.index() == [id: [5]])
        // It was written before this process did.
        writer.schedule([change(4), change(5)])
        writer.schedule([change(6)])
        await flush(writer)
        #expect(try records.index() == [id: [6]])
        #expect(try records.read(id, 6).revision == 6 && rows.readings.withLock { $0 } == 2)
        writer.stop()
    }

    @Test func appendsNothingToARemovedRecord() async throws {
        let rows = Rows(SampleCatalogue.rows(1))
        let writer = try RecordWriter(records) { _ in rows.read() }
        writer.scheduleWhole(id)
        await flush(writer)
        writer.schedule([change(2)])
        try writer.remove(id)
        rows.rows.withLock { $0 = nil }
        await flush(writer)
        #expect(folder.files().isEmpty)
        writer.stop()
    }

    @Test func oneRecordThatCannotBeWrittenDoesNotStopTheOthers() async throws {
        let reports = Mutex<[String]>([])
        let bad = SampleCatalogue.rows(2).asset.id
        let writer = try RecordWriter(records, report: { text in reports.withLock { $0.append(text) } }) { id in
            guard id != bad else { throw StoreError(.catalogue, path: id, detail: "damaged") }
            return (0..<8).lazy.map { SampleCatalogue.rows($0, segments: 1) }.first { $0.asset.id == id }
        }
        for number in 0..<8 {
            writer.scheduleWhole(SampleCatalogue.rows(number).asset.id)
        }
        await flush(writer)
        #expect(try records.index().count == 7 && reports.withLock { $0.count } == 1)
        writer.stop()
    }

    // MARK: Whole records

    @Test func writesTheBacklogWhenIdle() async throws {
        let writer = try RecordWriter(records, backlog: (0..<40).map { SampleCatalogue.rows($0).asset.id }) { id in
            (0..<40).lazy.map { SampleCatalogue.rows($0, segments: 1) }.first { $0.asset.id == id }
        }
        try await waitUntil("all records") { try records.index().count == 40 }
        writer.stop()
    }

    @Test func removesARecordAtOnce() async throws {
        let rows = Rows(SampleCatalogue.rows(1, segments: 2))
        let writer = try RecordWriter(records) { _ in rows.read() }
        writer.scheduleWhole(id)
        await flush(writer)
        try writer.remove(id)
        #expect(try records.index().isEmpty)
        // The rows are not deleted after all.
        writer.scheduleWhole(id)
        await flush(writer)
        #expect(try records.index() == [id: [1]])
        writer.stop()
    }

    @Test func doesNotWriteARecordRemovedMeanwhile() async throws {
        let isReading = DispatchSemaphore(value: 0)
        let isRemoved = DispatchSemaphore(value: 0)
        let writer = try RecordWriter(records) { _ in
            isReading.signal()
            isRemoved.wait()
            return SampleCatalogue.rows(1, segments: 2)
        }
        writer.scheduleWhole(id)
        try await blocking { [id] in
            Task { await writer.flush() }
            isReading.wait()
            try writer.remove(id)
            isRemoved.signal()
            writer.stop()
        }
        #expect(folder.files().isEmpty)
    }

    @Test func removesTheRecordOfAMissingAsset() async throws {
        let rows = Rows(SampleCatalogue.rows(1, segments: 2))
        let writer = try RecordWriter(records) { _ in rows.read() }
        writer.scheduleWhole(id)
        await flush(writer)
        rows.rows.withLock { $0 = nil }
        writer.scheduleWhole(id)
        await flush(writer)
        #expect(folder.files().isEmpty)
        writer.stop()
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting takes root"))
    func reportsAFailedWriteOnceAndTriesAgain() async throws {
        let disk = try await SmallDisk.folder(size: 32_768)
        let reports = Mutex<[String]>([])
        let rows = Rows(SampleCatalogue.rows(1, segments: 1000))
        let writer = try RecordWriter(
            RecordFolder(disk), report: { text in reports.withLock { $0.append(text) } }, source: { _ in rows.read() })
        writer.scheduleWhole(id)
        await flush(writer)
        await flush(writer)
        #expect(try disk.names().isEmpty)
        #expect(reports.withLock { $0.count } == 1)
        rows.rows.withLock { $0 = SampleCatalogue.rows(1, segments: 2) }
        await flush(writer)
        #expect(try RecordFolder(disk).index() == [id: [1]])
        writer.stop()
    }

    /// Fills a disk but for one page of 4 KiB.
    private func fill(_ disk: Directory) throws {
        var count = 0
        while (try? disk.write([UInt8](repeating: 1, count: 4096), as: "filler-\(count)")) != nil {
            count += 1
        }
        try disk.remove("filler-0")
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting takes root"))
    func aFailedAppendLeavesTheRecordAsItWas() async throws {
        let disk = try await SmallDisk.folder(size: 65_536)
        let reports = Mutex<[String]>([])
        let rows = Rows(SampleCatalogue.rows(1, segments: 40))
        let writer = try RecordWriter(
            RecordFolder(disk), report: { text in reports.withLock { $0.append(text) } }, source: { _ in rows.read() })
        writer.scheduleWhole(id)
        await flush(writer)
        try fill(disk)
        let name = "\(id).1.json"
        let before = try disk.read(name)

        let playlist = PlaylistRecord(
            asset: id, rendition: "", url: "https://o/", body: [UInt8](repeating: 35, count: 8500), fetched: 9)
        rows.rows.withLock { $0?.revision = 2 }
        writer.schedule([AssetChange(asset: id, revision: 2, contents: .init(playlists: [playlist]))])
        await flush(writer)
        #expect(try disk.read(name) == before && reports.withLock { $0.count } == 1)

        for name in try disk.names() where name.hasPrefix("filler") {
            try disk.remove(name)
        }
        await flush(writer)
        #expect(try RecordFolder(disk).index() == [id: [2]])
        writer.stop()
    }
}
