import Dispatch
import EventLoop
import Foundation
import Glibc
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching
@testable import Store

/// Fetches that only a download waits for. They are gathered in memory and stored by the worker thread.
@Suite @LoopActor struct GatheredFetchTests {
    let fixture: TestHouse
    let asset: Asset
    let rendition: Rendition
    let content: [UInt8]

    init() async throws {
        fixture = try await TestHouse()
        asset = try await fixture.open("/ts/master.m3u8")
        rendition = try await fixture.rendition("video-90p", of: asset)
        content = Array(try Repository.fixture("/ts/90p/0.ts"))
    }

    private func download() throws -> Fetch { try fixture.fetch(0, of: rendition, in: asset, urgency: .background) }

    /// Growing files in the store's folder.
    private var onItsWay: [String] { fixture.folder.files().filter { $0.hasPrefix("tmp/") } }

    /// Blocks the worker thread until the semaphore is signalled.
    private func hold() -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        fixture.library.store.worker?.submit { _ = gate.wait(timeout: .now() + 30) }
        return gate
    }

    /// A fetch whose bytes have all arrived, while the worker thread is blocked.
    private func arrived() async throws -> (Fetch, DispatchSemaphore) {
        let gate = hold()
        let fetch = try download()
        try await waitUntil("all bytes") { @LoopActor in fetch.state.phase == .committing }
        return (fetch, gate)
    }

    private func read(_ fetch: Fetch) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: content.count + 1)
        let count = pread(fetch.descriptor, &buffer, buffer.count, 0)
        return Array(buffer.prefix(max(0, count)))
    }

    @Test func aGatheredFetchIsStoredWhenCompleteAndThenListed() async throws {
        #expect(content.count < 64 << 10)
        try await fixture.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (1000, 1) })
        let gate = hold()
        let fetch = try download()
        try await fetch.announced()
        #expect(onItsWay.isEmpty)
        try await fixture.origin.release()
        try await waitUntil("all bytes") { @LoopActor in fetch.state.phase == .committing }
        #expect(fetch.outcome == nil && !fetch.isPiece && !fetch.isComplete)
        #expect(!rendition.folder.contains("0.ts"))
        gate.signal()
        try await fetch.end()
        #expect(fetch.isPiece && rendition.folder.sizes == ["0.ts": Int64(content.count)])
        let descriptor = try #require(rendition.folder.open("0.ts"))
        close(descriptor)
        #expect(fetch.bytes == content && onItsWay.isEmpty)
    }

    @Test func aPlayerThatJoinsInTheMiddleReadsAGrowingFile() async throws {
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 1000 })
        let fetch = try download()
        try await fetch.announced()
        let player = try fixture.fetch(0, of: rendition, in: asset)
        #expect(player === fetch && player.approach == .joined)
        #expect(onItsWay.count == 1)
        #expect(read(player) == Array(content.prefix(Int(player.written))))
        try await fixture.origin.release()
        try await player.end()
        #expect(read(player) == content && player.isPiece)
        #expect(try await fixture.mediaRequests() == ["/ts/90p/0.ts"])
    }

    @Test func aPlayerThatJoinsAtTheEndReadsEverything() async throws {
        let (fetch, gate) = try await arrived()
        let player = try fixture.fetch(0, of: rendition, in: asset)
        #expect(player === fetch && player.approach == .joined)
        try await player.announced()
        #expect(read(player) == content)
        gate.signal()
        try await player.end()
        #expect(player.isPiece && player.keepFailure == nil && read(player) == content)
        #expect(try await fixture.mediaRequests() == ["/ts/90p/0.ts"])
    }

    @Test func aDownloadIsNotifiedOfTheArrivalBeforeTheCommit() async throws {
        let gate = hold()
        let fetch = try download()
        var order: [String] = []
        fetch.whenArrived { order.append("arrived") }
        fetch.whenEnded { _ in order.append("ended") }
        try await waitUntil("all bytes") { @LoopActor in order == ["arrived"] }
        fetch.release()
        gate.signal()
        try await fetch.end()
        #expect(order == ["arrived", "ended"] && rendition.folder.contains("0.ts"))
    }

    @Test func aFailedWriteIsReportedAndTheBytesStayReadable() async throws {
        try fixture.folder.write(Data("x".utf8), to: "assets/\(asset.id)/video-90p/0.ts/in-the-way")
        let fetch = try download()
        try await fetch.end()
        #expect(!fetch.isPiece && fetch.keepFailure?.path.hasSuffix("/0.ts") == true)
        #expect(!rendition.folder.contains("0.ts"))
        #expect(read(fetch) == content && onItsWay.isEmpty)
    }

    @Test func aDeletedFolderIsRecreated() async throws {
        let (fetch, gate) = try await arrived()
        try FileManager.default.removeItem(atPath: fixture.folder.path("assets/\(asset.id)"))
        gate.signal()
        try await fetch.end()
        #expect(fetch.isPiece && fetch.keepFailure == nil)
        #expect(rendition.folder.sizes == ["0.ts": Int64(content.count)])
        #expect(fixture.folder.files().contains("assets/\(asset.id)/video-90p/0.ts"))
    }

    @Test func anAssetRemovedMeanwhileLeavesNoFiles() async throws {
        let (fetch, gate) = try await arrived()
        async let removed = fixture.library.remove(asset)
        try await waitUntil("its removal") { @LoopActor in asset.isRemoved }
        gate.signal()
        _ = try await removed
        try await fetch.end()
        #expect(!fetch.isPiece && read(fetch) == content)
        let path = fixture.folder.path
        try await waitUntil("nothing left") {
            try ["/tmp", "/assets"].allSatisfy {
                try FileManager.default.contentsOfDirectory(atPath: path + $0).isEmpty
            }
        }
    }

    @Test func aStopWaitsForArrivedBytes() async throws {
        let (fetch, gate) = try await arrived()
        let library = fixture.library
        async let settled: Void = library.close()
        #expect(fetch.outcome == nil)
        gate.signal()
        await settled
        #expect(fetch.isPiece && fixture.folder.files().contains("assets/\(asset.id)/video-90p/0.ts"))
    }

    @Test func bytesThatWaitForTheDiskAreLimited() throws {
        let gate = hold()
        let committer = Committer(store: fixture.library.store)
        let folder = fixture.library.store.pieces(in: try Directory.open(path: fixture.folder.path("pieces")))
        let bytes = [UInt8](repeating: 7, count: 64 << 10)
        var ended = 0
        for number in 0..<200 where committer.hasRoom {
            let file = try fixture.library.store.gatheringFile(named: "x\(number)")
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            committer.commit(try #require(file.handOver()), to: folder, as: "\(number).ts") { _ in ended += 1 }
        }
        #expect(!committer.hasRoom && ended == 0)
        gate.signal()
    }
}
