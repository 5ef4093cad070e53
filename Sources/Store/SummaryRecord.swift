public import GRDB

/// What a list says of one asset, so that it can be said again without its playlists being read or its folders looked into.
///
/// It is worked out from the asset's rows and from what is on disk, and counts only as long as both are as they were then:
/// `revision` tells of the rows, `stamp` of the folders. So a list is true after a crash as well, and what is lost of these
/// rows is worked out anew. No record of the asset has it.
public struct SummaryRecord: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    /// The table's name.
    public static let databaseTableName = "summary"
    /// The asset's id.
    public var asset: String
    /// Of what form the rest is; other forms are passed over.
    public var version: Int
    /// As `AssetRows.revision` at that time.
    public var revision: Int
    /// See `BundleStamp`.
    public var stamp: String
    /// How much of it plays without the network, in a word of who lists.
    public var local: String
    /// Whether it is live.
    public var isLive: Bool
    /// The media's length in seconds; nil where that is not known.
    public var duration: Double?
    /// The bytes that are stored.
    public var bytes: Int64
    /// How many of these merely flowed.
    public var cachedBytes: Int64
    /// Whether an image is kept with it.
    public var hasArtwork: Bool
    /// The best that is stored, in a word for people.
    public var quality: String?
    /// What it offers, in a text of who lists.
    public var tracks: String

    /// Of an asset as it is now; `revision` and `stamp` are still to be said.
    public init(
        asset: String, version: Int, local: String, isLive: Bool, duration: Double?, bytes: Int64, cachedBytes: Int64,
        hasArtwork: Bool, quality: String?, tracks: String
    ) {
        (self.asset, self.version, self.local, self.isLive) = (asset, version, local, isLive)
        (self.duration, self.bytes, self.cachedBytes, self.hasArtwork) = (duration, bytes, cachedBytes, hasArtwork)
        (self.quality, self.tracks, revision, stamp) = (quality, tracks, 0, "")
    }

    /// By place, which takes a third of the time that names take: there is a row for each asset at the start.
    public init(row: Row) throws {
        (asset, version, revision) = (
            try row.decode(atIndex: 0), try row.decode(atIndex: 1), try row.decode(atIndex: 2)
        )
        (stamp, local, isLive) = (try row.decode(atIndex: 3), try row.decode(atIndex: 4), try row.decode(atIndex: 5))
        (duration, bytes) = (try row.decode(atIndex: 6), try row.decode(atIndex: 7))
        (cachedBytes, hasArtwork) = (try row.decode(atIndex: 8), try row.decode(atIndex: 9))
        (quality, tracks) = (try row.decode(atIndex: 10), try row.decode(atIndex: 11))
    }

    static func createTable(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE summary (
                    asset TEXT PRIMARY KEY REFERENCES asset ON DELETE CASCADE, version INTEGER NOT NULL,
                    revision INTEGER NOT NULL, stamp TEXT NOT NULL, local TEXT NOT NULL, isLive BOOLEAN NOT NULL,
                    duration DOUBLE, bytes INTEGER NOT NULL, cachedBytes INTEGER NOT NULL,
                    hasArtwork BOOLEAN NOT NULL, quality TEXT, tracks TEXT NOT NULL);
                """)
    }

    /// Whether there is any.
    static func areThere(_ database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM summary)") ?? false
    }

    /// Those whose assets have the rows that they were worked out from.
    static func current(_ database: Database) throws -> [SummaryRecord] {
        let columns =
            "s.asset, version, s.revision, stamp, local, isLive, duration, bytes, cachedBytes, hasArtwork, quality, tracks"
        return try SummaryRecord.fetchAll(
            database,
            sql: "SELECT \(columns) FROM summary s JOIN checksum c ON c.asset = s.asset AND c.revision = s.revision")
    }

    /// Writes it, unless the rows have changed since it was worked out.
    func saveIfCurrent(_ database: Database) throws {
        let isCurrent = try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM checksum WHERE asset = ? AND revision = ?)",
            arguments: [asset, revision])
        if isCurrent ?? false { try upsert(database) }
    }
}
