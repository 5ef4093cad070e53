import Dispatch
import GRDB

/// What a catalogue's file says, and how much of it is what was written.
///
/// SQLite notices what no longer hangs together. A row that was changed behind its back it does not: for that there is a
/// sum of each asset's rows in the table `checksum`, written with them.
struct CatalogueReading: Sendable {
    /// All rows.
    private(set) var contents = Catalogue.Contents()
    /// How often each asset's rows were changed; for those alone whose rows are what was written.
    private(set) var revisions: [String: Int] = [:]
    /// Assets of which it is known that they were there, and are not, or not as they were.
    private(set) var lost: Set<String> = []
    /// What is wrong with the file, in words; nil for nothing.
    private(set) var damage: String?
    /// Whether an earlier version wrote it, which knew no sums.
    private(set) var isWithoutSums = false

    /// Of a file that is not there, or says nothing.
    init(damage: String? = nil) { self.damage = damage }

    /// Reads all of a file.
    ///
    /// - Parameter verdict: what another thread finds out on the same file meanwhile.
    /// - Throws: SQLite's error where not even that can be done.
    init(_ database: Database, _ verdict: CatalogueVerdict? = nil) throws {
        let hasSums = try database.tableExists(ChecksumRecord.databaseTableName)
        self.init(
            try Catalogue.contents(database), sums: hasSums ? try ChecksumRecord.all(database) : [],
            damage: try verdict?.result() ?? Self.verdict(database))
    }

    /// Compares rows with what is noted of them.
    init(_ contents: Catalogue.Contents, sums: [ChecksumRecord], damage: String? = nil) {
        (self.contents, self.damage) = (contents, damage)
        isWithoutSums = sums.isEmpty && !contents.assets.isEmpty
        compare(Dictionary(sums.map { ($0.asset, $0) }) { $1 })
    }

    /// What SQLite finds wrong with a database; nil for nothing. It reads all of it.
    static func verdict(_ database: Database) throws -> String? {
        let verdict = try String.fetchOne(database, sql: "PRAGMA integrity_check(1)")
        return verdict == "ok" ? nil : verdict ?? "cannot be checked"
    }

    /// The same of a file that cannot be used for another reason.
    func damaged(_ error: StoreError) -> CatalogueReading {
        var reading = self
        reading.damage = damage ?? error.detail ?? "\(error)"
        return reading
    }

    private mutating func compare(_ sums: [String: ChecksumRecord]) {
        var missing = sums
        let assets = assets
        for (rows, sum) in zip(assets, Self.sums(of: assets)) {
            let id = rows.asset.id
            if let noted = missing.removeValue(forKey: id), noted.digest == sum {
                revisions[id] = noted.revision
            } else {
                lost.insert(id)
            }
        }
        lost.formUnion(missing.keys)
        if isWithoutSums { return lost = [] }
        let ids = Set(contents.assets.map(\.id))
        if !lost.isEmpty {
            damage = damage ?? "\(lost.count) assets are not as they were written"
        } else if !contents.owners.allSatisfy(ids.contains) {
            damage = damage ?? "there are rows that belong to no asset"
        }
    }

    /// The sums of the rows of many assets, worked out by all processors.
    private static func sums(of assets: [AssetRows]) -> [Digest] {
        let share = 256
        return [Digest](unsafeUninitializedCapacity: assets.count) { buffer, count in
            // Each turn writes places of its own.
            nonisolated(unsafe) let places = buffer
            DispatchQueue.concurrentPerform(iterations: (assets.count + share - 1) / share) { turn in
                for place in turn * share..<min(assets.count, (turn + 1) * share) {
                    places.initializeElement(at: place, to: assets[place].sum)
                }
            }
            count = assets.count
        }
    }

    /// The rows of each asset, sound or not, the oldest first; what has no sum is of revision 0.
    var assets: [AssetRows] {
        let belongings = contents.belongings()
        return contents.assets.map { asset in
            AssetRows(
                revision: revisions[asset.id] ?? 0, asset: asset,
                belongings: belongings[asset.id] ?? Catalogue.Contents())
        }
    }

    /// The assets whose record says more than the file: it is later, or the rows are gone or changed.
    func outdated(by records: [String: [Int]]) -> [String] {
        records.filter { $0.value.first ?? 0 > revisions[$0.key] ?? 0 }.map(\.key)
    }
}

/// What is noted of an asset's rows when they are written.
struct ChecksumRecord: Codable, FetchableRecord, PersistableRecord, OrderedRecord {
    /// The table's name.
    static let databaseTableName = "checksum"
    /// The asset's id.
    let asset: String
    /// As `AssetRows.revision`.
    let revision: Int
    /// 64 hexadecimal digits, as `AssetRows.sum` writes them.
    let sum: String

    /// What is to be noted of these rows.
    init(_ rows: AssetRows) { (asset, revision, sum) = (rows.asset.id, rows.revision, rows.sum.description) }

    /// See `OrderedRecord`.
    static let columns = ["asset", "revision", "sum"]

    /// See `OrderedRecord`.
    init(ordered row: Row) throws {
        (asset, revision, sum) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1), try row.decode(atIndex: 2))
    }

    /// The sum; nil where it is none.
    var digest: Digest? { Digest(hexadecimal: sum.utf8) }
}
