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
            writer.schedule([id])
        }
        await flush(writer)
        #expect(try records.index() == [id: [1]])
        #expect(rows.readings.withLock { $0 } <= 2)
        rows.rows.withLock { $0?.revision = 2 }
        writer.schedule([id])
        writer.stop()
        #expect(try records.index() == [id: [2]])
    }

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
        writer.schedule([id])
        await flush(writer)
        try writer.remove(id)
        #expect(try records.index().isEmpty)
        // The rows are not deleted after all.
        writer.schedule([id])
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
        writer.schedule([id])
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
        writer.schedule([id])
        await flush(writer)
        rows.rows.withLock { $0 = nil }
        writer.schedule([id])
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
        writer.schedule([id])
        await flush(writer)
        await flush(writer)
        #expect(try disk.names().isEmpty)
        #expect(reports.withLock { $0.count } == 1)
        rows.rows.withLock { $0 = SampleCatalogue.rows(1, segments: 2) }
        await flush(writer)
        #expect(try RecordFolder(disk).index() == [id: [1]])
        writer.stop()
    }
}
