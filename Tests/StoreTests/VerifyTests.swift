import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Store

/// Verification of pieces against their ledger.
@Suite struct VerifyTests {
    let folder: TemporaryFolder
    let store: BundleStore
    let video: Directory
    let pieces: PieceDirectory

    init() throws {
        folder = try TemporaryFolder()
        store = try BundleStore(path: folder.path, reserve: 0)
        video = try store.bundle("a", create: true).subdirectory("video", create: true)
        pieces = store.pieces(in: video)
    }

    /// Stores ten pieces with lines, and a playlist, which is not a piece.
    private func fill() async throws {
        for number in 0..<10 {
            try commit([UInt8](repeating: UInt8(number), count: 1000 + number), as: "\(number).ts")
        }
        try video.write(Array("#EXTM3U".utf8), as: "media.m3u8")
        await store.flush()
    }

    private func commit(_ bytes: [UInt8], as name: String) throws {
        let file = try store.growingFile(named: name)
        try file.append(bytes, at: 0)
        try file.commit(to: pieces, as: name)
    }

    private func verify(
        at pace: ReadingPace? = nil, _ found: @escaping @Sendable (String, PieceFault) -> Void = { _, _ in }
    ) async throws -> PieceVerification {
        try await store.verify(
            pieces, at: pace ?? ReadingPace(bytesPerSecond: 0), where: { $0.hasSuffix(".ts") }, found: found)
    }

    private func flip(_ name: String) throws { try FileDamage.flipBit(of: video.path + "/" + name) }

    /// The digest is computed a moment after the arrival, and must not become that of the damage.
    @Test func damageBeforeTheDigestIsFound() async throws {
        for number in 0..<3 {
            try commit([UInt8](repeating: UInt8(number), count: 1000), as: "\(number).ts")
        }
        try flip("1.ts")
        await store.flush()
        #expect(try await verify().faults.keys.sorted() == ["1.ts"])
    }

    @Test func verifiesStoredPieces() async throws {
        try await fill()
        let pace = try ReadingPace(bytesPerSecond: 0)
        let result = try await verify(at: pace)
        #expect(result.isComplete && result.faults.isEmpty && result.adopted == 0)
        let sizes = Dictionary(uniqueKeysWithValues: (0..<10).map { ("\($0).ts", Int64(1000 + $0)) })
        #expect(result.sound.mapValues(\.size) == sizes)
        #expect(pace.bytes == 10_045)
    }

    @Test func removesDamagedPieces() async throws {
        try await fill()
        try flip("0.ts")
        #expect(truncate(video.path + "/1.ts", 5) == 0)
        #expect(truncate(video.path + "/2.ts", 5000) == 0)
        // Equal lengths: only the bytes differ.
        try commit([UInt8](repeating: 33, count: 1003), as: "10.ts")
        await store.flush()
        try video.move("3.ts", to: video, as: "x")
        try video.move("10.ts", to: video, as: "3.ts")
        try video.move("x", to: video, as: "10.ts")
        try video.remove("4.ts")
        let told = Mutex<[String: PieceFault]>([:])
        let result = try await verify { name, fault in told.withLock { $0[name] = fault } }
        let wanted: [String: PieceFault] = [
            "0.ts": .bytes, "1.ts": .length, "2.ts": .length, "3.ts": .bytes, "10.ts": .bytes,
        ]
        #expect(result.faults == wanted)
        #expect(told.withLock { $0 } == wanted)
        #expect(result.sound.keys.sorted() == ["5.ts", "6.ts", "7.ts", "8.ts", "9.ts"])
        #expect(
            folder.files().filter { $0.hasSuffix(".ts") || $0.hasPrefix("tmp/") }
                == (5...9).map { "assets/a/video/\($0).ts" })
        #expect(try await verify().faults.isEmpty)
    }

    @Test func adoptsAPieceWithoutALine() async throws {
        try await fill()
        try video.write([1, 2, 3], as: "11.ts")
        let result = try await verify()
        #expect(result.adopted == 1 && result.sound["11.ts"]?.size == 3)
        try await waitUntil("a line") { try pieces.ledger()?.entries["11.ts"]?.size == 3 }
    }

    @Test func verifiesAReplacedPieceByItsOwnLine() async throws {
        try await fill()
        try commit(Array("something else".utf8), as: "0.ts")
        // Before and after its line is written.
        #expect(try await verify().faults.isEmpty)
        await store.flush()
        #expect(try await verify().sound["0.ts"]?.size == 14)
        try flip("0.ts")
        #expect(try await verify().faults == ["0.ts": .bytes])
    }

    @Test func skipsAPieceThatIsBeingReplaced() async throws {
        try await fill()
        try flip("0.ts")
        pieces.willAdd("0.ts")
        #expect(try await verify().faults.isEmpty)
        pieces.didFail("0.ts")
        #expect(try await verify().faults == ["0.ts": .bytes])
    }

    @Test func reportsNoFaultsWhilePiecesChange() async throws {
        try await fill()
        let left = Mutex(400)
        let writing = Task {
            defer { left.withLock { $0 = 0 } }
            while left.withLock({ $0 }) > 0 {
                let round = left.withLock { $0 }
                let name = "\(round % 10).ts"
                if round % 3 == 0 {
                    try video.remove(name)
                }
                try commit([UInt8](repeating: UInt8(round % 251), count: 500 + round), as: name)
                left.withLock { $0 -= 1 }
            }
        }
        repeat { #expect(try await verify().faults == [:]) } while left.withLock { $0 } > 0
        try await writing.value
        await store.flush()
        #expect(try await verify().sound.count == 10)
    }

    /// A line of an import or an earlier Weir.
    @Test func addsTheBlocksOfALargePiece() async throws {
        let bytes = [UInt8](repeating: 5, count: Int(Ledger.Entry.blockLimit) + 9)
        try video.write(bytes, as: "0.ts")
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }
        let line = Ledger.lines(of: "0.ts", Ledger.Entry(size: Int64(bytes.count), digest: digest))
        try video.write(line, as: Ledger.fileName)
        #expect(try await verify().faults.isEmpty)
        let entry = try #require(try pieces.ledger()?.entries["0.ts"])
        #expect(entry.digest == digest && entry.blocks.count == 9)
        #expect(entry.blocks[8] == bytes.suffix(9).withUnsafeBytes { Digest(of: $0) })
        guard case .blocks(let digests, let identity) = pieces.check("0.ts", isWhole: false) else {
            Issue.record("the piece was read as a whole")
            return
        }
        #expect(digests == entry.blocks && identity == video.identity(of: "0.ts"))
    }

    @Test func ignoresLinksAndFolders() async throws {
        try await fill()
        #expect(symlink("/etc/passwd", video.path + "/12.ts") == 0)
        _ = try video.subdirectory("13.ts", create: true)
        let result = try await verify()
        #expect(result.faults.isEmpty && result.adopted == 0 && result.sound.count == 10)
    }

    // MARK: Pace

    @Test func keepsARate() {
        let start = ContinuousClock.now
        var rate = ReadingRate(bytesPerSecond: 1000, at: start)
        #expect(rate.next(after: 500, at: start) - start == .seconds(0.5))
        #expect(rate.next(after: 500, at: start + .seconds(0.5)) - start == .seconds(1))
        // It does not catch up after a pause.
        let late = start + .seconds(100)
        #expect(rate.next(after: 1000, at: late) - late == .seconds(0.75))
        var any = ReadingRate(bytesPerSecond: 0, at: start)
        #expect(any.next(after: .max, at: start) == start)
    }

    @Test func stopsReadingAfterACancellation() async throws {
        try await fill()
        let pace = try ReadingPace(bytesPerSecond: 1)
        let work = Task { try await verify(at: pace) }
        try await waitUntil("the first bytes") { pace.bytes > 0 }
        pace.cancel()
        let result = try await work.value
        #expect(!result.isComplete && result.faults.isEmpty && pace.bytes < 1100)
        #expect(folder.files().filter { $0.hasSuffix(".ts") }.count == 10)
    }

    @Test func continuesAfterAPause() async throws {
        try await fill()
        let pace = try ReadingPace(bytesPerSecond: 0)
        pace.isPaused = true
        let work = Task { try await verify(at: pace) }
        await Task.yield()
        #expect(pace.bytes == 0)
        pace.isPaused = false
        #expect(try await work.value.isComplete)
    }

    // MARK: Compaction

    @Test func rewritesALedgerWithMostlyOutdatedLines() async throws {
        try await fill()
        for round in 0..<11 {
            try commit([UInt8](repeating: 7, count: 10 + round), as: "0.ts")
        }
        await store.flush()
        #expect(try pieces.ledger()?.lineCount == 21)
        #expect(try await verify().isComplete)
        #expect(try pieces.ledger()?.lineCount == 10)
        #expect(try pieces.ledger()?.entries["0.ts"]?.size == 20)
        #expect(!folder.files().contains { $0.hasSuffix(".new") })
        #expect(try await verify().faults.isEmpty)
        // Later lines are appended to the new ledger.
        try commit([1], as: "12.ts")
        await store.flush()
        #expect(try pieces.ledger()?.entries.count == 11)
    }

    @Test func keepsALedgerWithTwiceAsManyLines() async throws {
        try await fill()
        for round in 0..<10 {
            try commit([UInt8(round)], as: "0.ts")
        }
        await store.flush()
        _ = try await verify()
        #expect(try pieces.ledger()?.lineCount == 20)
    }

    @Test func emptiesTheLedgerOfAnEmptyFolder() async throws {
        try await fill()
        for number in 0..<10 {
            try video.remove("\(number).ts")
        }
        _ = try await verify()
        #expect(video.size(of: Ledger.fileName) == 0)
    }
}
