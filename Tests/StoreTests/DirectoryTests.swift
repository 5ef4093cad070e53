import Foundation
import Glibc
import TestSupport
import Testing

@testable import Store

@Suite struct DirectoryTests {
    let folder: TemporaryFolder
    let directory: Directory

    init() throws {
        folder = try TemporaryFolder()
        directory = try Directory.open(path: folder.path)
    }

    @Test(arguments: ["0.ts", "init-0.mp4", "sintel-k3f9", "A_b-c.D", "a..b", String(repeating: "x", count: 200)])
    func acceptsPlainNames(_ name: String) {
        #expect(Directory.isName(name))
    }

    @Test(
        arguments: [
            "", ".", "..", ".hidden", "a/b", "/a", "../a", "a\\b", "a b", "a\0b", "a\nb", "é", "~", "%2e",
            String(repeating: "x", count: 201),
        ])
    func refusesNamesWithOtherMeanings(_ name: String) {
        #expect(!Directory.isName(name))
        #expect(throws: StoreError.self) { try directory.subdirectory(name, create: true) }
        #expect(throws: StoreError.self) { try directory.write([1], as: name) }
        #expect(throws: StoreError.self) { try directory.removeTree(name) }
        #expect(directory.openIfPresent(name) == nil)
        #expect(directory.size(of: name) == nil)
    }

    @Test func createsPrivateFolders() throws {
        let made = try Directory.open(path: folder.path("a/b/c"))
        #expect(made.path == folder.path("a/b/c"))
        var status = stat()
        #expect(stat(folder.path("a/b"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
    }

    @Test func reportsThePathOfAFileThatIsNotAFolder() throws {
        try folder.write(Data("x".utf8), to: "file")
        let error = #expect(throws: StoreError.self) { try Directory.open(path: folder.path("file/b")) }
        #expect(error?.path == folder.path("file/b"))
        #expect(error?.errno == ENOTDIR)
    }

    @Test func doesNotFollowLinks() throws {
        let outside = try TemporaryFolder()
        try outside.write(Data("secret".utf8), to: "file")
        symlink(outside.path("file"), folder.path("file"))
        symlink(outside.path, folder.path("folder"))

        #expect(directory.openIfPresent("file") == nil)
        #expect(directory.size(of: "file") == nil)
        #expect(throws: StoreError.self) { try directory.open("file", flags: O_WRONLY | O_CREAT) }
        #expect(throws: StoreError.self) { try directory.subdirectory("folder", create: true) }
        #expect(try directory.entries().isEmpty)
    }

    @Test func replacesAWholeFile() throws {
        try directory.write(Array("a longer text".utf8), as: "file")
        try directory.write(Array("short".utf8), as: "file")
        #expect(try directory.read("file") == Array("short".utf8))
        #expect(folder.files() == ["file"])
    }

    @Test func keepsTheOldFileAfterAFailedWrite() throws {
        let inner = try directory.subdirectory("inner", create: true)
        _ = try inner.subdirectory("taken", create: true)  // A folder cannot be replaced by a file.
        #expect(throws: StoreError.self) { try inner.write([1], as: "taken") }
        #expect(try inner.entries().map(\.name) == ["taken"])
    }

    @Test func readsAMissingFileAsNil() throws {
        #expect(try directory.read("file") == nil)
        try directory.remove("file")
    }

    @Test func readsAFileLongerThanOneBuffer() throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        try directory.write(bytes, as: "file")
        #expect(try directory.read("file") == bytes)
        #expect(directory.size(of: "file") == 200_000)
    }

    @Test func listsFilesAndFolders() throws {
        try directory.write([1, 2, 3], as: "file")
        _ = try directory.subdirectory("folder", create: true)
        try folder.write(Data("x".utf8), to: ".hidden")
        let entries = try directory.entries().sorted { $0.name < $1.name }
        #expect(entries.map(\.name) == ["file", "folder"])
        #expect(entries.map(\.isDirectory) == [false, true])
        #expect(entries.first?.size == 3)
    }

    @Test func replacesAFileByAMove() throws {
        let other = try directory.subdirectory("other", create: true)
        try directory.write([1], as: "a")
        try other.write([2], as: "b")
        try directory.move("a", to: other, as: "b")
        #expect(try other.read("b") == [1])
        #expect(folder.files() == ["other/b"])
    }

    @Test func removesATreeButNotTheTargetsOfLinks() throws {
        let outside = try TemporaryFolder()
        try outside.write(Data("kept".utf8), to: "file")
        try folder.write(Data("x".utf8), to: "tree/deep/0.ts")
        try folder.write(Data("x".utf8), to: "tree/.DS_Store")
        try folder.write(Data("x".utf8), to: "tree/my notes.txt")
        symlink(outside.path, folder.path("tree/link"))

        try directory.removeTree("tree")
        #expect(try directory.names().isEmpty)
        #expect(outside.files() == ["file"])
        try directory.removeTree("tree")
    }

    @Test func removesALinkInsteadOfItsTarget() throws {
        let outside = try TemporaryFolder()
        try outside.write(Data("kept".utf8), to: "file")
        symlink(outside.path, folder.path("tree"))
        try directory.removeTree("tree")
        #expect(try directory.names().isEmpty)
        #expect(outside.files() == ["file"])
    }

    @Test func createsAFileWithoutAName() throws {
        let file = try directory.openAnonymous()
        defer { close(file) }
        #expect(pwrite(file, "abc", 3, 0) == 3)
        #expect(folder.files().isEmpty)
    }
}
