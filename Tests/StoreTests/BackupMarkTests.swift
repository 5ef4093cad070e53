import Foundation
import TestSupport
import Testing

@testable import Store

@Suite struct BackupMarkTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a bundle is marked so that tar leaves it out") func marksAFolderThatTarSkips() async throws {
        let store = try BundleStore(path: folder.path)
        let bundle = try store.bundle("a-k3f9", create: true)
        try bundle.write([1], as: "0.ts")
        try bundle.setExcludedFromBackups(true)
        let text = String(decoding: try #require(try bundle.read("CACHEDIR.TAG")), as: UTF8.self)
        #expect(text.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
        let list = try await ProcessRunner.run(
            "sh", ["-c", "tar --exclude-caches -C \"$0\" -cf - assets 2>/dev/null | tar -tf -", folder.path])
        #expect(list.output.contains("CACHEDIR.TAG") && !list.output.contains("0.ts"))
        try bundle.setExcludedFromBackups(false)
        #expect(try bundle.read("CACHEDIR.TAG") == nil)
    }

    @Test func marksTheFolderOfBundles() throws {
        let store = try BundleStore(path: folder.path)
        for _ in 0..<2 {
            try store.setExcludedFromBackups(true)
        }
        #expect(folder.files().contains("assets/CACHEDIR.TAG"))
        try store.setExcludedFromBackups(false)
        #expect(!folder.files().contains { $0.hasSuffix("CACHEDIR.TAG") })
    }

    @Test func keepsAnotherFileOfThatName() throws {
        let directory = try Directory.open(path: folder.path)
        try directory.write(Array("mine".utf8), as: "CACHEDIR.TAG")
        try directory.setExcludedFromBackups(true)
        try directory.setExcludedFromBackups(false)
        #expect(try directory.read("CACHEDIR.TAG") == Array("mine".utf8))
    }
}
