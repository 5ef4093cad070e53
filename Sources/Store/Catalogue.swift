import GRDB
import Glibc
import Synchronization

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
        /// Where the bundles lie that were moved.
        public var places: [PlaceRecord] = []

        /// Nothing, or what is given.
        public init(
            assets: [AssetRecord] = [], playlists: [PlaylistRecord] = [], keys: [KeyRecord] = [],
            downloads: [DownloadRecord] = [], recordings: [RecordingRecord] = [], storage: [StorageRecord] = [],
            places: [PlaceRecord] = []
        ) {
            self.assets = assets
            self.playlists = playlists
            self.keys = keys
            self.downloads = downloads
            self.recordings = recordings
            self.storage = storage
            self.places = places
        }
    }

    /// What was in it when it was opened.
    public let initial: Contents
    /// What became of a file that was damaged, gone, or out of date, if that happened.
    public let recovery: CatalogueRecovery?

    /// Whether anything was noted of what lists said, when it was opened.
    public let hasSummaries: Bool

    private let queue: DatabaseQueue
    private let records: RecordKeeper?
    /// How often each asset's rows were changed.
    private let revisions: Mutex<[String: Int]>

    /// Opens the catalogue of the store in `folder`; a damaged one is put together again from the records.
    ///
    /// - Parameter report: told of a record that cannot be written.
    init(
        path folder: String, access: Access, report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(StoreError) {
        let path = folder + "/catalogue-1.sqlite"
        do {
            try Self.refuseNewer(path)
            switch access {
            case .readWrite:
                let opening = try CatalogueOpening(path, RecordFolder(Self.recordFolder(folder)))
                let queue = opening.queue
                (self.queue, initial, recovery) = (queue, opening.contents, opening.recovery)
                hasSummaries = (try? queue.read(SummaryRecord.areThere)) ?? false
                revisions = Mutex(opening.revisions)
                records = try RecordKeeper(
                    opening.records, present: opening.present, backlog: opening.unrecorded, report: report
                ) { id in
                    try queue.read { try Self.rows(of: id, $0) }
                }
            case .readOnly:
                let folder = try? Directory.existing(path: folder).subdirectory(RecordFolder.name)
                if folder == nil { try CatalogueFile(path: path).checkPermission() }
                (initial, recovery) = CatalogueOpening.read(path, folder.map(RecordFolder.init))
                (queue, records, hasSummaries) = (try Self.inMemory(), nil, false)
                revisions = Mutex([:])
            }
        } catch {
            throw StoreError(error, catalogue: path)
        }
    }

    deinit { records?.stop() }

    private static func recordFolder(_ folder: String) throws(StoreError) -> Directory {
        try Directory.open(path: folder).subdirectory(RecordFolder.name, create: true)
    }

    // MARK: Opening

    /// Throws `newer` for a file in which a newer Weir has made steps that this one does not know. It is opened for
    /// reading alone, so that not a byte of it changes; what is damaged is no business of this.
    private static func refuseNewer(_ path: String) throws {
        guard CatalogueFile(path: path).damage() == nil, let unknown = read(path, unknownSteps), !unknown.isEmpty else {
            return
        }
        let known = migrator.migrations.last ?? ""
        throw StoreError(
            .newer, path: path,
            detail:
                "a newer Weir has changed it (step \(unknown.joined(separator: ", ")); this Weir knows it up to \(known))"
        )
    }

    /// The steps that a newer Weir has made in a sound database.
    private static func unknownSteps(_ database: Database) throws -> [String] {
        let unknown = try migrator.appliedIdentifiers(database).subtracting(migrator.migrations)
        return try unknown.isEmpty || CatalogueReading.verdict(database) != nil ? [] : unknown.sorted()
    }

    /// Opens the file for writing, makes it if it is not there, and takes the steps that it lacks.
    static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.journalMode = .wal
        return try open(path, configuration)
    }

    /// The same for a file that is whole, by itself, once it is closed.
    static func openAlone(_ path: String) throws -> DatabaseQueue { try open(path, Configuration()) }

    private static func open(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        // Made here, nobody else can open it for a moment; SQLite gives the files beside it the same mode.
        close(Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600))
        chmod(path, 0o600)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // GRDB takes NORMAL for this mode, with which what was written last goes with the power: a whole asset for want of
        // its row, where pieces are synced within seconds. Rows are written seldom.
        try queue.inDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try queue.read(checkSteps)
        try migrator.migrate(queue)
        return queue
    }

    /// Throws `catalogue` for a database that is not ours, or has not come to be by our steps.
    private static func checkSteps(_ database: Database) throws {
        let steps = try migrator.appliedIdentifiers(database)
        let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
        guard steps == Set(migrator.migrations.prefix(steps.count)), isEmpty == steps.isEmpty else {
            throw StoreError(.catalogue, path: database.description, detail: "it is another program's, or damaged")
        }
    }

    /// A catalogue that nobody sees.
    static func inMemory() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try migrator.migrate(queue)
        return queue
    }

    /// Reads something, and changes nothing; nil when reading fails.
    static func read<Value>(_ path: String, _ body: (Database) throws -> Value) -> Value? {
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
        migrator.registerMigration("10") { database in
            try database.execute(
                sql: """
                    CREATE TABLE checksum (
                        asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, revision INTEGER NOT NULL,
                        sum TEXT NOT NULL);
                    """)
        }
        migrator.registerMigration("11") { database in
            for column in ["came", "firstPlayed", "expires", "dated", "lapsed", "invalidated"] {
                try database.execute(sql: "ALTER TABLE key ADD COLUMN \(column) INTEGER")
            }
            try database.execute(
                sql: """
                    ALTER TABLE key ADD COLUMN digest TEXT;
                    ALTER TABLE storage ADD COLUMN keysExpire INTEGER;
                    ALTER TABLE storage ADD COLUMN keysAfterFirstPlay INTEGER;
                    """)
        }
        migrator.registerMigration("12", migrate: SummaryRecord.createTable)
        // The order of registration is that of the steps; what their names are says nothing.
        migrator.registerMigration("9") { database in
            try database.execute(
                sql: """
                    CREATE TABLE place (
                        asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, path TEXT, mark TEXT,
                        hasOther BOOLEAN NOT NULL, otherPath TEXT, otherMark TEXT);
                    """)
        }
        migrator.registerMigration("13") { try $0.execute(sql: "ALTER TABLE asset ADD COLUMN fromNetwork BOOLEAN") }
        return migrator
    }

    /// All rows.
    static func contents(_ database: Database) throws -> Contents {
        Contents(
            assets: try AssetRecord.all(database, order: "created, id"),
            playlists: try PlaylistRecord.all(database),
            keys: try KeyRecord.order(Column("number")).fetchAll(database),
            downloads: try DownloadRecord.all(database, order: "created, rowid"),
            recordings: try RecordingRecord.fetchAll(database),
            storage: try StorageRecord.fetchAll(database),
            // What cannot be written may lack the last step.
            places: try database.tableExists(PlaceRecord.databaseTableName) ? PlaceRecord.fetchAll(database) : [])
    }

    // MARK: Writing

    /// Writes records over the former ones of the same keys: all of them, or on an error none.
    ///
    /// - Parameter renditions: those of the asset `id` whose playlists are forgotten first.
    /// - Throws: `catalogue` also for what belongs to an asset that is not, or no longer, there.
    public func save(
        _ contents: Contents, without renditions: [String] = [], of id: String = ""
    ) async throws(StoreError) {
        let changed = Set(contents.assets.map(\.id) + contents.owners + (renditions.isEmpty ? [] : [id]))
        try await write { database in
            for rendition in renditions {
                _ = try PlaylistRecord.deleteOne(database, key: ["asset": id, "rendition": rendition])
            }
            try Self.upsert(contents, database)
            return changed
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
        try await forget(id) { database in
            try record?.update(database)
            try storage?.upsert(database)
            return record.map { [$0.id] } ?? []
        }
    }

    /// Forgets the asset with its playlists, keys and download.
    public func removeAsset(_ id: String) async throws(StoreError) {
        try await forget(id) { _ in [] }
    }

    private func forget(
        _ id: String, _ change: @escaping @Sendable (Database) throws -> [String]
    ) async throws(StoreError) {
        do throws(StoreError) {
            try await write { [records] database in
                // What revises it will revise nothing.
                let revisions = try String.fetchSet(
                    database, sql: "SELECT id FROM asset WHERE revises = ?", arguments: [id])
                // The record first: if the process ends between the two the asset is still there, or is gone.
                try records?.remove(id)
                _ = try AssetRecord.deleteOne(database, key: id)
                return revisions.union(try change(database))
            }
        } catch {
            records?.note([id])
            throw error
        }
    }

    /// - Parameter change: tells whose rows it has changed.
    private func write(_ change: @escaping @Sendable (Database) throws -> Set<String>) async throws(StoreError) {
        do {
            let changed = try await queue.write { database in
                var changed: [String: Int] = [:]
                for id in try change(database) { changed[id] = try Self.sum(id, database) }
                return changed
            }
            revisions.withLock { $0.merge(changed) { max($0, $1) } }
            records?.note(changed.keys)
        } catch {
            throw StoreError(error, catalogue: queue.path)
        }
    }

    /// How often the rows of an asset were changed, as far as that is written.
    public func revision(of id: String) -> Int { revisions.withLock { $0[id] ?? 0 } }

    /// Reads what lists said of assets, as far as the rows are as they were then; none where that cannot be read. It waits for
    /// the disk: not on the loop.
    public func readSummaries() -> [SummaryRecord] { hasSummaries ? (try? queue.read(SummaryRecord.current)) ?? [] : [] }

    /// Writes what a list says of assets, unless their rows have changed since that was worked out.
    public func save(summaries: [SummaryRecord]) async throws(StoreError) {
        do {
            try await queue.write { database in
                for summary in summaries { try summary.saveIfCurrent(database) }
            }
        } catch {
            throw StoreError(error, catalogue: queue.path)
        }
    }

    /// Waits until the records say what the catalogue does, as far as the disk takes them.
    func flush() async {
        guard let records else { return }
        await withCheckedContinuation { continuation in records.flush { continuation.resume() } }
    }
}
