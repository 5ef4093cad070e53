import Assets
import EventLoop
import Fetching
import Foundation
import Glibc
import Orders
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// A piece that another program changes while Weir runs.
@Suite("S31: a piece that is changed in place") @LoopActor struct ChangedPieceTests {
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let keepsBytes: Bool
        let perform: @Sendable (_ file: String, _ elsewhere: String) throws -> Void

        private init(
            _ testDescription: String, keepsBytes: Bool = false,
            perform: @escaping @Sendable (_ file: String, _ elsewhere: String) throws -> Void
        ) {
            self.testDescription = testDescription
            self.keepsBytes = keepsBytes
            self.perform = perform
        }

        static let all = [
            Change("its permissions", keepsBytes: true) { file, _ in #expect(chmod(file, 0o644) == 0) },
            Change("its times", keepsBytes: true) { file, _ in #expect(utimes(file, nil) == 0) },
            Change("a second name", keepsBytes: true) { file, other in #expect(link(file, other) == 0) },
            Change("the same bytes again", keepsBytes: true) { file, _ in
                let bytes = try Data(contentsOf: URL(filePath: file))
                let handle = try FileHandle(forUpdating: URL(filePath: file))
                try handle.write(contentsOf: bytes)
                try handle.close()
            },
            Change("a copy in its place", keepsBytes: true) { file, _ in
                let bytes = try Data(contentsOf: URL(filePath: file))
                try bytes.write(to: URL(filePath: file), options: .atomic)
            },
            Change("a bit") { file, _ in try FileDamage.flipBit(of: file) },
            Change("a bit, and its times as before") { file, _ in
                var status = stat()
                #expect(stat(file, &status) == 0)
                try FileDamage.flipBit(of: file)
                #expect(utimensat(AT_FDCWD, file, [status.st_atim, status.st_mtim], 0) == 0)
            },
            Change("a bit, by its second name") { file, other in
                #expect(link(file, other) == 0)
                try FileDamage.flipBit(of: other)
            },
            Change("another file in its place") { file, _ in
                let count = try Data(contentsOf: URL(filePath: file)).count
                try Data(repeating: 7, count: count).write(to: URL(filePath: file), options: .atomic)
            },
            Change("a shorter one") { file, _ in #expect(truncate(file, 3) == 0) },
            Change("a longer one") { file, _ in
                let handle = try FileHandle(forUpdating: URL(filePath: file))
                try handle.seekToEnd()
                try handle.write(contentsOf: Data("TAG".utf8))
                try handle.close()
            },
        ]
    }

    private struct Piece {
        let path: String
        let file: String
        let bytes: Data
    }

    /// Plays a piece, so that it is stored, and once more, from the store.
    private func play(_ end: String, in fixture: TestHouse) async throws -> Piece {
        let paths = try await fixture.media(fixture.typed("/aes/master.m3u8"))
        let path = try #require(paths.first { $0.hasSuffix(end) })
        let bytes = try await fixture.get(path).body
        #expect(try await fixture.get(path).body == bytes)
        let asset = try #require(fixture.library.assets.first)
        let name = path.split(separator: "/").suffix(2).joined(separator: "/")
        try await DiskTick.pass(in: fixture.folder)
        return Piece(path: path, file: fixture.folder.path("assets/\(asset.id)/" + name), bytes: bytes)
    }

    @Test("is sent as it was: verified, or fetched again", arguments: Change.all, ["/0.ts", "/0.key"])
    func online(change: Change, end: String) async throws {
        // Before and after its line is in the ledger.
        for isSynced in [false, true] {
            let fixture = try await TestHouse(.playback())
            let piece = try await play(end, in: fixture)
            if isSynced {
                await fixture.flush()
            }
            try change.perform(piece.file, fixture.folder.path("second"))
            for _ in 0..<2 {
                #expect(try await fixture.get(piece.path).body == piece.bytes)
            }
            // Before its digest is known nothing says that its bytes are the same.
            if isSynced || !change.keepsBytes {
                #expect(try await fixture.mediaPaths().count == (change.keepsBytes ? 1 : 2), "\(isSynced)")
            }
            #expect(try Data(contentsOf: URL(filePath: piece.file)) == piece.bytes)
        }
    }

    @Test("is not sent offline if its bytes are others", arguments: Change.all, ["/0.ts", "/0.key"])
    func offline(change: Change, end: String) async throws {
        let fixture = try await TestHouse(.playback())
        let piece = try await play(end, in: fixture)
        await fixture.flush()
        fixture.library.mode = .offline
        try change.perform(piece.file, fixture.folder.path("second"))
        let answer = try await fixture.get(piece.path)
        #expect(change.keepsBytes ? answer.body == piece.bytes : answer.status >= 400, "\(answer.status)")
    }

    @Test("by Weir itself needs no verification")
    func ownChanges() async throws {
        let fixture = try await TestHouse(.playback())
        let piece = try await play("/0.ts", in: fixture)
        await fixture.flush()
        let asset = try #require(fixture.library.assets.first)
        let folder = try #require(asset.folders.first { $0.contains("0.ts") })
        folder.recordUse(of: "0.ts", at: 1_000_000)
        let opened = try #require(folder.openPiece("0.ts"))
        close(opened.descriptor)
        guard case .verified = opened.state else {
            Issue.record("\(opened.state)")
            return
        }
        #expect(chmod(piece.file, 0o640) == 0)
        let changed = try #require(folder.openPiece("0.ts"))
        close(changed.descriptor)
        guard case .changed = changed.state else {
            Issue.record("\(changed.state)")
            return
        }
    }
}
