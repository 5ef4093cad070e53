import Foundation
import Orders
import TestSupport
import Testing

@testable import Store

@Suite struct CatalogueTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ access: Catalogue.Access = .readWrite) throws -> Catalogue {
        try Catalogue(path: folder.path, access: access)
    }

    private let full = Catalogue.Contents(
        assets: [.sample("a"), .sample("b", created: 2)],
        playlists: [
            PlaylistRecord(asset: "a-id", rendition: "", url: "http://o/m", body: [0, 255, 10, 13], fetched: 5),
            PlaylistRecord(asset: "a-id", rendition: "audio", url: "http://o/a", body: [], imports: [:], fetched: 6),
            PlaylistRecord(
                asset: "a-id", rendition: "video-90p", url: "http://o/v", body: [], imports: ["t": "\"é,\n"], fetched: 6
            ),
        ],
        keys: [
            KeyRecord(asset: "a-id", number: 0, url: "http://o/0.key"),
            KeyRecord(asset: "a-id", number: 1, url: "http://o/1.key"),
        ],
        downloads: [
            DownloadRecord(
                asset: "b-id", renditions: "video-90p audio-en", state: "failed", errorCode: "missing",
                errorMessage: "gone", created: 7)
        ],
        storage: [StorageRecord(asset: "a-id", Self.life)])

    private static let life: StorageLife = {
        var life = StorageLife()
        life.policy = StoragePolicy(expires: 9, afterFirstPlay: 8, priority: .important, backup: .exclude)
        life.firstPlayed = 3
        life.lastPlayed = 4
        life.purge = .init(date: 5, bytes: 6, cause: .spaceThoughImportant)
        return life
    }()

    @Test func readsSavedRowsAfterARestart() async throws {
        try await open().save(full)
        #expect(try open().initial == full)
        #expect(try open().initial.storage.first?.life == Self.life)
    }

    /// A property that is missing in `columns` would be lost.
    @Test func readsEveryFieldAfterARestart() async throws {
        var asset = AssetRecord(
            id: "a-id", name: "a", title: "A", origin: "http://o/a", created: 2, fields: "X-Token: c",
            revises: "b-id", fromNetwork: true, route: "{}")
        asset.note = "seen"
        asset.recordingOf = "c-id"
        let whole = Catalogue.Contents(
            assets: [.sample("b"), asset],
            playlists: [
                PlaylistRecord(
                    asset: "a-id", rendition: "audio", url: "http://o/p", body: [1], imports: ["t": "u"], fetched: 3,
                    wasLive: true)
            ],
            downloads: [
                DownloadRecord(
                    asset: "a-id", renditions: "audio", state: "failed", task: "{}", account: "{}",
                    need: "room", errorCode: "missing",
                    errorMessage: "gone", created: 5)
            ])
        let records: [Any] = [whole.assets[1], whole.playlists[0], whole.downloads[0]]
        for (label, value) in records.flatMap({ Mirror(reflecting: $0).children }) {
            let mirror = Mirror(reflecting: value)
            #expect(mirror.displayStyle != .optional || !mirror.children.isEmpty, "\(label ?? "") is not set here")
        }
        try await open().save(whole)
        #expect(try open().initial == whole)
    }

    @Test func replacesSavedRows() async throws {
        let catalogue = try open()
        try await catalogue.save(full)
        var asset = AssetRecord.sample("a")
        asset.title = "A title"
        asset.fields = "Cookie: a=b\nX-Token: c"
        var playlist = full.playlists[0]
        playlist.body = Array("#EXTM3U".utf8)
        try await catalogue.save(.init(assets: [asset], playlists: [playlist]))
        let contents = try open().initial
        #expect(contents.assets == [asset, full.assets[1]])
        #expect(contents.playlists.first == playlist)
        #expect(contents.keys == full.keys)
    }

    @Test func removesAnAssetWithItsRows() async throws {
        do {
            let catalogue = try open()
            try await catalogue.save(full)
            try await catalogue.removeAsset("a-id")
            try await catalogue.removeAsset("nobody")
        }
        #expect(try open().initial == .init(assets: [full.assets[1]], downloads: full.downloads))
        try await open().removeAsset("b-id")
        #expect(try open().initial == Catalogue.Contents())
    }

    /// A write that was begun before a removal may reach the catalogue after it.
    @Test func aLateWriteDoesNotBringBackADeletedAsset() async throws {
        let catalogue = try open()
        try await catalogue.save(.init(assets: [.sample("a"), .sample("b")]))
        try await catalogue.removeAsset("a-id")
        try await catalogue.save(.init(assets: [.sample("a"), .sample("b")]))
        let playlist = PlaylistRecord(asset: "a-id", rendition: "", url: "http://o/a", body: [], fetched: 1)
        await #expect(throws: StoreError.self) {
            try await catalogue.save(.init(assets: [.sample("a")], playlists: [playlist]))
        }
        await catalogue.flush()
        #expect(try open().initial.assets == [.sample("b")])
    }

    @Test func refusesAWriteWithRowsOfAMissingAsset() async throws {
        let catalogue = try open()
        let orphan = KeyRecord(asset: "nobody", number: 0, url: "http://o/k")
        let error = await #expect(throws: StoreError.self) {
            try await catalogue.save(.init(assets: [.sample("a")], keys: [orphan]))
        }
        #expect(error?.code == .catalogue)
        #expect(try open().initial == Catalogue.Contents())
    }

    @Test func savesConcurrentWrites() async throws {
        let catalogue = try open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { try await catalogue.save(.init(assets: [.sample("a\(number)")])) }
            }
            try await group.waitForAll()
        }
        #expect(try open().initial.assets.count == 100)
    }

    @Test(arguments: ["", "not a database, but a long enough text to be taken for the header of one by nobody at all"])
    func setsAsideADamagedFile(_ text: String) async throws {
        try folder.write(Data(text.utf8), to: "catalogue-1.sqlite")
        let catalogue = try open()
        #expect(catalogue.initial == Catalogue.Contents())
        // An empty file is an empty database.
        #expect((catalogue.recovery == nil) == text.isEmpty)
        try await catalogue.save(full)
        #expect(try open().initial == full)
        guard let aside = catalogue.recovery?.setAside else { return }
        #expect(try String(contentsOfFile: aside, encoding: .utf8) == text)
    }

    @Test func rebuildsAnOverwrittenFile() async throws {
        do { try await open().save(full) }
        let path = folder.path("catalogue-1.sqlite")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(4096..<bytes.count, with: Data(repeating: 0xA5, count: bytes.count - 4096))
        try bytes.write(to: URL(fileURLWithPath: path))
        let catalogue = try open()
        #expect(catalogue.recovery?.setAside == path + ".broken")
        #expect(catalogue.initial.sorted == full.sorted)
        try await catalogue.save(full)
    }

    @Test func setsAsideAnotherProgramsDatabase() async throws {
        do { try await open().save(full) }
        let sql = "DROP TABLE key; CREATE TABLE key (colour TEXT); INSERT INTO key VALUES ('red')"
        let result = try await ProcessRunner.run(
            "python3",
            [
                "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])",
                folder.path("catalogue-1.sqlite"), sql,
            ])
        #expect(result.exit == .code(0), "\(result.errors)")
        #expect(try open().recovery?.setAside != nil)
    }

    // MARK: Revisions

    @Test func allowsOneRevisionWithTheSameNameAndURL() async throws {
        var revision = AssetRecord.sample("a")
        revision.id = "a-new"
        revision.revises = "a-id"
        try await open().save(.init(assets: [.sample("a")]))
        try await open().save(.init(assets: [revision]))
        #expect(try open().initial.assets == [.sample("a"), revision])
        revision.revises = nil
        let storage = StorageRecord(asset: "a-new", Self.life)
        try await open().supersede("a-id", by: revision, storage)
        #expect(try open().initial.assets == [revision])
        #expect(try open().initial.storage == [storage])
    }

    @Test func aRemovedRevisionDoesNotComeBack() async throws {
        var revision = AssetRecord.sample("a")
        revision.id = "a-new"
        revision.revises = "a-id"
        let catalogue = try open()
        try await catalogue.save(.init(assets: [.sample("a")]))
        try await catalogue.save(.init(assets: [revision]))
        try await catalogue.removeAsset("a-new")
        revision.revises = nil
        let successor = revision
        await #expect(throws: StoreError.self) { try await catalogue.supersede("a-id", by: successor) }
        #expect(try open().initial.assets == [.sample("a")])
    }

    /// A catalogue can be opened again at once.
    @Test func nothingLocksTheFileAfterItsOpening() async throws {
        for number in 0..<20 {
            #expect(try open().initial.assets.count == number)
            try await open().save(.init(assets: [.sample("a\(number)")]))
        }
    }

    @Test(arguments: [Catalogue.Access.readWrite, .readOnly])
    func refusesANewerWeirsFileWithoutChangingIt(_ access: Catalogue.Access) async throws {
        do { try await open().save(full) }
        let path = folder.path("catalogue-1.sqlite")
        let sql = "INSERT INTO grdb_migrations VALUES ('99'); CREATE TABLE later (x); PRAGMA wal_checkpoint(TRUNCATE)"
        let result = try await ProcessRunner.run(
            "python3",
            ["-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])", path, sql])
        #expect(result.exit == .code(0), "\(result.errors)")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: StoreError.self) { try open(access) }
        #expect(error?.code == .newer)
        #expect(error?.description.contains("step 99") ?? false, "\(String(describing: error))")
        #expect(throws: StoreError.self) { try BundleStore(path: folder.path, reserve: 0) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(!folder.files().contains { $0.contains("broken") })
    }

    @Test(arguments: ["store", "a%20?b#c"])
    func readsAReadOnlyCatalogueWithoutChangingIt(_ name: String) async throws {
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        do { try await Catalogue(path: folder.path(name), access: .readWrite).save(full) }
        let path = folder.path(name) + "/catalogue-1.sqlite"
        let before = try Data(contentsOf: URL(fileURLWithPath: path))

        let catalogue = try Catalogue(path: folder.path(name), access: .readOnly)
        #expect(catalogue.initial == full)
        try await catalogue.save(.init(assets: [.sample("c")]))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try Catalogue(path: folder.path(name), access: .readOnly).initial == full)
    }

    @Test func readsAMissingReadOnlyCatalogueAsEmpty() throws {
        #expect(try open(.readOnly).initial == Catalogue.Contents())
        #expect(folder.files().isEmpty)
    }
}

extension AssetRecord {
    /// The asset `<name>-id`.
    static func sample(_ name: String, created: Int64 = 1) -> AssetRecord {
        AssetRecord(id: "\(name)-id", name: name, title: nil, origin: "http://o/\(name)", created: created)
    }
}
