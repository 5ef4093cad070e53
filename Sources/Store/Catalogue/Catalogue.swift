import GRDB
import Glibc
import Synchronization

/// The index of the store: the assets, their playlists as fetched, their keys' numbers, and the downloads.
///
/// One SQLite file, `catalogue-1.sqlite`, with the format's version in its name. It does not list the stored pieces: the
/// bundles do. All rows are read at the start. Writes run on a queue of their own, so that no request waits for a disk.
public final class Catalogue: Sendable {
    /// The version of the SQLite library that is loaded: `3.40.1`.
    public static var libraryVersion: String {
        let number = Database.sqliteLibVersionNumber
        return "\(number / 1_000_000).\(number / 1_000 % 1_000).\(number % 1_000)"
    }

    enum Access { case readWrite, readOnly }

    /// Rows of all tables: everything in the catalogue, or the rows of one write.
    public struct Contents: Equatable, Sendable {
        /// The assets, oldest first.
        public var assets: [AssetRecord] = []
        /// Their playlists.
        public var playlists: [PlaylistRecord] = []
        /// Their keys, by number.
        public var keys: [KeyRecord] = []
        /// The downloads, oldest first.
        public var downloads: [DownloadRecord] = []
        /// The renditions that are or were recorded.
        public var recordings: [RecordingRecord] = []
        /// The assets' policies, and the times when they were played.
        public var storage: [StorageRecord] = []
        /// The volumes of the bundles that were moved.
        public var volumes: [VolumeRecord] = []

        /// Makes contents of rows, empty by default.
        public init(
            assets: [AssetRecord] = [], playlists: [PlaylistRecord] = [], keys: [KeyRecord] = [],
            downloads: [DownloadRecord] = [], recordings: [RecordingRecord] = [], storage: [StorageRecord] = [],
            volumes: [VolumeRecord] = []
        ) {
            self.assets = assets
            self.playlists = playlists
            self.keys = keys
            self.downloads = downloads
            self.recordings = recordings
            self.storage = storage
            self.volumes = volumes
        }
    }

    /// All rows at the time of opening, without the playlists once they are released.
    public var initial: Contents { opened.withLock { $0 } }
    private let opened: Mutex<Contents>
    /// The repair of a file that was damaged, missing or out of date; nil if there was none.
    public let recovery: CatalogueRecovery?
    /// True if there were any summaries at the time of opening.
    public let hasSummaries: Bool
    /// The removals that were waiting for a volume at the time of opening.
    let awaitedRemovals: [AwaitedRemoval]
    let queue: DatabaseQueue
    private let records: RecordWriter?
    private let revisions: Mutex<[String: Int]>
    /// The ids of the assets that this process has deleted; see ``BundleStore/hasTraces(of:)``. A write reads it within its transaction,
    /// so that it knows of each deletion before it.
    private let deleted = Mutex<Set<String>>([])

    /// Opens the store's catalogue; a damaged one is rebuilt. `report` is called for a record that cannot be written.
    init(
        path folder: String, access: Access, report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(StoreError) {
        let path = folder + "/catalogue-1.sqlite"
        do {
            try Self.refuseNewer(path)
            switch access {
            case .readWrite:
                let records = try Directory.open(path: folder).subdirectory(RecordFolder.name, create: true)
                let opening = try CatalogueOpening(path, RecordFolder(records))
                let queue = opening.queue
                self.queue = queue
                recovery = opening.recovery
                opened = Mutex(opening.contents)
                hasSummaries = (try? queue.read(SummaryRecord.exist)) ?? false
                awaitedRemovals = (try? queue.read { try AwaitedRemoval.all($0) }) ?? []
                revisions = Mutex(opening.revisions)
                self.records = try RecordWriter(
                    opening.records, present: opening.present, backlog: opening.unrecorded, report: report
                ) { id in
                    try queue.read { try Self.soundRows(of: id, $0) }
                }
                _ = Self.rehearsal
            case .readOnly:
                let folder = try? Directory.existing(path: folder).subdirectory(RecordFolder.name)
                if folder == nil {
                    try CatalogueFile(path: path).checkPermission()
                }
                let read = CatalogueOpening.read(path, folder.map(RecordFolder.init))
                opened = Mutex(read.0)
                recovery = read.1
                queue = try Self.inMemory()
                records = nil
                hasSummaries = false
                awaitedRemovals = []
                revisions = Mutex([:])
            }
        } catch {
            throw StoreError(error, catalogue: path)
        }
    }

    deinit { records?.stop() }

    /// Releases the playlists of `initial`, which the library's assets have now.
    public func releasePlaylists() { opened.withLock { $0.playlists = [] } }

    // MARK: Rows

    static func contents(_ database: Database) throws -> Contents {
        var contents = Contents()
        for table in Contents.tables {
            try table.read(nil, database, &contents)
        }
        return contents
    }

    /// Reads all rows of one asset. Returns nil for an asset that is not in the catalogue.
    static func rows(of id: String, _ database: Database) throws -> AssetRows? {
        var contents = Contents()
        for table in Contents.tables {
            try table.read(id, database, &contents)
        }
        guard let asset = contents.assets.first else { return nil }
        let revision = try ChecksumRecord.all(of: id, database).first?.revision ?? 0
        return AssetRows(revision: revision, asset: asset, contents)
    }

    /// Reads all rows of one asset for its record. Throws if they do not match their checksum: damage must not become part of the
    /// record, which replaces the rows at the next start.
    static func soundRows(of id: String, _ database: Database) throws -> AssetRows? {
        guard let rows = try rows(of: id, database) else { return nil }
        guard let sum = try ChecksumRecord.all(of: id, database).first?.sum, rows.match(sum) else {
            throw StoreError(
                .catalogue, path: database.description,
                detail: "the rows of \(id) are not as they were written; the next start reads them from its record")
        }
        return rows
    }

    /// Reads the playlists, keys and other rows of an asset; none of one that is not in the catalogue. Waits for the disk.
    public func rows(of id: String) throws(StoreError) -> Contents {
        do {
            return try queue.read { try Self.rows(of: id, $0)?.belongings ?? Contents() }
        } catch {
            throw StoreError(error, catalogue: queue.path)
        }
    }

    /// Writes what the first play of a film writes, to a database in memory. The first time takes some milliseconds more, in
    /// Swift's runtime, and a player would wait for them.
    private static let rehearsal = Task.detached {
        guard let queue = try? inMemory() else { return }
        defer { try? queue.retire() }
        _ = try? queue.write { database in
            var changes = RowChanges()
            try changes.save(Contents(assets: [.blank], playlists: [.blank]), database)
            return try changes.finish(database)
        }
    }

    /// Replaces all rows. In `assets`, revisions follow the assets that they revise.
    static func rewrite(_ assets: [AssetRows], _ database: Database) throws {
        try database.execute(sql: "DELETE FROM asset")
        for rows in assets {
            var differences: [String: RowSum] = [:]
            for table in Contents.tables {
                try table.replace(rows.contents, database, &differences)
            }
            try ChecksumRecord(rows).insert(database)
        }
    }

    // MARK: Writing

    /// Writes rows, replacing those with the same keys: all of them, or none on an error. The playlists of `renditions` of the
    /// asset `id` are deleted first. Throws `catalogue`, also for a row of an asset that is not in the catalogue. An asset that was
    /// deleted before this write stays deleted, and its record is left out.
    public func save(
        _ contents: Contents, without renditions: [String] = [], of id: String = ""
    ) async throws(StoreError) {
        try await write { database, changes in
            try changes.deletePlaylists(of: renditions, of: id, database)
            var contents = contents
            let deleted = self.deleted.withLock { $0 }
            contents.assets.removeAll { deleted.contains($0.id) }
            try changes.save(contents, database)
        }
    }

    /// Deletes the asset with its playlists, keys and download, and updates its successor in the same transaction.
    /// `record` is the successor; nil if it is not in the catalogue. `storage` is the successor's policy. For `awaited` see
    /// `removeAsset`.
    public func supersede(
        _ id: String, by record: AssetRecord?, _ storage: StorageRecord? = nil, awaiting awaited: [AwaitedRemoval] = []
    ) async throws(StoreError) {
        let path = queue.path
        try await delete(id, awaiting: awaited) { database, changes in
            if let record {
                // Removed meanwhile, it must not come back.
                guard try AssetRecord.exists(record.id, database) else {
                    throw StoreError(.catalogue, path: path, detail: "\(record.id) is not in it any more")
                }
            }
            let assets = [record].compactMap(\.self)
            let lives = [storage].compactMap(\.self)
            try changes.save(Contents(assets: assets, storage: lives), database)
        }
    }

    /// True if this process has deleted an asset of this id.
    func hasDeleted(_ id: String) -> Bool { deleted.withLock { $0.contains(id) } }

    /// Deletes the asset with its playlists, keys and download. `awaited` are the volumes from which its folder is still to be
    /// removed; they replace those of an earlier call.
    public func removeAsset(_ id: String, awaiting awaited: [AwaitedRemoval] = []) async throws(StoreError) {
        try await delete(id, awaiting: awaited) { _, _ in }
    }

    private func delete(
        _ id: String, awaiting awaited: [AwaitedRemoval],
        _ change: @escaping @Sendable (Database, inout RowChanges) throws -> Void
    ) async throws(StoreError) {
        let wasDeleted = deleted.withLock { $0.contains(id) }
        do throws(StoreError) {
            try await write { [records] database, changes in
                let revisions = try AssetRecord.all(database, "WHERE revises = ?", arguments: [id])
                // The record goes first: if the process ends before the commit, the rows are still there.
                try records?.remove(id)
                try database.execute(sql: "DELETE FROM asset WHERE id = ?", arguments: [id])
                changes.loseRevised(revisions)
                try database.execute(sql: "DELETE FROM removal WHERE asset = ?", arguments: [id])
                for removal in awaited {
                    try removal.insert(database)
                }
                try change(database, &changes)
                self.deleted.withLock { _ = $0.insert(id) }
            }
        } catch {
            // A second call for an id, which deletes what waited for a volume, does not undo the first.
            if !wasDeleted {
                deleted.withLock { _ = $0.remove(id) }
            }
            records?.scheduleWhole(id)
            throw error
        }
        await emptyLog()
    }

    /// Writes the log's pages to the database and empties the log, which has old versions of deleted rows. If the disk is
    /// full, the next removal or the end of the process does so: the rows themselves are deleted.
    private func emptyLog() async {
        _ = try? await queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }

    /// Runs `change` in a transaction, and updates the checksums of the assets whose rows it has changed.
    func write(
        _ change: @escaping @Sendable (Database, inout RowChanges) throws -> Void
    ) async throws(StoreError) {
        do {
            let changed = try await queue.write { database in
                var changes = RowChanges()
                try change(database, &changes)
                return try changes.finish(database)
            }
            revisions.withLock { revisions in
                for change in changed {
                    revisions[change.asset] = max(revisions[change.asset] ?? 0, change.revision)
                }
            }
            records?.schedule(changed)
        } catch {
            throw StoreError(error, catalogue: queue.path)
        }
    }

    /// The number of committed changes of an asset's rows.
    public func revision(of id: String) -> Int { revisions.withLock { $0[id] ?? 0 } }

    /// Reads the summaries that match their rows; none if they are unreadable. Waits for the disk: not on the loop.
    public func readSummaries() -> [SummaryRecord] {
        guard hasSummaries, let summaries = try? queue.read(SummaryRecord.current) else { return [] }
        return summaries
    }

    /// Writes summaries, except those of assets whose rows have changed since.
    public func save(summaries: [SummaryRecord]) async throws(StoreError) {
        do {
            try await queue.write { database in
                for summary in summaries {
                    try summary.saveIfCurrent(database)
                }
            }
        } catch {
            throw StoreError(error, catalogue: queue.path)
        }
    }

    func flush() async {
        guard let records else { return }
        await records.flush()
    }
}
