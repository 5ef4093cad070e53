import Glibc
import TestSupport
import Testing

@testable import Store

@Suite struct GrowingFileTests {
    let folder: TemporaryFolder
    let directory: Directory
    let bundle: Directory

    init() throws {
        folder = try TemporaryFolder()
        directory = try Directory.open(path: folder.path("tmp"))
        bundle = try Directory.open(path: folder.path("bundle"))
    }

    @Test func appendsBytesInOrder() throws {
        let file = try GrowingFile(in: directory, named: "1")
        try file.append("abc", at: 0)
        try file.append("defg", at: 3)
        #expect(file.written == 7)
        #expect(file.content == "abcdefg")
        #expect(file.state == .open)
        #expect(file.prefix(3) == Array("abc".utf8))
        #expect(file.prefix(64) == Array("abcdefg".utf8))
    }

    @Test(arguments: [(0, "abcdef"), (0, "abcdefgh"), (2, "cdefgh"), (4, "ef"), (0, ""), (6, "gh")])
    func appendsRepeatedBytesOnce(_ offset: Int64, _ text: String) throws {
        let file = try GrowingFile(in: directory, named: "1")
        try file.append("abcdef", at: 0)
        try file.append(text, at: offset)
        #expect(file.content.hasPrefix("abcdef"))
        #expect(file.written == max(6, offset + Int64(text.utf8.count)))
        #expect("abcdefgh".hasPrefix(file.content))
    }

    @Test(arguments: [(0, "abXdef"), (0, "abXdefgh"), (5, "X"), (3, "deX")])
    func refusesDifferentRepeatedBytes(_ offset: Int64, _ text: String) throws {
        let file = try GrowingFile(in: directory, named: "1")
        try file.append("abcdef", at: 0)
        let error = #expect(throws: StoreError.self) { try file.append(text, at: offset) }
        #expect(error?.code == .contentChanged)
        #expect(file.content == "abcdef")
    }

    @Test func comparesALongOverlap() throws {
        let file = try GrowingFile(in: directory, named: "1")
        var bytes = [UInt8](repeating: 7, count: 200_000)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        bytes[199_999] = 8
        #expect(throws: StoreError.self) { try bytes.withUnsafeBytes { try file.write($0, at: 0) } }
        #expect(file.written == 200_000)
    }

    @Test func refusesAGap() throws {
        let file = try GrowingFile(in: directory, named: "1")
        try file.append("abc", at: 0)
        let error = #expect(throws: StoreError.self) { try file.append("e", at: 4) }
        #expect(error?.code == .wrongLength)
        #expect(file.written == 3)
    }

    // MARK: Observers

    @Test func notifiesObserversUntilTheyUnsubscribe() throws {
        let file = try GrowingFile(in: directory, named: "1")
        var heard: [Int64] = []
        let id = file.subscribe { [unowned file] in heard.append(file.written + Int64(file.fresh?.count ?? 0)) }
        try file.append("abc", at: 0)
        try file.append("abc", at: 0)  // No new bytes.
        file.finish()
        file.finish()
        file.unsubscribe(id)
        file.fail()
        #expect(heard == [3, 3, 3])
        #expect(file.state == .complete)
    }

    @Test func showsFreshBytesOnceBeforeTheyAreWritten() throws {
        let file = try GrowingFile(in: directory, named: "1")
        var heard: [String] = []
        let id = file.subscribe { [unowned file] in
            heard.append(
                "\(file.written):" + String(decoding: file.fresh ?? .init(start: nil, count: 0), as: UTF8.self))
        }
        try file.append("abc", at: 0)
        try file.append("cde", at: 2)  // Known bytes are not fresh.
        #expect(file.fresh == nil)
        file.unsubscribe(id)
        #expect(heard == ["0:abc", "3:", "3:de", "5:"])
    }

    @Test func doesNotCallAnObserverRemovedByAnother() throws {
        let file = try GrowingFile(in: directory, named: "1")
        var heard = 0
        var ids: [Int] = []
        for _ in 0..<2 {
            ids.append(
                file.subscribe {
                    heard += 1
                    ids.forEach(file.unsubscribe)
                })
        }
        try file.append("a", at: 0)
        #expect(heard == 1)
    }

    @Test func continuesAFailedFile() throws {
        let file = try GrowingFile(in: directory, named: "1")
        try file.append("abc", at: 0)
        file.fail()
        #expect(file.state == .failed)
        file.reopen()
        try file.append("def", at: 3)
        file.finish()
        file.reopen()
        #expect(file.state == .complete)
        #expect(file.content == "abcdef")
    }

    // MARK: The end of it

    @Test func keepsReadersAfterACommit() throws {
        let file = try GrowingFile(in: directory, named: "1")
        try file.append("abc", at: 0)
        try file.commit(to: PieceDirectory(bundle), as: "0.ts")
        #expect(folder.files() == ["bundle/0.ts"])
        #expect(try bundle.read("0.ts") == Array("abc".utf8))
        #expect(file.content == "abc")
    }

    @Test func keepsACommittedFileWithoutItsWriter() throws {
        do {
            let file = try GrowingFile(in: directory, named: "1")
            try file.append("abc", at: 0)
            try file.commit(to: PieceDirectory(bundle), as: "0.ts")
        }
        #expect(folder.files() == ["bundle/0.ts"])
    }

    @Test func leavesNothingOfADroppedFile() throws {
        do {
            let file = try GrowingFile(in: directory, named: "1")
            try file.append("abc", at: 0)
            #expect(folder.files() == ["tmp/1"])
        }
        #expect(folder.files().isEmpty)
    }

    @Test func keepsBytesReadableAfterAFailedCommit() throws {
        let file = try GrowingFile(in: directory, named: "1")
        try file.append("abc", at: 0)
        rmdir(bundle.path)
        let error = #expect(throws: StoreError.self) { try file.commit(to: PieceDirectory(bundle), as: "0.ts") }
        #expect(error?.code == .missing)
        #expect(file.content == "abc")
    }

    @Test func refusesANameInUse() throws {
        let file = try GrowingFile(in: directory, named: "1")
        #expect(throws: StoreError.self) { try GrowingFile(in: directory, named: "1") }
        #expect(file.isKeepable)
    }

    @Test(arguments: [true, false])
    func cannotCommitAFileWithoutAName(_ onDisk: Bool) throws {
        let file = try GrowingFile(anonymousIn: onDisk ? directory : nil)
        try file.append("abc", at: 0)
        #expect(!file.isKeepable)
        #expect(throws: StoreError.self) { try file.commit(to: PieceDirectory(bundle), as: "0.ts") }
        #expect(file.content == "abc")
        #expect(folder.files().isEmpty)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting takes root"))
    func movesTheFileIntoMemoryOnAFullDisk() async throws {
        let disk = try await SmallDisk.folder(size: 65_536)
        let file = try GrowingFile(in: disk, named: "1")
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let before = file.descriptor
        for start in stride(from: 0, to: bytes.count, by: 10_000) {
            try bytes[start..<start + 10_000].withUnsafeBytes { try file.write($0, at: Int64(start)) }
        }
        #expect(file.written == 300_000)
        #expect(file.prefix(300_000) == bytes)
        #expect(file.spillReason?.code == .diskFull)
        #expect(!file.isKeepable)
        #expect(fcntl(before, F_GETFD) == -1 || file.descriptor != before)
        #expect(try disk.names().isEmpty)
        let error = #expect(throws: StoreError.self) { try file.commit(to: PieceDirectory(disk), as: "0.ts") }
        #expect(error?.code == .diskFull)
    }
}

extension GrowingFile {
    fileprivate func append(_ text: String, at offset: Int64) throws {
        try Array(text.utf8).withUnsafeBytes { try write($0, at: offset) }
    }

    fileprivate var content: String { String(decoding: prefix(.max), as: UTF8.self) }
}
