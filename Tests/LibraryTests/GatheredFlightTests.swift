import Dispatch
import EventLoop
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Library
@testable import Store

/// Flights that only a download waits for: gathered in memory, and kept by the store's own thread.
@Suite @LoopActor struct GatheredFlightTests {
    let fixture: LibraryFixture
    let asset: Asset
    let rendition: Rendition
    let content: [UInt8]

    init() async throws {
        fixture = try await LibraryFixture()
        asset = try await fixture.open("/ts/master.m3u8")
        rendition = try await fixture.rendition("video-90p", of: asset)
        content = Array(try Repository.fixture("/ts/90p/0.ts"))
    }

    private func download() throws -> Flight { try fixture.flight(0, of: rendition, in: asset, urgency: .background) }

    /// Growing files in the store's folder.
    private var onItsWay: [String] { fixture.folder.files().filter { $0.hasPrefix("tmp/") } }

    /// Lets the store's thread wait until the gate is opened.
    private func hold() -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        fixture.library.store.worker?.submit { _ = gate.wait(timeout: .now() + 30) }
        return gate
    }

    /// A flight all of whose bytes are there, while the store's thread is held.
    private func arrived() async throws -> (Flight, DispatchSemaphore) {
        let gate = hold()
        let flight = try download()
        try await waitUntil("all bytes") { @LoopActor in flight.isBeingKept }
        return (flight, gate)
    }

    private func read(_ flight: Flight) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: content.count + 1)
        let count = pread(flight.descriptor, &buffer, buffer.count, 0)
        return Array(buffer.prefix(max(0, count)))
    }

    @Test func itIsOnTheDiskWhenItIsWholeAndKnownWhenItIsThere() async throws {
        #expect(content.count < 64 << 10)
        try await fixture.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (1000, 1) })
        let gate = hold()
        let flight = try download()
        try await flight.announced()
        #expect(onItsWay.isEmpty)
        try await fixture.origin.release()
        try await waitUntil("all bytes") { @LoopActor in flight.isBeingKept }
        #expect(flight.outcome == nil && !flight.isPiece && !flight.isComplete)
        #expect(!rendition.folder.contains("0.ts"))
        gate.signal()
        try await flight.end()
        #expect(flight.isPiece && rendition.folder.sizes == ["0.ts": Int64(content.count)])
        let descriptor = try #require(rendition.folder.open("0.ts"))
        close(descriptor)
        #expect(flight.bytes == content && onItsWay.isEmpty)
    }

    @Test func aPlayerThatJoinsInTheMiddleReadsAFileThatGrows() async throws {
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 1000 })
        let flight = try download()
        try await flight.announced()
        let player = try fixture.flight(0, of: rendition, in: asset)
        #expect(player === flight && player.approach == .joined)
        #expect(onItsWay.count == 1)
        #expect(read(player) == Array(content.prefix(Int(player.written))))
        try await fixture.origin.release()
        try await player.end()
        #expect(read(player) == content && player.isPiece)
        #expect(try await fixture.mediaRequests() == ["/ts/90p/0.ts"])
    }

    @Test func aPlayerThatJoinsAtTheEndReadsAllOfIt() async throws {
        let (flight, gate) = try await arrived()
        let player = try fixture.flight(0, of: rendition, in: asset)
        #expect(player === flight && player.approach == .joined)
        try await player.announced()
        #expect(read(player) == content)
        gate.signal()
        try await player.end()
        #expect(player.isPiece && player.keepFailure == nil && read(player) == content)
        #expect(try await fixture.mediaRequests() == ["/ts/90p/0.ts"])
    }

    @Test func aDownloadHearsThatItHasArrivedBeforeItIsKept() async throws {
        let gate = hold()
        let flight = try download()
        var order: [String] = []
        flight.whenArrived { order.append("arrived") }
        flight.whenEnded { _ in order.append("ended") }
        try await waitUntil("all bytes") { @LoopActor in order == ["arrived"] }
        flight.release()
        gate.signal()
        try await flight.end()
        #expect(order == ["arrived", "ended"] && rendition.folder.contains("0.ts"))
    }

    @Test func whatTheDiskDoesNotTakeIsToldAndStaysReadable() async throws {
        try fixture.folder.write(Data("x".utf8), to: "assets/\(asset.id)/video-90p/0.ts/in-the-way")
        let flight = try download()
        try await flight.end()
        #expect(!flight.isPiece && flight.keepFailure?.path.hasSuffix("/0.ts") == true)
        #expect(!rendition.folder.contains("0.ts"))
        #expect(read(flight) == content && onItsWay.isEmpty)
    }

    @Test func aFolderThatWasDeletedMeanwhileIsMadeAnew() async throws {
        let (flight, gate) = try await arrived()
        try FileManager.default.removeItem(atPath: fixture.folder.path("assets/\(asset.id)"))
        gate.signal()
        try await flight.end()
        #expect(flight.isPiece && flight.keepFailure == nil)
        #expect(rendition.folder.sizes == ["0.ts": Int64(content.count)])
        #expect(fixture.folder.files().contains("assets/\(asset.id)/video-90p/0.ts"))
    }

    @Test func anAssetThatIsRemovedMeanwhileLeavesNothing() async throws {
        let (flight, gate) = try await arrived()
        async let removed = fixture.library.remove(asset)
        try await waitUntil("its removal") { @LoopActor in asset.isRemoved }
        gate.signal()
        _ = try await removed
        try await flight.end()
        #expect(!flight.isPiece && read(flight) == content)
        let path = fixture.folder.path
        try await waitUntil("nothing left") {
            try ["/tmp", "/assets"].allSatisfy {
                try FileManager.default.contentsOfDirectory(atPath: path + $0).isEmpty
            }
        }
    }

    @Test func aStopWaitsForWhatHasArrived() async throws {
        let (flight, gate) = try await arrived()
        let library = fixture.library
        async let settled: Void = library.settle()
        #expect(flight.outcome == nil)
        gate.signal()
        await settled
        #expect(flight.isPiece && fixture.folder.files().contains("assets/\(asset.id)/video-90p/0.ts"))
    }

    @Test func whatWaitsForTheDiskIsBounded() throws {
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
