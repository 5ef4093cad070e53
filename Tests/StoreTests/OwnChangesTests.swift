import Foundation
import Glibc
import TestSupport
import Testing

@testable import Store

@Suite("S31: Weir's own changes of a file's status") struct OwnChangesTests {
    private let folder: TemporaryFolder
    private let store: BundleStore
    private let video: Directory
    private let pieces: PieceDirectory

    init() throws {
        folder = try TemporaryFolder()
        store = try BundleStore(path: folder.path("store"), reserve: 0)
        video = try store.bundle("film", create: true).subdirectory("video", create: true)
        pieces = store.pieces(in: video)
        try video.write([UInt8](repeating: 7, count: 1000), as: "0.ts")
    }

    private var identity: FileIdentity { get throws { try #require(video.identity(of: "0.ts")) } }
    private var file: String { video.path + "/0.ts" }

    /// True if only own changes are between two moments, of which the first is before the body.
    private func isExplained(_ body: () async throws -> Void) async throws -> Bool {
        let before = try identity
        try await DiskTick.pass(in: folder)
        try await body()
        let after = try identity
        #expect(before != after)
        return store.ownChanges.explain(before, after)
    }

    @Test("are links, their removal, times of use and permissions, one after the other")
    func own() async throws {
        let work = try Directory.open(path: folder.path("work"))
        var isLinked = false
        let linked = try await isExplained { isLinked = pieces.link("0.ts", into: work) }
        #expect(linked && isLinked)
        let unlinked = try await isExplained { pieces.unlink("0.ts", from: work) }
        #expect(unlinked && folder.files().allSatisfy { !$0.hasPrefix("work/") })
        let used = try await isExplained {
            store.ownChanges.perform(on: "0.ts", in: video) { video.recordUse(of: "0.ts", at: 1000) }
        }
        #expect(used)
        let opened = try await isExplained {
            store.adopt(BundleMode(files: 0o644))
            try await waitUntil("the permissions") { try FileStatus(file).mode == 0o644 }
        }
        #expect(opened)
        let both = try await isExplained {
            _ = pieces.link("0.ts", into: work)
            try await DiskTick.pass(in: folder)
            pieces.unlink("0.ts", from: work)
        }
        #expect(both)
    }

    @Test("are not another program's, before, between or after them")
    func foreign() async throws {
        let work = try Directory.open(path: folder.path("work"))
        let permissions = try await isExplained { _ = chmod(file, 0o640) }
        #expect(!permissions)
        let written = try await isExplained {
            _ = pieces.link("0.ts", into: work)
            try FileDamage.flipBit(of: folder.path("work/0.ts"))
            pieces.unlink("0.ts", from: work)
        }
        #expect(!written)
        let meanwhile = try await isExplained {
            store.ownChanges.perform(on: "0.ts", in: video) { try? FileDamage.flipBit(of: file) }
        }
        #expect(!meanwhile)
    }

    @Test("and a copy on another disk is what was verified, if its bytes are those of the ledger")
    func moved() async throws {
        let disk = try TemporaryFolder()
        let growing = try store.growingFile(named: "1")
        try growing.append([UInt8](repeating: 1, count: 5000), at: 0)
        try growing.commit(to: pieces, as: "1.ts")
        await store.flush()
        let volume = try store.beginMove(to: disk.path("volume"), occupied: [])
        let transit = try BundleTransit(of: "film", from: store.home, to: volume, noting: store.ownChanges) {
            $0.hasSuffix(".ts")
        }
        let before = try ["0.ts", "1.ts"].map { try #require(video.identity(of: $0)) }
        try transit.commit(try ReadingPace(bytesPerSecond: 0))
        let copy = try volume.bundle("film", create: false).subdirectory("video")
        let after = try ["0.ts", "1.ts"].map { try #require(copy.identity(of: $0)) }
        #expect(store.ownChanges.explain(before[1], after[1]))
        #expect(!store.ownChanges.explain(before[0], after[1]))
    }
}

/// The status of a file.
private struct FileStatus {
    let mode: UInt32

    init(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { throw SystemCallError("stat") }
        mode = status.st_mode & 0o777
    }
}
