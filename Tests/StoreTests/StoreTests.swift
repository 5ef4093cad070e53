import Foundation
import Glibc
import TestSupport
import Testing

@testable import Store

@Suite struct StoreTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func makesAStoreOfANewFolder() throws {
        let store = try BundleStore(path: folder.path("new/store"))
        #expect(store.readOnlyReason == nil)
        #expect(store.catalogue.initial == Catalogue.Contents())
        #expect(store.catalogue.recovery == nil)
        #expect(
            folder.files().filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
                == ["new/store/catalogue-1.sqlite", "new/store/lock"])
    }

    @Test func clearsTemporaryFilesOfAnEarlierProcess() async throws {
        let outside = try TemporaryFolder()
        try outside.write(Data("canary".utf8), to: "file")
        try folder.write(Data("half".utf8), to: "tmp/1")
        symlink(outside.path, folder.path("tmp/linked"))
        try folder.write(Data("half".utf8), to: "tmp/gone-k3f9/video/0.ts")
        try folder.write(Data("piece".utf8), to: "assets/a-k3f9/video/0.ts")
        for number in 0..<2000 {
            try folder.write(Data(), to: "tmp/film-k3f9.1/video/\(number).ts")
        }
        let store = try BundleStore(path: folder.path)
        // Files are deleted at once; folders get unique names and are deleted in the background.
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path("tmp"))
        #expect(left.allSatisfy { $0.hasPrefix("gone-") && $0 != "gone-k3f9" })
        let growing = try store.growingFile(named: "film-k3f9.1")
        try await waitUntil("an empty folder") {
            try FileManager.default.contentsOfDirectory(atPath: folder.path("tmp")).allSatisfy { $0 == "film-k3f9.1" }
        }
        #expect(folder.files().contains("assets/a-k3f9/video/0.ts") && outside.files() == ["file"])
        _ = growing
    }

    /// A killed process leaves the notes of its exports, and their parts.
    @Test func deletesThePartsOfAnEarlierProcessesExports() async throws {
        let out = try TemporaryFolder()
        var earlier: BundleStore? = try BundleStore(path: folder.path)
        for name in ["film", "film.tar", "busy.tar"] {
            #expect(earlier?.noteExport(to: out.path(name)) != nil)
        }
        earlier?.endExport(earlier?.noteExport(to: out.path("ended.tar")))
        earlier = nil
        try out.write(Data([7]), to: ".film.weir-part/video/0.ts")
        for name in [".film.tar.weir-part", ".ended.tar.weir-part", ".busy.tar.weir-part", "film.tar"] {
            try out.write(Data([7]), to: name)
        }
        let busy = open(out.path(".busy.tar.weir-part"), O_RDONLY)
        defer { close(busy) }
        #expect(flock(busy, LOCK_EX | LOCK_NB) == 0)

        let store = try BundleStore(path: folder.path)
        try await waitUntil("nothing of the killed exports") {
            let left = try FileManager.default.contentsOfDirectory(atPath: out.path).sorted()
            return left == [".busy.tar.weir-part", ".ended.tar.weir-part", "film.tar"]
        }
        // The notes are gone with them.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("tmp")) == [])
        _ = store
    }

    @Test func removesABundleAtOnceAndThenItsFiles() async throws {
        let store = try BundleStore(path: folder.path, reserve: 0)
        for number in 0..<3000 {
            try folder.write(Data(), to: "assets/film-k3f9/video/\(number).ts")
        }
        let video = try store.bundle("film-k3f9", create: false).subdirectory("video")
        let open = try video.open("7.ts")
        defer { close(open) }
        try await withCheckedThrowingContinuation { (gone: CheckedContinuation<Void, any Error>) in
            do {
                try store.removeBundle("film-k3f9") { gone.resume() }
                #expect(throws: StoreError.self) { try store.bundle("film-k3f9", create: false) }
                // The name can be used again at once.
                try store.bundle("film-k3f9", create: true).write([1], as: "asset.json")
            } catch {
                gone.resume(throwing: error)
            }
        }
        #expect(
            folder.files().filter { $0.hasPrefix("tmp/") || $0.hasPrefix("assets/") } == ["assets/film-k3f9/asset.json"]
        )
    }

    private func reopened() async throws -> BundleStore {
        try await TestSupport.reopened(unless: { ($0 as? StoreError)?.code == .busy }) {
            try BundleStore(path: folder.path)
        }
    }

    @Test func refusesASecondStoreOnTheSameFolder() async throws {
        var first: BundleStore? = try BundleStore(path: folder.path)
        let error = #expect(throws: StoreError.self) { try BundleStore(path: folder.path) }
        #expect(error?.code == .busy)
        _ = first
        first = nil
        _ = try await reopened()
    }

    @Test func refusesAFileAsTheFolder() throws {
        try folder.write(Data("x".utf8), to: "file")
        #expect(throws: StoreError.self) { try BundleStore(path: folder.path("file")) }
    }

    @Test func readsAReadOnlyStore() async throws {
        do {
            let store = try BundleStore(path: folder.path)
            try await store.catalogue.save(.init(assets: [.sample("a")]))
            let bundle = try store.bundle("a-id", create: true)
            try bundle.write([1, 2, 3], as: "asset.json")
        }
        try FileManager.default.removeItem(atPath: folder.path("tmp"))
        try folder.write(Data("in the way".utf8), to: "tmp")

        let store = try await reopened()
        #expect(store.readOnlyReason != nil)
        #expect(store.catalogue.initial.assets == [.sample("a")])
        #expect(try store.bundle("a-id", create: false).read("asset.json") == [1, 2, 3])
        #expect(throws: StoreError.self) { try store.growingFile(named: "1") }
        #expect(throws: StoreError.self) { try store.removeBundle("a-id") }
        #expect(throws: StoreError.self) { try store.bundle("b-id", create: true) }
        let file = try store.anonymousFile()
        try [UInt8](repeating: 1, count: 10).withUnsafeBytes { try file.write($0, at: 0) }
        #expect(file.written == 10)
    }

    @Test func doesNotLockAReadOnlyStore() async throws {
        try folder.write(Data("in the way".utf8), to: "tmp")
        do { _ = try BundleStore(path: folder.path) }
        try FileManager.default.removeItem(atPath: folder.path("tmp"))
        #expect(try await reopened().readOnlyReason == nil)
    }

    @Test func opensReadOnlyIfRecordsCannotBeWritten() throws {
        try folder.write(Data("piece".utf8), to: "assets/a-k3f9/video/0.ts")
        let outside = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("records"), withDestinationPath: outside.path)
        let store = try BundleStore(path: folder.path)
        #expect(store.readOnlyReason != nil)
        #expect(try store.bundle("a-k3f9", create: false).subdirectory("video").size(of: "0.ts") == 5)
    }

    @Test func setsAsideAFolderNamedLikeTheCatalogue() async throws {
        do {
            let store = try BundleStore(path: folder.path)
            try await store.catalogue.save(.init(assets: [.sample("a")]))
            await store.close()
        }
        try FileManager.default.removeItem(atPath: folder.path("catalogue-1.sqlite"))
        try folder.write(Data("x".utf8), to: "catalogue-1.sqlite/in-the-way")
        let store = try await reopened()
        #expect(store.readOnlyReason == nil && store.catalogue.initial.assets == [.sample("a")])
        #expect(folder.files().contains("catalogue-1.sqlite.broken/in-the-way"))
    }

    @Test func deletesTheFilesOfARemovedBundleInTheBackground() async throws {
        let store = try BundleStore(path: folder.path)
        let bundle = try store.bundle("a-k3f9", create: true)
        let video = try bundle.subdirectory("video", create: true)
        for number in 0..<20 {
            try video.write([1], as: "\(number).ts")
        }
        let open = try #require(video.openIfPresent("0.ts"))
        defer { close(open) }

        try store.removeBundle("a-k3f9")
        #expect(throws: StoreError.self) { try store.bundle("a-k3f9", create: false) }
        try await waitUntil("no file of the bundle") { !folder.files().contains { $0.contains("a-k3f9") } }
        var byte: UInt8 = 0
        #expect(pread(open, &byte, 1, 0) == 1)
        try store.removeBundle("a-k3f9")
    }

    @Test func keepsTheReserveFree() throws {
        #expect(try BundleStore(path: folder.path("a"), reserve: 0).checkRoomError == nil)
        #expect(try BundleStore(path: folder.path("b"), reserve: .max).checkRoomError?.code == .diskFull)
        #expect(try BundleStore(path: folder.path("c")).reserve >= 256 << 20)
    }
}

extension BundleStore {
    fileprivate var checkRoomError: StoreError? {
        do throws(StoreError) {
            try checkRoom()
            return nil
        } catch {
            return error
        }
    }
}
