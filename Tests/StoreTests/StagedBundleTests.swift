import Foundation
import Glibc
import TestSupport
import Testing

@testable import Store

@Suite struct StagedBundleTests {
    private let folder: TemporaryFolder
    private let source: String

    init() throws {
        folder = try TemporaryFolder()
        source = folder.path("all.ts")
        try Data("0123456789".utf8).write(to: URL(filePath: source))
    }

    private func withSource(_ body: (Int32) throws -> Void) throws {
        let file = open(source, O_RDONLY)
        defer { close(file) }
        try body(file)
    }

    @Test func commitsABundleWithItsLedgerInOneStep() async throws {
        let store = try BundleStore(path: folder.path("store"), reserve: 0)
        let staged = try store.stage("film-2222")
        try withSource { file in
            try staged.add("0.ts", to: "video", from: file, 0..<4, path: source)
            try staged.add("1.ts", to: "video", from: file, 4..<10, path: source)
        }
        #expect(throws: StoreError.self) { try store.bundle("film-2222", create: false) }
        try staged.commit()
        let video = try store.bundle("film-2222", create: false).subdirectory("video")
        #expect(try video.read("1.ts") == Array("456789".utf8))
        let ledger = try #require(try store.pieces(in: video).ledger())
        #expect(ledger.entries.keys.sorted() == ["0.ts", "1.ts"])
        let check = try await ProcessRunner.run(
            "sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], folder: video.path)
        #expect(check.exit == .code(0), "\(check.errors)")
    }

    /// Its beginning is sent before its end is verified.
    @Test func aLargePieceHasBlocks() throws {
        let store = try BundleStore(path: folder.path("store"), reserve: 0)
        let staged = try store.stage("film-2222")
        #expect(truncate(source, off_t(Ledger.Entry.blockLimit) + 1) == 0)
        try withSource { file in
            try staged.add("0.ts", to: "video", from: file, 0..<Ledger.Entry.blockLimit + 1, path: source)
        }
        try staged.commit()
        let video = try store.bundle("film-2222", create: false).subdirectory("video")
        #expect(try store.pieces(in: video).ledger()?.entries["0.ts"]?.blocks.count == 9)
    }

    @Test func refusesAShorterOrDifferentFile() throws {
        let store = try BundleStore(path: folder.path("store"), reserve: 0)
        let staged = try store.stage("film-2222")
        try withSource { file in
            #expect(throws: StoreError.self) {
                try staged.add("0.ts", to: "video", from: file, 4..<11, path: source)
            }
            let other = [UInt8]("012345678x".utf8).withUnsafeBytes { Digest(of: $0) }
            #expect(throws: StoreError.self) {
                try staged.add("0.ts", to: "video", from: file, 0..<10, expecting: other, path: source)
            }
        }
        staged.discard()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("store/tmp")) == [])
    }

    @Test func doesNotReplaceAnExistingBundle() throws {
        let store = try BundleStore(path: folder.path("store"), reserve: 0)
        try store.bundle("film-2222", create: true).write([1], as: "master.m3u8")
        let staged = try store.stage("film-2222")
        try withSource { try staged.add("0.ts", to: "video", from: $0, 0..<4, path: source) }
        #expect(throws: StoreError.self) { try staged.commit() }
        #expect(try store.bundle("film-2222", create: false).read("master.m3u8") == [1])
    }
}
