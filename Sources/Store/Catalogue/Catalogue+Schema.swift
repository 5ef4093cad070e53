import GRDB
import Glibc

extension Catalogue {
    /// A later change of the tables is one more step. A file with a step that is not in this list is from a newer Weir.
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: schema) }
        migrator.registerMigration("route") { try $0.execute(sql: "ALTER TABLE asset ADD COLUMN route TEXT") }
        migrator.registerMigration("live") { try $0.execute(sql: "ALTER TABLE playlist ADD COLUMN wasLive BOOLEAN") }
        migrator.registerMigration("note") { try $0.execute(sql: "ALTER TABLE asset ADD COLUMN note TEXT") }
        migrator.registerMigration("removal") { try $0.execute(sql: removals) }
        migrator.registerMigration("account") { try $0.execute(sql: "ALTER TABLE download ADD COLUMN account TEXT") }
        // No change of the tables: an earlier Weir would take the checksums for damaged.
        migrator.registerMigration("sums") { _ in }
        migrator.registerMigration("recordings") { try $0.execute(sql: recordings) }
        return migrator
    }

    /// Recordings of a channel share its URL. Not a reference to `asset`: a recording stays when its channel is removed.
    private static let recordings = """
        ALTER TABLE asset ADD COLUMN recordingOf TEXT;
        DROP INDEX assetOrigin;
        CREATE UNIQUE INDEX assetOrigin ON asset (origin) WHERE revises IS NULL AND recordingOf IS NULL;
        """

    /// Not a reference to `asset`: its rows are gone.
    private static let removals = """
        CREATE TABLE removal (
            asset TEXT NOT NULL, mark TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY (asset, mark));
        """

    private static let schema = """
        CREATE TABLE asset (
            id TEXT PRIMARY KEY, name TEXT NOT NULL, title TEXT, origin TEXT NOT NULL, created INTEGER NOT NULL,
            fields TEXT, revises TEXT UNIQUE REFERENCES asset ON DELETE SET NULL, fromNetwork BOOLEAN);
        CREATE UNIQUE INDEX assetName ON asset (name) WHERE revises IS NULL;
        CREATE UNIQUE INDEX assetOrigin ON asset (origin) WHERE revises IS NULL;
        CREATE TABLE playlist (
            asset TEXT NOT NULL REFERENCES asset ON DELETE CASCADE, rendition TEXT NOT NULL, url TEXT NOT NULL,
            body BLOB NOT NULL, imports TEXT, fetched INTEGER NOT NULL, PRIMARY KEY (asset, rendition));
        CREATE TABLE key (
            asset TEXT NOT NULL REFERENCES asset ON DELETE CASCADE, number INTEGER NOT NULL, url TEXT NOT NULL,
            came INTEGER, firstPlayed INTEGER, expires INTEGER, dated INTEGER, expiredAt INTEGER, revoked INTEGER,
            digest TEXT, PRIMARY KEY (asset, number));
        CREATE TABLE download (
            asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, renditions TEXT NOT NULL, state TEXT NOT NULL,
            task TEXT, need TEXT, errorCode TEXT, errorMessage TEXT, created INTEGER NOT NULL);
        CREATE TABLE recording (
            asset TEXT NOT NULL REFERENCES asset ON DELETE CASCADE, rendition TEXT NOT NULL,
            PRIMARY KEY (asset, rendition));
        CREATE TABLE storage (
            asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, expires INTEGER, afterFirstPlay INTEGER,
            priority TEXT NOT NULL, isExcluded BOOLEAN NOT NULL, keysExpire INTEGER, keysAfterFirstPlay INTEGER,
            firstPlayed INTEGER, lastPlayed INTEGER, purged INTEGER, purgedBytes INTEGER, purgeCause TEXT);
        CREATE TABLE volume (
            asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, path TEXT, mark TEXT,
            hasOther BOOLEAN NOT NULL, otherPath TEXT, otherMark TEXT);
        CREATE TABLE checksum (
            asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, revision INTEGER NOT NULL, sum TEXT NOT NULL);
        CREATE TABLE summary (
            asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, version INTEGER NOT NULL,
            revision INTEGER NOT NULL, stamp TEXT NOT NULL, local TEXT NOT NULL, isLive BOOLEAN NOT NULL,
            duration DOUBLE, bytes INTEGER NOT NULL, cachedBytes INTEGER NOT NULL, hasArtwork BOOLEAN NOT NULL,
            quality TEXT, tracks TEXT NOT NULL);
        """

    /// Throws `newer` for a sound file with steps of a newer Weir. The file is opened for reading only, so that not a byte
    /// of it changes. A damaged file passes: it is rebuilt later.
    static func refuseNewer(_ path: String) throws {
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

    private static func unknownSteps(_ database: Database) throws -> [String] {
        let unknown = try migrator.appliedIdentifiers(database).subtracting(migrator.migrations)
        guard !unknown.isEmpty else { return [] }
        // The list of steps of a damaged file says nothing about its writer.
        let isSound = try CatalogueReading.integrity(of: database) == nil
        guard isSound else { return [] }
        return unknown.sorted()
    }

    static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.journalMode = .wal
        return try open(path, configuration)
    }

    /// Opens the file without a write-ahead log: once closed, it is complete without any other file.
    static func openAlone(_ path: String) throws -> DatabaseQueue { try open(path, Configuration()) }

    private static func open(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        // Created with its final mode, it is closed to other users from the start. SQLite's other files get the same mode.
        close(Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600))
        chmod(path, 0o600)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // GRDB sets NORMAL for WAL, which loses the last transactions in a power cut. A whole asset would be lost for want
        // of its row, while its pieces are synced within seconds. Rows are written seldom, so FULL costs little.
        try queue.inDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        // Deleted rows hold titles and secrets of removed assets: SQLite would leave them in free pages.
        try queue.inDatabase { try $0.execute(sql: "PRAGMA secure_delete = ON") }
        try queue.read(checkSteps)
        try migrator.migrate(queue)
        return queue
    }

    /// Throws `catalogue` for a database of another program, or one whose list of steps is damaged.
    private static func checkSteps(_ database: Database) throws {
        let steps = try migrator.appliedIdentifiers(database)
        let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
        guard steps == Set(migrator.migrations.prefix(steps.count)), isEmpty == steps.isEmpty else {
            throw StoreError(.catalogue, path: database.description, detail: "it is another program's, or damaged")
        }
    }

    static func inMemory() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try migrator.migrate(queue)
        return queue
    }

    /// Opens the file for reading only. Returns nil if that or `body` fails.
    static func read<Value>(_ path: String, _ body: (Database) throws -> Value) -> Value? {
        var configuration = Configuration()
        configuration.readonly = true
        // With `immutable` SQLite needs no files beside the database, but ignores rows that are only in its log.
        for uri in [path, "file:\(escaped(path))?immutable=1"] {
            guard let queue = try? DatabaseQueue(path: uri, configuration: configuration) else { continue }
            defer { try? queue.retire() }
            if let value = try? queue.read(body) {
                return value
            }
        }
        return nil
    }

    private static func escaped(_ path: String) -> String {
        path.reduce(into: "") { $0 += ["%": "%25", "?": "%3f", "#": "%23"][$1] ?? String($1) }
    }

    static func checkShape(_ database: Database, path: String) throws {
        let queue = try inMemory()
        defer { try? queue.retire() }
        let expected = try queue.read(shape)
        guard try shape(database).isSuperset(of: expected) else {
            throw StoreError(.catalogue, path: path, detail: "its tables are not those of a catalogue")
        }
    }

    /// Lists every column with its type and key, every reference and every index, one line each.
    private static func shape(_ database: Database) throws -> Set<String> {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT 'column', t.name, c.name, c.type, c."notnull", c.pk
                    FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'
                UNION ALL SELECT 'reference', t.name, f."from", f."table", f."to", f.on_delete
                    FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.type = 'table'
                UNION ALL SELECT 'index', t.name, i.name, i."unique", i.partial, c.name
                    FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
                    WHERE t.type = 'table'
                """)
        return Set(rows.map { $0.databaseValues.map(\.description).joined(separator: " ") })
    }
}
