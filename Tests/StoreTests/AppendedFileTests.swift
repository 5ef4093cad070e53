import Glibc
import TestSupport
import Testing

@testable import Store

@Suite struct AppendedFileTests {
    let folder: TemporaryFolder
    let directory: Directory

    init() throws {
        folder = try TemporaryFolder()
        directory = try Directory.open(path: folder.path)
    }

    private func text() throws -> String? {
        try directory.read("log").map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func appendsBlocks() throws {
        let file = try AppendedFile(in: PieceDirectory(directory), named: "log", length: 0)
        for block in ["one\n", "", "two\n"] {
            try file.append(Array(block.utf8))
        }
        #expect(try text() == "one\ntwo\n")
        #expect(file.length == 8)
    }

    @Test func cutsTheFileToTheKnownLength() throws {
        try directory.write(Array("one\ntw".utf8), as: "log")
        let file = try AppendedFile(in: PieceDirectory(directory), named: "log", length: 4)
        #expect(try text() == "one\n")
        try file.append(Array("two\n".utf8))
        #expect(try text() == "one\ntwo\n")
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting takes root"))
    func writesNothingOfABlockThatDoesNotFit() async throws {
        let disk = try await SmallDisk.folder(size: 65_536)
        let file = try AppendedFile(in: PieceDirectory(disk), named: "log", length: 0)
        try file.append([1, 2, 3])
        let error = #expect(throws: StoreError.self) { try file.append([UInt8](repeating: 0, count: 1 << 20)) }
        #expect(error?.code == .diskFull)
        #expect(file.length == 3 && disk.size(of: "log") == 3)
        try file.append([4])
        #expect(try disk.read("log") == [1, 2, 3, 4])
    }
}
