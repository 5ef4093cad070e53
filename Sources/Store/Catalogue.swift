import GRDB
import Glibc

/// The index of the store: which assets there are, their playlists as fetched, their keys' numbers, and the downloads.
///
/// One SQLite file, `catalogue-1.sqlite`; the format's version is in the name. Which pieces are there it does not say: the
/// bundles do. It is read whole at the start; writes run on a queue of their own, so that no request waits for a disk.
public final class Catalogue: Sendable {
    /// How the file may be used.
    enum Access { case readWrite, readOnly }

    /// Everything in it.
    public struct Contents: Equatable, Sendable {
        /// The assets, oldest first.
        public var assets: [AssetRecord] = []
        /// Their playlists.
        public var playlists: [PlaylistRecord] = []
        /// Their keys, by number.
        public var keys: [KeyRecord] = []
        /// The downloads, oldest first.
        public var downloads: [DownloadRecord] = []
    }

    /// What was in it when it was opened.
    public let initial: Contents
    /// Where a catalogue that could not be read was put aside, if that happened.
    public let setAside: String?

    private let queue: DatabaseQueue

    init(path folder: String, access: Access) throws(StoreError) {
        let path = folder + "/catalogue-1.sqlite"
        do {
            switch access {
            case .readWrite: (queue, initial, setAside) = try Self.openOrReplace(path)
            case .readOnly: (queue, initial, setAside) = (try Self.inMemory(), Self.readIfPossible(path), nil)
            }
        } catch let error as DatabaseError {
            throw StoreError(
                error.resultCode == .SQLITE_FULL ? .diskFull : .notWritable, path: path, detail: error.message)
        } catch {
            throw StoreError(.catalogue, path: path, detail: "\(error)")
        }
    }

    // MARK: Opening

    private typealias Opened = (DatabaseQueue, Contents, String?)

    /// Opens the file; one that is no database, or a damaged one, is put aside and a new one begun.
    private static func openOrReplace(_ path: String) throws -> Opened {
        do {
            let queue = try open(path)
            return (queue, try contents(of: queue), nil)
        } catch let error as DatabaseError
            where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
        {
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
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        chmod(path, 0o600)
        try migrator.migrate(queue)
        return queue
    }

    private static func inMemory() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try migrator.migrate(queue)
        return queue
    }

    /// What a store on a read-only disk says; nothing when even reading fails.
    private static func readIfPossible(_ path: String) -> Contents {
        var configuration = Configuration()
        configuration.readonly = true
        // `immutable`: without it SQLite wants to make the files of its write-ahead log beside the database.
        let uri = "file:\(path)?immutable=1"
        guard let queue = try? DatabaseQueue(path: uri, configuration: configuration) else { return Contents() }
        return (try? contents(of: queue)) ?? Contents()
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
        return migrator
    }

    private static func contents(of queue: DatabaseQueue) throws -> Contents {
        try queue.read { database in
            Contents(
                assets: try AssetRecord.order(Column("created"), Column("id")).fetchAll(database),
                playlists: try PlaylistRecord.fetchAll(database),
                keys: try KeyRecord.order(Column("number")).fetchAll(database),
                downloads: try DownloadRecord.order(Column("created"), Column("asset")).fetchAll(database))
        }
    }

    // MARK: Writing

    /// Writes the asset, new or changed.
    public func save(_ record: AssetRecord) async throws(StoreError) { try await write { try record.upsert($0) } }

    /// Writes a playlist over the former one of the same rendition.
    public func save(_ record: PlaylistRecord) async throws(StoreError) { try await write { try record.upsert($0) } }

    /// Writes the numbers of keys.
    public func save(_ records: [KeyRecord]) async throws(StoreError) {
        try await write { database in for record in records { try record.upsert(database) } }
    }

    /// Writes the download, new or changed.
    public func save(_ record: DownloadRecord) async throws(StoreError) { try await write { try record.upsert($0) } }

    /// Forgets the asset with its playlists, keys and download.
    public func removeAsset(_ id: String) async throws(StoreError) {
        try await write { _ = try AssetRecord.deleteOne($0, key: id) }
    }

    private func write(_ change: @escaping @Sendable (Database) throws -> Void) async throws(StoreError) {
        do {
            try await queue.write(change)
        } catch let error as DatabaseError {
            let code: StoreError.Code = error.resultCode == .SQLITE_FULL ? .diskFull : .catalogue
            throw StoreError(code, path: queue.path, detail: error.message)
        } catch {
            throw StoreError(.catalogue, path: queue.path, detail: "\(error)")
        }
    }
}
