import GRDB

/// One asset's entry in lists, stored so that a list needs neither the asset's playlists nor its folders.
///
/// It is computed from the asset's rows and the disk, and valid only while both are unchanged: `revision` identifies the rows,
/// `stamp` the folders. So a list is correct after a crash too. A lost summary is computed again; records do not contain it.
public struct SummaryRecord: Equatable, Sendable, CatalogueRow {
    static let table = "summary"
    /// The asset's id.
    public var asset: String
    /// The format of the other columns. Rows of other formats are ignored.
    public var version: Int
    /// The revision of the rows that it was computed from.
    public var revision: Int
    /// The `BundleStamp` of the folders that it was computed from.
    public var stamp: String
    /// How much of it plays without the network, in the list's own word.
    public var local: String
    /// True if it is live.
    public var isLive: Bool
    /// The media's length in seconds; nil if unknown.
    public var duration: Double?
    /// The stored bytes.
    public var bytes: Int64
    /// The stored bytes that playback cached.
    public var cachedBytes: Int64
    /// True if an image is stored with it.
    public var hasArtwork: Bool
    /// The best stored quality, for people.
    public var quality: String?
    /// The offered tracks, in the list's own format.
    public var tracks: String

    /// Makes a summary whose `revision` and `stamp` are still to be set.
    public init(
        asset: String, version: Int, local: String, isLive: Bool, duration: Double?, bytes: Int64, cachedBytes: Int64,
        hasArtwork: Bool, quality: String?, tracks: String
    ) {
        self.asset = asset
        self.version = version
        self.local = local
        self.isLive = isLive
        self.duration = duration
        self.bytes = bytes
        self.cachedBytes = cachedBytes
        self.hasArtwork = hasArtwork
        self.quality = quality
        self.tracks = tracks
        revision = 0
        stamp = ""
    }

    static let columns: [RowColumn<Self>] = [
        .init("asset", \.asset), .init("version", \.version), .init("revision", \.revision), .init("stamp", \.stamp),
        .init("local", \.local), .init("isLive", \.isLive), .init("duration", \.duration), .init("bytes", \.bytes),
        .init("cachedBytes", \.cachedBytes), .init("hasArtwork", \.hasArtwork), .init("quality", \.quality),
        .init("tracks", \.tracks),
    ]

    static let blank = SummaryRecord(
        asset: "", version: 0, local: "", isLive: false, duration: nil, bytes: 0, cachedBytes: 0, hasArtwork: false,
        quality: nil, tracks: "")

    static func exist(_ database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM summary)") ?? false
    }

    static func current(_ database: Database) throws -> [SummaryRecord] {
        try all(
            database,
            "s WHERE EXISTS (SELECT 1 FROM checksum c WHERE c.asset = s.asset AND c.revision = s.revision)")
    }

    /// Writes the summary, unless the rows have changed since it was computed.
    func saveIfCurrent(_ database: Database) throws {
        let isCurrent = try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM checksum WHERE asset = ? AND revision = ?)",
            arguments: [asset, revision])
        if isCurrent ?? false {
            try upsert(database)
        }
    }
}
