import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Store

/// Syncing of pieces, and writing of their lines.
@Suite struct SyncThreadTests {
    let folder: TemporaryFolder
    let store: BundleStore
    let video: Directory

    init() throws {
        folder = try TemporaryFolder()
        store = try BundleStore(path: folder.path, reserve: 0)
        video = try store.bundle("a", create: true).subdirectory("video", create: true)
    }

    private func commit(_ text: String, as name: String, to pieces: PieceDirectory) throws {
        let file = try store.growingFile(named: name)
        try file.append(Array(text.utf8), at: 0)
        try file.commit(to: pieces, as: name)
    }

    private func gather(_ text: String, as name: String, to pieces: PieceDirectory) throws {
        let file = try store.gatheringFile(named: name)
        try file.append(Array(text.utf8), at: 0)
        store.commit([BundleStore.Commit(try #require(file.handOver()), to: pieces, as: name)]) { _ in }
    }

    @Test func writesALineForEachPiece() async throws {
        let pieces = store.pieces(in: video)
        try commit("abc", as: "0.ts", to: pieces)
        try gather("def", as: "1.ts", to: pieces)
        await store.flush()
        let entries = try #require(try pieces.ledger()).entries
        #expect(
            entries == [
                "0.ts": Ledger.Entry(size: 3, digest: Digest(of: Array("abc".utf8))),
                "1.ts": Ledger.Entry(size: 3, digest: Digest(of: Array("def".utf8))),
            ])
        let check = try await ProcessRunner.run(
            "sh", ["-c", "cd '\(folder.path("assets/a/video"))' && sha256sum --check --strict SHA256SUMS"])
        #expect(check.exit == .code(0), "\(check.errors)")
        #expect(check.output == "0.ts: OK\n1.ts: OK\n")
    }

    /// The numbers of open descriptors of the piece `0.ts`.
    private func openPieces() throws -> Int {
        let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { number in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
        }
        return links.count { $0 == folder.path("assets/a/video/0.ts") }
    }

    @Test("A piece is open once for its readers and its sync, and is closed with the last of them")
    func sharesTheOpenFile() async throws {
        let pieces = store.pieces(in: video)
        do {
            let file = try store.growingFile(named: "0")
            try file.append(Array("abc".utf8), at: 0)
            try file.commit(to: pieces, as: "0.ts")
            #expect(try openPieces() == 1)
            await store.flush()
            #expect(file.bytes(from: 0, count: 3) == Array("abc".utf8))
            #expect(try openPieces() == 1)
        }
        #expect(try openPieces() == 0)
        try commit("def", as: "0.ts", to: pieces)
        await store.flush()
        #expect(try openPieces() == 0)
    }

    @Test("The line of a gathered piece has the digest of what has arrived, whatever becomes of its file")
    func keepsTheDigestOfGatheredBytes() async throws {
        let pieces = store.pieces(in: video)
        try gather("abc", as: "0.ts", to: pieces)
        await store.finishCommits()
        try Data("xyz".utf8).write(to: URL(fileURLWithPath: folder.path("assets/a/video/0.ts")))
        await store.flush()
        let entry = try #require(try pieces.ledger()).entries["0.ts"]
        #expect(entry == Ledger.Entry(size: 3, digest: Digest(of: Array("abc".utf8))))
    }

    @Test func syncsAGroupOfSixteenAtOnce() async throws {
        let pieces = store.pieces(in: video)
        for number in 0..<16 {
            try commit("\(number)", as: "\(number).ts", to: pieces)
        }
        try await waitUntil("sixteen lines") { try pieces.ledger()?.lineCount == 16 }
    }

    @Test func syncsASinglePieceSoon() async throws {
        let pieces = store.pieces(in: video)
        try commit("abc", as: "0.ts", to: pieces)
        try await waitUntil("a line") { try pieces.ledger()?.lineCount == 1 }
    }

    @Test func writesAllLinesBeforeTheStoreCloses() throws {
        let other = try TemporaryFolder()
        do {
            let store = try BundleStore(path: other.path, reserve: 0)
            let pieces = store.pieces(in: try store.bundle("a", create: true).subdirectory("v", create: true))
            for number in 0..<200 {
                let file = try store.growingFile(named: "\(number)")
                try file.append([UInt8(number)], at: 0)
                try file.commit(to: pieces, as: "\(number).ts")
            }
        }
        let lines = Ledger(Array(try Data(contentsOf: URL(fileURLWithPath: other.path("assets/a/v/SHA256SUMS")))))
        #expect(lines.entries.count == 200)
        #expect(try Data(contentsOf: URL(fileURLWithPath: other.path("lock"))).isEmpty)
    }

    @Test func writesALineForAFoundPiece() async throws {
        try video.write(Array("abc".utf8), as: "0.ts")
        try video.write(Array("#EXTM3U".utf8), as: "media.m3u8")
        let pieces = store.pieces(in: video)
        let found = try pieces.pieces { $0.hasSuffix(".ts") }
        #expect(found.keys.sorted() == ["0.ts"])
        try await waitUntil("a line") { try pieces.ledger()?.entries.keys.sorted() == ["0.ts"] }
        // No second line.
        _ = try pieces.pieces { $0.hasSuffix(".ts") }
        await store.flush()
        #expect(try pieces.ledger()?.lineCount == 1)
    }

    @Test func skipsAPieceRemovedBeforeItsSync() async throws {
        let pieces = store.pieces(in: video)
        pieces.didAdd("0.ts", size: 1, descriptor: nil)  // Removed meanwhile.
        #expect(pieces.expected("0.ts") != nil)
        await store.flush()
        #expect(pieces.expected("0.ts") == nil)
        #expect(try pieces.ledger()?.entries ?? [:] == [:])
    }

    @Test func syncsAGrowingText() async throws {
        let pieces = store.pieces(in: video)
        let text = try AppendedFile(in: pieces, named: "recorded.m3u8", length: 0)
        for block in ["#EXTM3U\n", "#EXT-X-TARGETDURATION:6\n"] {
            try text.append(Array(block.utf8))
        }
        await store.flush()
        #expect(try video.read("recorded.m3u8").map { String(decoding: $0, as: UTF8.self) }?.hasSuffix(":6\n") ?? false)
        #expect(try pieces.ledger()?.entries ?? [:] == [:] && pieces.expected("recorded.m3u8") == nil)
        // A failed sync discards the group's pieces; the text stays.
        try commit("abc", as: "0.ts", to: pieces)
        pieces.didGrow("recorded.m3u8", descriptor: try unsyncable())
        await store.flush()
        #expect(
            folder.files().filter { !$0.hasSuffix("SHA256SUMS") && $0.contains("assets/") } == [
                "assets/a/video/recorded.m3u8"
            ])
    }

    @Test func deletesAPieceOfAnotherLength() async throws {
        let pieces = store.pieces(in: video)
        for name in ["0.ts", "1.ts"] {
            try commit("abc", as: name, to: pieces)
        }
        await store.flush()
        #expect(truncate(video.path + "/0.ts", 2) == 0)
        #expect(try store.pieces(in: video).pieces { $0.hasSuffix(".ts") }.keys.sorted() == ["1.ts"])
        #expect(folder.files().filter { $0.hasSuffix(".ts") } == ["assets/a/video/1.ts"])
    }

    @Test func keepsOnlyPiecesWithALineAfterAPowerCut() async throws {
        let pieces = store.pieces(in: video)
        try commit("abc", as: "0.ts", to: pieces)
        await store.flush()
        try video.write(Array("torn".utf8), as: "1.ts")
        let found = try store.pieces(in: video).pieces(isDoubtful: true) { $0.hasSuffix(".ts") }
        #expect(found.keys.sorted() == ["0.ts"])
        #expect(video.size(of: "1.ts") == nil)
    }

    @Test func keepsAFolderWithoutALedgerAfterAPowerCut() async throws {
        try video.write(Array("abc".utf8), as: "0.ts")
        let pieces = store.pieces(in: video)
        #expect(try pieces.pieces(isDoubtful: true) { $0.hasSuffix(".ts") }.count == 1)
    }

    @Test func deletesPiecesBesideAnEmptyLedgerAfterAPowerCut() async throws {
        // Not listed before: a listing without a ledger soon gives the piece its line.
        try video.write(Array("abc".utf8), as: "0.ts")
        store.pieces(in: video).begin()
        #expect(try store.pieces(in: video).pieces(isDoubtful: true) { $0.hasSuffix(".ts") }.isEmpty)
    }

    @Test(arguments: ["", "unfinished line"])
    func appendsLinesAfterACutLine(rest: String) async throws {
        let entry = Ledger.Entry(size: 1, digest: Digest(of: [1]))
        try video.write(Ledger.lines(of: "0.ts", entry) + Array(rest.utf8), as: Ledger.fileName)
        let pieces = store.pieces(in: video)
        try commit("abc", as: "1.ts", to: pieces)
        await store.flush()
        #expect(try pieces.ledger()?.entries.keys.sorted() == ["0.ts", "1.ts"])
    }

    // MARK: Faults

    /// Makes a descriptor that cannot be synced.
    private func unsyncable() throws -> Int32 {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[1])
        return ends[0]
    }

    @Test func discardsTheGroupOfAFailedSync() async throws {
        let told = Mutex<[String]>([])
        let pieces = store.pieces(in: video) { name, error in
            told.withLock { $0.append(name) }
        }
        for name in ["0.ts", "1.ts"] {
            try commit("abc", as: name, to: pieces)
        }
        try video.write([1], as: "2.ts")
        pieces.didAdd("2.ts", size: 1, descriptor: SharedDescriptor(try unsyncable()))
        await store.flush()
        #expect(told.withLock { $0.sorted() } == ["0.ts", "1.ts", "2.ts"])
        #expect(folder.files().filter { $0.hasSuffix(".ts") }.isEmpty)
        #expect(try pieces.ledger()?.entries ?? [:] == [:])
        // A new piece is stored.
        try commit("abc", as: "0.ts", to: pieces)
        await store.flush()
        #expect(try pieces.ledger()?.entries.keys.sorted() == ["0.ts"])
    }

    @Test func storesNothingAfterFiveFailedSyncs() async throws {
        let pieces = store.pieces(in: video)
        for number in 0..<5 {
            try store.checkRoom()
            pieces.didAdd("\(number).ts", size: 1, descriptor: SharedDescriptor(try unsyncable()))
            await store.flush()
        }
        let error = #expect(throws: StoreError.self) { try store.checkRoom() }
        #expect(error?.code == .io)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting takes root"))
    func writesLinesThatDidNotFitLater() async throws {
        let disk = try await SmallDisk.folder(size: 16_384)
        let pieces = store.pieces(in: disk)
        try disk.write([1], as: "0.ts")
        var rest = 0
        while (try? disk.write([UInt8](repeating: 1, count: 4096), as: "rest-\(rest)")) != nil {
            rest += 1
        }
        pieces.didAdd("0.ts", size: 1, descriptor: nil)
        await store.flush()
        #expect(try pieces.ledger()?.entries ?? [:] == [:])
        for number in 0..<rest {
            try disk.remove("rest-\(number)")
        }
        try disk.write([2], as: "1.ts")
        pieces.didAdd("1.ts", size: 1, descriptor: nil)
        await store.flush()
        #expect(try pieces.ledger()?.entries.keys.sorted() == ["0.ts", "1.ts"])
    }

    // MARK: The boot

    @Test func trustsAKilledProcessOfTheSameBoot() throws {
        let other = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path("lock"), toPath: other.path("lock"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: other.path("lock"))).contains(UInt8(ascii: "-")))
        #expect(!(try BundleStore(path: other.path)).isAfterPowerLoss)
    }

    @Test func doubtsAnEarlierBootUntilFoldersAreChecked() throws {
        let other = try TemporaryFolder()
        try other.write(Data("00000000-0000-0000-0000-000000000000\n".utf8), to: "lock")
        // Without a check, the next start finds the same.
        do { #expect(try BundleStore(path: other.path).isAfterPowerLoss) }
        do {
            let store = try BundleStore(path: other.path)
            #expect(store.isAfterPowerLoss)
            store.markRecovered()
            #expect(!store.isAfterPowerLoss)
        }
        #expect(!(try BundleStore(path: other.path)).isAfterPowerLoss)
    }
}
