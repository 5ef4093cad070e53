import EventLoop
import Foundation
import Glibc
import HTTPMessage
import Orders
import Sharing
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching
@testable import Retention

/// Orphan bundles in the store, and bundles written by other versions.
@Suite @LoopActor struct AdoptionTests {
    private let fixture: TestHouse

    init() async throws { fixture = try await TestHouse() }

    private func path(_ fixture: String) -> String { Repository.path("fixtures/media/\(fixture)") }

    /// Deletes the catalogue and its records before the next start.
    private func loseCatalogue() async throws {
        await fixture.flush()
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
        where name.hasPrefix("catalogue-1") || name == "records" {
            try FileManager.default.removeItem(atPath: fixture.folder.path(name))
        }
    }

    private func bundles() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path("assets")))
    }

    private func replaceFormat(of id: String, by format: Int) throws {
        let file = URL(filePath: fixture.folder.path("assets/\(id)/asset.json"))
        let text = try String(contentsOf: file, encoding: .utf8)
        let other = text.replacingOccurrences(of: "\"format\" : 1", with: "\"format\" : \(format)")
        #expect(text != other)
        try Data(other.utf8).write(to: file)
    }

    /// Every file of a bundle with its bytes and modification time.
    private func state(of id: String) throws -> [String: String] {
        let root = fixture.folder.path("assets/\(id)")
        var state: [String: String] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
            var status = stat()
            lstat(root + "/" + name, &status)
            let bytes = FileManager.default.contents(atPath: root + "/" + name) ?? Data()
            state[name] = "\(status.st_mode) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) \(bytes.hashValue)"
        }
        return state
    }

    @Test(arguments: ["ts", "cmaf", "aes", "audio"])
    func restoresAssetsFromBundlesWithoutCatalogueAndRecords(name: String) async throws {
        let asset = try await fixture.exchange.importer.importAsset(at: path(name), name: "film")
        let policy = StoragePolicy(expires: 2_000_000_000, priority: .important)
        try await fixture.retention.setPolicy(policy, of: asset)
        let bytes = asset.bytes
        try await loseCatalogue()
        try await fixture.restart()
        #expect(fixture.library.assets.isEmpty)
        let downloads = DownloadStub()
        fixture.library.attach(downloads)
        await fixture.exchange.orphans.adopt()
        let found = try #require(fixture.library.asset(named: "film"))
        #expect(found.id == asset.id && found.content.isEverythingComplete && found.bytes == bytes)
        #expect(downloads.adopted == ["film"])
        #expect(found.life.policy == policy && found.origin.isPlaceholder && found.created == asset.created)
        #expect(fixture.log.lines.contains { $0.contains("the store had 1 bundle") && $0.contains("\"film\"") })
        // The catalogue knows the asset from now on.
        try await fixture.restart()
        await fixture.exchange.orphans.adopt()
        let again = try #require(fixture.library.asset(named: "film"))
        #expect(fixture.library.assets.count == 1 && again.content.isEverythingComplete && again.bytes == bytes)
    }

    /// Number of this process's descriptors that are open inside the store's bundles.
    private func openFolders() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
            return target?.hasPrefix(fixture.folder.path("assets/")) ?? false
        }
    }

    @Test func adoptedBundlesAreNotKeptOpen() async throws {
        _ = try await fixture.exchange.importer.importAsset(at: path("cmaf"), name: "film")
        await fixture.flush()
        #expect(try openFolders() == 0)
        try await loseCatalogue()
        try await fixture.restart()
        await fixture.exchange.orphans.adopt()
        await fixture.flush()
        #expect(fixture.library.assets.count == 1)
        #expect(try openFolders() == 0)
    }

    @Test func aTakenNameGetsANumber() async throws {
        let first = try await fixture.exchange.importer.importAsset(at: path("ts"), name: "film")
        let copied = try await ProcessRunner.run(
            "cp", ["-a", fixture.folder.path("assets/\(first.id)"), fixture.folder.path("assets/by-hand")])
        #expect(copied.exit == .code(0))
        await fixture.exchange.orphans.adopt()
        let second = try #require(fixture.library.asset(id: "by-hand"))
        #expect(second.name == "film-2" && second.content.isEverythingComplete && second.bytes == first.bytes)
    }

    @Test func aBundleOfANumberedVariantIsAdopted() async throws {
        let asset = try await fixture.exchange.importer.importAsset(at: path("audio"), name: "film")
        let rendition = try #require(asset.renditions.first)
        let bundle = fixture.folder.path("assets/\(asset.id)")
        try await loseCatalogue()
        // The state if another variant of this height came first and is not stored.
        try FileManager.default.moveItem(
            atPath: bundle + "/" + rendition.name.id, toPath: bundle + "/\(rendition.name.id)-7")
        let master = URL(filePath: bundle + "/master.m3u8")
        let text = try String(contentsOf: master, encoding: .utf8)
        try Data(text.replacingOccurrences(of: "\(rendition.name.id)/", with: "\(rendition.name.id)-7/").utf8)
            .write(to: master)
        try await fixture.restart()
        await fixture.exchange.orphans.adopt()
        let found = try #require(fixture.library.asset(named: "film"))
        #expect(found.content.isEverythingComplete && found.bytes == asset.bytes)
        #expect(try bundles() == [found.id])
    }

    @Test func leavesForeignFoldersAndReportsThemOnce() async throws {
        let outside = try TemporaryFolder()
        try outside.write(Data("secret".utf8), to: "asset.json")
        try fixture.folder.write(Data("x".utf8), to: "assets/notes/a.txt")
        try fixture.folder.write(Data("x".utf8), to: "assets/My Film/master.m3u8")
        try fixture.folder.write(Data("x".utf8), to: "assets/readme")
        symlink(outside.path, fixture.folder.path("assets/linked"))
        await fixture.exchange.orphans.adopt()
        #expect(fixture.library.assets.isEmpty && fixture.exchange.orphans.bundles.isEmpty)
        #expect(try bundles() == ["notes", "My Film", "readme", "linked"])
        let lines = fixture.log.lines.filter { $0.contains("are left unchanged") }
        #expect(lines.count == 1)
        for name in try bundles() {
            #expect(lines.first?.contains("\"\(name)\"") ?? false)
        }
        #expect(outside.files() == ["asset.json"])
    }

    @Test func aBundleWithoutCompletePiecesIsListedAndRemovable() async throws {
        let asset = try await fixture.exchange.importer.importAsset(at: path("ts"), name: "film")
        try FileManager.default.removeItem(atPath: fixture.folder.path("assets/\(asset.id)/master.m3u8"))
        try await loseCatalogue()
        try await fixture.restart()
        await fixture.exchange.orphans.adopt()
        let (name, orphan) = try #require(fixture.exchange.orphans.bundles.first)
        #expect(orphan.id == asset.id && orphan.reason.contains("no playlist"))
        #expect(fixture.library.isTaken(name))
        #expect(try await fixture.exchange.orphans.remove(orphan) > asset.bytes)
        #expect(try bundles().isEmpty && fixture.exchange.orphans.bundles.isEmpty)
    }

    // MARK: Formats

    @Test func aBundleOfANewerFormatIsLeftUntouched() async throws {
        let asset = try await fixture.exchange.importer.importAsset(at: path("ts"), name: "film")
        await fixture.flush()
        try replaceFormat(of: asset.id, by: 99)
        try await fixture.restart()
        let before = try state(of: asset.id)
        let library = fixture.library
        let retention = fixture.retention
        let refused = try #require(library.asset(named: "film"))
        let error = #expect(throws: LibraryError.self) { try retention.checkExpiry(of: refused) }
        #expect(error?.code == .newerBundle && error?.message.contains("format 99") ?? false)
        #expect(refused.refusal != nil && refused.bytes == 0 && !refused.isPlayableOffline)
        await library.survey(refused)
        await library.setTitle("A title", of: refused)
        try await library.rename(refused, to: "other")
        await retention.purge(refused, .space)
        await fixture.exchange.orphans.adopt()
        await #expect(throws: ExchangeError.self) {
            _ = try await fixture.exchange.exporter.export(refused, to: fixture.folder.path("out"))
        }
        #expect(try state(of: asset.id) == before)
        #expect(fixture.log.lines.contains { $0.contains("format 99") })
        _ = try await library.remove(refused)
        #expect(try bundles().isEmpty)
    }

    @Test func anOrphanBundleOfANewerFormatIsListedWithTheReason() async throws {
        let asset = try await fixture.exchange.importer.importAsset(at: path("ts"), name: "film")
        try await loseCatalogue()
        try replaceFormat(of: asset.id, by: 2)
        try await fixture.restart()
        let before = try state(of: asset.id)
        await fixture.exchange.orphans.adopt()
        #expect(fixture.exchange.orphans.bundles.values.map(\.id) == [asset.id])
        #expect(fixture.exchange.orphans.bundles.values.first?.reason.contains("newer Weir") ?? false)
        #expect(try state(of: asset.id) == before)
    }

    @Test func aBundleOfAnOlderFormatIsRewritten() async throws {
        let asset = try await fixture.exchange.importer.importAsset(at: path("ts"), name: "film")
        await fixture.flush()
        try replaceFormat(of: asset.id, by: 0)
        try await fixture.restart()
        let again = try #require(fixture.library.asset(named: "film"))
        #expect(again.content.isEverythingComplete)
        let text = try String(contentsOfFile: fixture.folder.path("assets/\(asset.id)/asset.json"), encoding: .utf8)
        #expect(text.contains("\"format\" : 1"))
    }
}
