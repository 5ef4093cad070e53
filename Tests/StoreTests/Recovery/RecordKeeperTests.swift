import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Store

@Suite struct RecordKeeperTests {
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

    private func flush(_ keeper: RecordKeeper) async {
        await withCheckedContinuation { continuation in keeper.flush { continuation.resume() } }
    }

    @Test func whatComesTogetherIsWrittenOnceAndTheFormerGoes() async throws {
        let rows = Rows(SampleCatalogue.rows(1, segments: 2))
        let keeper = try RecordKeeper(records) { _ in rows.read() }
        for _ in 0..<100 { keeper.note([id]) }
        await flush(keeper)
        #expect(try records.index() == [id: [1]])
        #expect(rows.readings.withLock { $0 } <= 2)
        rows.rows.withLock { $0?.revision = 2 }
        keeper.note([id])
        keeper.stop()
        #expect(try records.index() == [id: [2]])
    }

    @Test func theBacklogIsWrittenWhenNothingElseIs() async throws {
        let keeper = try RecordKeeper(records, backlog: (0..<40).map { SampleCatalogue.rows($0).asset.id }) { id in
            (0..<40).lazy.map { SampleCatalogue.rows($0, segments: 1) }.first { $0.asset.id == id }
        }
        try await waitUntil("all records") { try records.index().count == 40 }
        keeper.stop()
    }

    @Test func whatIsRemovedIsGoneAtOnce() async throws {
        let rows = Rows(SampleCatalogue.rows(1, segments: 2))
        let keeper = try RecordKeeper(records) { _ in rows.read() }
        keeper.note([id])
        await flush(keeper)
        try keeper.remove(id)
        #expect(try records.index().isEmpty)
        // Its rows stay after all.
        keeper.note([id])
        await flush(keeper)
        #expect(try records.index() == [id: [1]])
        keeper.stop()
    }

    @Test func whatIsRemovedWhileItIsWrittenDoesNotCome() async throws {
        let (isReading, isRemoved) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let keeper = try RecordKeeper(records) { _ in
            isReading.signal()
            isRemoved.wait()
            return SampleCatalogue.rows(1, segments: 2)
        }
        keeper.note([id])
        try await blocking { [id] in
            keeper.flush {}
            isReading.wait()
            try keeper.remove(id)
            isRemoved.signal()
            keeper.stop()
        }
        #expect(folder.files().isEmpty)
    }

    @Test func theRecordOfWhatTheCatalogueLacksGoes() async throws {
        let rows = Rows(SampleCatalogue.rows(1, segments: 2))
        let keeper = try RecordKeeper(records) { _ in rows.read() }
        keeper.note([id])
        await flush(keeper)
        rows.rows.withLock { $0 = nil }
        keeper.note([id])
        await flush(keeper)
        #expect(folder.files().isEmpty)
        keeper.stop()
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting takes root"))
    func whatTheDiskDoesNotTakeIsToldOnceAndTriedAgain() async throws {
        let disk = try await SmallDisk.folder(size: 32_768)
        let reports = Mutex<[String]>([])
        let rows = Rows(SampleCatalogue.rows(1, segments: 1000))
        let keeper = try RecordKeeper(
            RecordFolder(disk), report: { text in reports.withLock { $0.append(text) } }, source: { _ in rows.read() })
        keeper.note([id])
        await flush(keeper)
        await flush(keeper)
        #expect(try disk.names().isEmpty)
        #expect(reports.withLock { $0.count } == 1)
        rows.rows.withLock { $0 = SampleCatalogue.rows(1, segments: 2) }
        await flush(keeper)
        #expect(try RecordFolder(disk).index() == [id: [1]])
        keeper.stop()
    }
}
