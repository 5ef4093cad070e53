import Dispatch
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Store

/// Files gathered in memory, and the thread that writes them as pieces.
@Suite struct GatheringTests {
    let folder: TemporaryFolder
    let directory: Directory
    let bundle: Directory
    var pieces: PieceDirectory { PieceDirectory(bundle) }

    init() throws {
        folder = try TemporaryFolder()
        directory = try Directory.open(path: folder.path("tmp"))
        bundle = try Directory.open(path: folder.path("bundle"))
    }

    private func gathering(_ text: String = "", in directory: Directory? = nil) throws -> GrowingFile {
        let file = GrowingFile(gatheringIn: directory ?? self.directory, named: "1")
        if !text.isEmpty {
            try file.append(Array(text.utf8), at: 0)
        }
        return file
    }

    @Test func keepsASmallFileInMemoryUntilItsCommit() throws {
        let file = try gathering("abc")
        try file.append(Array("bcdefg".utf8), at: 1)
        #expect(file.written == 7 && file.isKeepable)
        #expect(file.prefix(3) == Array("abc".utf8))
        #expect(file.bytes(from: 5, count: 9) == Array("fg".utf8))
        #expect(file.bytes(from: 9, count: 9).isEmpty)
        #expect(folder.files().isEmpty)
        try #require(file.handOver()).commit(to: pieces, as: "0.ts")
        #expect(folder.files() == ["bundle/0.ts"])
        #expect(try bundle.read("0.ts") == Array("abcdefg".utf8))
        #expect(file.prefix(9) == Array("abcdefg".utf8))
        #expect(!file.isKeepable && file.handOver() == nil)
    }

    @Test func refusesDifferentBytes() throws {
        let file = try gathering("abcdef")
        for (offset, text) in [(0, "abX"), (3, "deX"), (5, "Xgh")] {
            let error = #expect(throws: StoreError.self) { try file.append(Array(text.utf8), at: Int64(offset)) }
            #expect(error?.code == .contentChanged)
        }
        #expect(file.prefix(9) == Array("abcdef".utf8))
    }

    @Test func makesAFileOfManyBytes() throws {
        let file = try gathering()
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        for start in stride(from: 0, to: bytes.count, by: 10_000) {
            try file.append(Array(bytes[start..<start + 10_000]), at: Int64(start))
        }
        #expect(folder.files() == ["tmp/1"])
        #expect(file.written == 200_000 && file.prefix(200_000) == bytes)
        #expect(file.handOver() == nil)
        try file.commit(to: pieces, as: "0.ts")
        #expect(try bundle.read("0.ts") == bytes)
    }

    @Test(arguments: [(nil, false), (0, true), (6, true), (64 << 10, true), (64 << 10 + 1, false)] as [(Int64?, Bool)])
    func takesSmallPartsWhereAllOfThemFit(length: Int64?, takesThem: Bool) throws {
        let file = try gathering()
        #expect(!file.takesSmallParts)
        file.expect(length)
        #expect(file.takesSmallParts == takesThem)
        try file.append(Array("abc".utf8), at: 0)
        #expect(file.takesSmallParts == takesThem)
        try file.materialize()
        #expect(!file.takesSmallParts)
        #expect(content(of: file.descriptor) == "abc")
    }

    @Test func makesAFileForAReader() throws {
        let file = try gathering("abc")
        try file.materialize()
        #expect(folder.files() == ["tmp/1"])
        #expect(content(of: file.descriptor) == "abc")
        try file.append(Array("def".utf8), at: 3)
        #expect(content(of: file.descriptor) == "abcdef")
        #expect(file.isKeepable && file.handOver() == nil)
        try file.commit(to: pieces, as: "0.ts")
        #expect(folder.files() == ["bundle/0.ts"])
    }

    @Test func readsHandedOverBytesWithoutTouchingThePiece() throws {
        let file = try gathering("abc")
        let gathered = try #require(file.handOver())
        #expect(content(of: file.descriptor) == "abc")
        #expect(folder.files().isEmpty)
        try gathered.commit(to: pieces, as: "0.ts")
        #expect(folder.files() == ["bundle/0.ts"])
        #expect(file.spillReason == nil)
    }

    @Test func leavesNothingWhenDropped() throws {
        _ = try gathering("abc")
        try gathering("abc").materialize()
        _ = try gathering("abc").handOver()
        #expect(folder.files().isEmpty)
    }

    @Test func reportsAMissingFolderAndAllowsARetry() throws {
        let gathered = try #require(try gathering("abc").handOver())
        rmdir(bundle.path)
        let error = #expect(throws: StoreError.self) { try gathered.commit(to: pieces, as: "0.ts") }
        #expect(error?.code == .missing && error?.path == bundle.path + "/0.ts")
        #expect(folder.files().isEmpty)
        try gathered.commit(to: PieceDirectory(try Directory.open(path: bundle.path)), as: "0.ts")
        #expect(folder.files() == ["bundle/0.ts"])
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting takes root"))
    func leavesNothingOnAFullDisk() async throws {
        let disk = try await SmallDisk.folder(size: 16_384)
        let file = GrowingFile(gatheringIn: disk, named: "1")
        let bytes = [UInt8](repeating: 7, count: 50_000)
        try file.append(bytes, at: 0)
        let error = #expect(throws: StoreError.self) {
            try file.handOver()?.commit(to: PieceDirectory(disk), as: "0.ts")
        }
        #expect(error?.code == .diskFull)
        #expect(try disk.names().isEmpty)
        #expect(file.prefix(50_000) == bytes)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting takes root"))
    func movesAReadFileIntoMemoryOnAFullDisk() async throws {
        let disk = try await SmallDisk.folder(size: 16_384)
        let file = GrowingFile(gatheringIn: disk, named: "1")
        let bytes = [UInt8](repeating: 7, count: 50_000)
        try file.append(bytes, at: 0)
        try file.materialize()
        #expect(file.spillReason?.code == .diskFull && !file.isKeepable && file.handOver() == nil)
        #expect(try disk.names().isEmpty)
        #expect(file.prefix(50_000) == bytes)
    }

    // MARK: The store's thread

    @Test func commitsInOrderAndReportsErrors() async throws {
        let store = try BundleStore(path: folder.path("store"))
        let bundle = try store.bundle("a", create: true)
        try folder.write(Data("x".utf8), to: "store/assets/a/1.ts/in-the-way")
        let commits = try (0..<3).map { number in
            let file = try store.gatheringFile(named: "\(number)")
            try file.append([UInt8(number)], at: 0)
            return BundleStore.Commit(try #require(file.handOver()), to: store.pieces(in: bundle), as: "\(number).ts")
        }
        let results = await withCheckedContinuation { continuation in
            store.commit(commits) { continuation.resume(returning: $0) }
        }
        let failures = results.map { result -> StoreError? in
            switch result {
            case .success: nil
            case .failure(let error): error
            }
        }
        #expect(try results[0].get() == bundle.identity(of: "0.ts"))
        #expect(failures.map { $0 == nil } == [true, false, true])
        #expect(failures[1]?.path.hasSuffix("/a/1.ts") == true)
        // The sync thread may have written the ledger already.
        let pieces = folder.files().filter { $0.hasPrefix("store/assets") && $0.hasSuffix(".ts") }
        #expect(pieces.count == 2)
        #expect(!folder.files().contains { $0.hasPrefix("store/tmp") })
    }

    @Test func commitsAllPiecesBeforeTheStoreCloses() throws {
        do {
            let store = try BundleStore(path: folder.path("store"))
            let bundle = try store.bundle("a", create: true)
            for number in 0..<100 {
                let file = try store.gatheringFile(named: "\(number)")
                try file.append([UInt8(number)], at: 0)
                store.commit([
                    BundleStore.Commit(try #require(file.handOver()), to: store.pieces(in: bundle), as: "\(number).ts")
                ]) { _ in }
            }
        }
        #expect(folder.files().count { $0.hasPrefix("store/assets/a/") && $0.hasSuffix(".ts") } == 100)
    }

    /// Commits a piece that the store's thread does not write before the gate opens.
    private func hold(_ store: BundleStore, before bundle: Directory) throws -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        store.worker?.submit { _ = gate.wait(timeout: .now() + 30) }
        let file = try store.gatheringFile(named: "1")
        try file.append([1], at: 0)
        store.commit([BundleStore.Commit(try #require(file.handOver()), to: store.pieces(in: bundle), as: "0.ts")]) {
            _ in
        }
        return gate
    }

    @Test func finishCommitsWaitsForPendingCommits() async throws {
        let store = try BundleStore(path: folder.path("store"))
        let bundle = try store.bundle("a", create: true)
        let gate = try hold(store, before: bundle)
        async let finished: Void = store.finishCommits()
        #expect(bundle.openIfPresent("0.ts") == nil)
        gate.signal()
        await finished
        #expect(try bundle.read("0.ts") == [1])
    }

    @Test func removesPendingCommitsWithTheirBundle() async throws {
        let store = try BundleStore(path: folder.path("store"))
        let bundle = try store.bundle("a", create: true)
        let gate = try hold(store, before: bundle)
        try store.removeBundle("a")
        gate.signal()
        let path = folder.path("store/tmp")
        try await waitUntil("nothing on its way") {
            try FileManager.default.contentsOfDirectory(atPath: path).isEmpty
        }
        #expect(!folder.files().contains { $0.hasPrefix("store/assets") })
    }

    private func content(of descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

extension GrowingFile {
    func append(_ bytes: [UInt8], at offset: Int64) throws {
        try bytes.withUnsafeBytes { try write($0, at: offset) }
    }
}
