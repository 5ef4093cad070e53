import GRDB
import Glibc

/// The index of the store: which assets there are, their playlists as fetched, their keys' numbers, and the downloads.
///
/// One SQLite file, `catalogue-1.sqlite`; the format's version is in the name. Which pieces are there it does not say:
/// the bundles do. It is read whole at the start; writes run on a queue of their own, so that no request waits for a
/// disk.
public final class Catalogue: Sendable {
    /// How the file may be used.
    enum Access { case readWrite, readOnly }

    /// Everything in it, or what of it is to be written.
    public struct Contents: Equatable, Sendable {
        /// The assets, oldest first.
        public var assets: [AssetRecord] = []
        /// Their playlists.
        public var playlists: [PlaylistRecord] = []
        /// Their keys, by number.
        public var keys: [KeyRecord] = []
        /// The downloads, oldest first.
        public var downloads: [DownloadRecord] = []
        /// The renditions that are recorded, or were.
        public var recordings: [RecordingRecord] = []
        /// The policies of assets, and when they were played.
        public var storage: [StorageRecord] = []

        /// Nothing, or what is given.
        public init(
            assets: [AssetRecord] = [], playlists: [PlaylistRecord] = [], keys: [KeyRecord] = [],
            downloads: [DownloadRecord] = [], recordings: [RecordingRecord] = [], storage: [StorageRecord] = []
        ) {
            self.assets = assets
            self.playlists = playlists
            self.keys = keys
            self.downloads = downloads
            self.recordings = recordings
            self.storage = storage
        }
    }

    /// What was in it when it was opened.
    public let initial: Contents
    /// Where a catalogue that could not be read was put aside, if that happened.
    public let setAside: String?

    private let queue: DatabaseQueue

    init(path folder: String, access: Access) throws(StoreError) {
        let path = folder + "/catalogue-1.sqlite"
        try Self.refuseNewer(path)
        do {
            switch access {
            case .readWrite: (queue, initial, setAside) = try Self.openOrReplace(path)
            case .readOnly: (queue, initial, setAside) = (try Self.inMemory(), Self.readIfPossible(path), nil)
            }
        } catch {
            throw StoreError(error, catalogue: path)
        }
    }

    // MARK: Opening

    private typealias Opened = (DatabaseQueue, Contents, String?)

    /// Throws `newer` for a file in which a newer Weir has made steps that this one does not know. It is opened for
    /// reading alone, so that not a byte of it changes; what cannot even be read is no business of this.
    private static func refuseNewer(_ path: String) throws(StoreError) {
        guard let steps = read(path, { try migrator.appliedIdentifiers($0) }) else { return }
        let unknown = steps.subtracting(migrator.migrations).sorted()
        guard !unknown.isEmpty else { return }
        let known = migrator.migrations.last ?? ""
        throw StoreError(
            .newer, path: path,
            detail:
                "a newer Weir has changed it (step \(unknown.joined(separator: ", ")); this Weir knows it up to \(known))"
        )
    }

    /// Opens the file; one that cannot be understood is put aside and a new one begun.
    private static func openOrReplace(_ path: String) throws -> Opened {
        do {
            let queue = try open(path)
            return (queue, try queue.read(contents), nil)
        } catch  where StoreError(error, catalogue: path).code == .catalogue {
            let aside = path + ".broken"
            rename(path, aside)
            for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
            let queue = try open(path)
            return (queue, Contents(), aside)
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.journalMode = .wal
        // Made here, nobody else can open it for a moment; SQLite gives the files beside it the same mode.
        close(Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
        chmod(path, 0o600)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // GRDB takes NORMAL for this mode, with which what was written last goes with the power: a whole asset for want of
        // its row, where pieces are synced within seconds. Rows are written seldom.
        try queue.inDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try migrator.migrate(queue)
        return queue
    }

    private static func inMemory() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try migrator.migrate(queue)
        return queue
    }

    /// What a store that cannot be written says; nothing when even reading fails.
    private static func readIfPossible(_ path: String) -> Contents { read(path, contents) ?? Contents() }

    /// Reads something, and changes nothing; nil when reading fails.
    private static func read<Value>(_ path: String, _ body: (Database) throws -> Value) -> Value? {
        var configuration = Configuration()
        configuration.readonly = true
        // With `immutable` SQLite needs no files beside the database, but does not see what stands in its log alone.
        for uri in [path, "file:\(escaped(path))?immutable=1"] {
            guard let queue = try? DatabaseQueue(path: uri, configuration: configuration) else { continue }
            if let value = try? queue.read(body) { return value }
        }
        return nil
    }

    private static func escaped(_ path: String) -> String {
        path.reduce(into: "") { $0 += ["%": "%25", "?": "%3f", "#": "%23"][$1] ?? String($1) }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE asset (
                        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, title TEXT, origin TEXT NOT NULL UNIQUE,
                        created INTEGER NOT NULL);
                    CREATE TABLE playlist (
                        asset TEXT NOT NULL REFERENCES asset ON DELETE CASCADE, rendition TEXT NOT NULL,
                        url TEXT NOT NULL, body BLOB NOT NULL, fetched INTEGER NOT NULL,
                        PRIMARY KEY (asset, rendition));
                    CREATE TABLE key (
                        asset TEXT NOT NULL REFERENCES asset ON DELETE CASCADE, number INTEGER NOT NULL,
                        url TEXT NOT NULL, PRIMARY KEY (asset, number));
                    CREATE TABLE download (
                        asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, renditions TEXT NOT NULL,
                        state TEXT NOT NULL, errorCode TEXT, errorMessage TEXT, created INTEGER NOT NULL);
                    """)
        }
        migrator.registerMigration("2") { try $0.execute(sql: "ALTER TABLE playlist ADD COLUMN imports TEXT") }
        migrator.registerMigration("3") { try $0.execute(sql: "ALTER TABLE asset ADD COLUMN fields TEXT") }
        migrator.registerMigration("4") { database in
            try database.execute(
                sql: "ALTER TABLE download ADD COLUMN task TEXT; ALTER TABLE download ADD COLUMN need TEXT")
        }
        migrator.registerMigration("5") { database in
            try database.execute(
                sql: """
                    CREATE TABLE recording (
                        asset TEXT NOT NULL REFERENCES asset ON DELETE CASCADE, rendition TEXT NOT NULL,
                        PRIMARY KEY (asset, rendition));
                    """)
        }
        migrator.registerMigration("7") { database in
            // SQLite takes no constraint off a table: https://www.sqlite.org/lang_altertable.html#otheralter
            try database.execute(
                sql: """
                    CREATE TABLE revisable (
                        id TEXT PRIMARY KEY, name TEXT NOT NULL, title TEXT, origin TEXT NOT NULL,
                        created INTEGER NOT NULL, fields TEXT,
                        revises TEXT UNIQUE REFERENCES asset ON DELETE SET NULL);
                    INSERT INTO revisable SELECT id, name, title, origin, created, fields, NULL FROM asset;
                    DROP TABLE asset;
                    ALTER TABLE revisable RENAME TO asset;
                    CREATE UNIQUE INDEX assetName ON asset (name) WHERE revises IS NULL;
                    CREATE UNIQUE INDEX assetOrigin ON asset (origin) WHERE revises IS NULL;
                    """)
        }
        migrator.registerMigration("8") { database in
            try database.execute(
                sql: """
                    CREATE TABLE storage (
                        asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, expires INTEGER,
                        afterFirstPlay INTEGER, priority TEXT NOT NULL, isExcluded BOOLEAN NOT NULL,
                        firstPlayed INTEGER, lastPlayed INTEGER, purged INTEGER, purgedBytes INTEGER,
                        purgeCause TEXT);
                    """)
        }
        return migrator
    }

    private static func contents(_ database: Database) throws -> Contents {
        Contents(
            assets: try AssetRecord.order(Column("created"), Column("id")).fetchAll(database),
            playlists: try PlaylistRecord.fetchAll(database),
            keys: try KeyRecord.order(Column("number")).fetchAll(database),
            downloads: try DownloadRecord.order(Column("created"), Column.rowID).fetchAll(database),
            recordings: try RecordingRecord.fetchAll(database),
            storage: try StorageRecord.fetchAll(database))
    }

    // MARK: Writing

    /// Writes records over the former ones of the same keys: all of them, or on an error none.
    ///
    /// - Parameter renditions: those of the asset `id` whose playlists are forgotten first.
    /// - Throws: `catalogue` also for what belongs to an asset that is not, or no longer, there.
    public func save(
        _ contents: Contents, without renditions: [String] = [], of id: String = ""
    ) async throws(StoreError) {
        try await write { database in
            for rendition in renditions {
                _ = try PlaylistRecord.deleteOne(database, key: ["asset": id, "rendition": rendition])
            }
            for record in contents.assets { try record.upsert(database) }
            for record in contents.playlists { try record.upsert(database) }
            for record in contents.keys { try record.upsert(database) }
            for record in contents.downloads { try record.upsert(database) }
            for record in contents.recordings { try record.insert(database, onConflict: .ignore) }
            for record in contents.storage { try record.upsert(database) }
        }
    }

    /// Forgets the asset with its playlists, keys and download, and notes in the same step what has taken its place.
    ///
    /// - Parameters:
    ///   - record: nil for what is not in the catalogue.
    ///   - storage: what is to be kept of the policy and so on.
    public func supersede(
        _ id: String, by record: AssetRecord?, _ storage: StorageRecord? = nil
    ) async throws(StoreError) {
        try await write { database in
            _ = try AssetRecord.deleteOne(database, key: id)
            try record?.update(database)
            try storage?.upsert(database)
        }
    }

    /// Forgets the asset with its playlists, keys and download.
    public func removeAsset(_ id: String) async throws(StoreError) {
        try await write { _ = try AssetRecord.deleteOne($0, key: id) }
    }

    private func write(_ change: @escaping @Sendable (Database) throws -> Void) async throws(StoreError) {
        do {
            try await queue.write(change)
        } catch {
            throw StoreError(error, catalogue: queue.path)
        }
    }
}

extension StoreError {
    /// SQLite's error. The one place where its codes become the store's: `catalogue` where the file is to blame, not
    /// the disk.
    fileprivate init(_ error: any Error, catalogue path: String) {
        guard let error = error as? DatabaseError else {
            self.init(.catalogue, path: path, detail: "\(error)")
            return
        }
        let code: Code =
            switch error.resultCode {
            case .SQLITE_FULL: .diskFull
            case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM: .notWritable
            case .SQLITE_IOERR, .SQLITE_NOMEM: .io
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
            default: .catalogue
            }
        self.init(code, path: path, detail: error.message)
    }
}
