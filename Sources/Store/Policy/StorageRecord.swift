public import GRDB

/// The policy of one asset and the times when it was played. An asset that has neither has no row.
public struct StorageRecord: Codable, Equatable, Sendable, PersistableRecord, CatalogueRow {
    /// The table's name.
    public static let databaseTableName = "storage"
    /// The asset's id.
    public var asset: String
    /// See `StoragePolicy`; in seconds since 1970.
    public var expires: Int64?
    /// See `StoragePolicy`; in seconds.
    public var afterFirstPlay: Int64?
    /// The persistent name of `StoragePolicy.Priority`.
    public var priority: String
    /// True if backup tools are to skip the asset.
    public var isExcluded: Bool
    /// See `KeyTerms`; in seconds.
    public var keysExpire: Int64?
    /// See `KeyTerms`; in seconds.
    public var keysAfterFirstPlay: Int64?
    /// Time of the first playback, in seconds since 1970.
    public var firstPlayed: Int64?
    /// Time of the last playback, in seconds since 1970.
    public var lastPlayed: Int64?
    /// Time of the purge, in seconds since 1970; nil if it was not purged.
    public var purged: Int64?
    /// The bytes that the purge freed.
    public var purgedBytes: Int64?
    /// The persistent name of `StorageLife.Cause`.
    public var purgeCause: String?

    /// Makes the record of an asset's storage.
    public init(asset: String, _ life: StorageLife) {
        self.asset = asset
        (expires, afterFirstPlay) = (life.policy.expires, life.policy.afterFirstPlay)
        (priority, isExcluded) = (life.policy.priority.rawValue, life.policy.isExcludedFromBackups)
        (keysExpire, keysAfterFirstPlay) = (life.policy.keys.lifetime, life.policy.keys.afterFirstPlay)
        (firstPlayed, lastPlayed) = (life.firstPlayed, life.lastPlayed)
        (purged, purgedBytes, purgeCause) = (life.purge?.date, life.purge?.bytes, life.purge?.cause.rawValue)
    }

    static let columns: [RowColumn<Self>] = [
        .init("asset", \.asset), .init("expires", \.expires), .init("afterFirstPlay", \.afterFirstPlay),
        .init("priority", \.priority), .init("isExcluded", \.isExcluded), .init("keysExpire", \.keysExpire),
        .init("keysAfterFirstPlay", \.keysAfterFirstPlay), .init("firstPlayed", \.firstPlayed),
        .init("lastPlayed", \.lastPlayed), .init("purged", \.purged), .init("purgedBytes", \.purgedBytes),
        .init("purgeCause", \.purgeCause),
    ]

    static let blank = StorageRecord(asset: "", StorageLife())

    /// The asset's storage. Words that only a newer Weir knows read as the default.
    public var life: StorageLife {
        var life = StorageLife()
        life.policy = StoragePolicy(
            expires: expires, afterFirstPlay: afterFirstPlay,
            priority: StoragePolicy.Priority(rawValue: priority) ?? .default, isExcludedFromBackups: isExcluded,
            keys: KeyTerms(lifetime: keysExpire, afterFirstPlay: keysAfterFirstPlay))
        (life.firstPlayed, life.lastPlayed) = (firstPlayed, lastPlayed)
        if let purged, let purgedBytes {
            let cause = purgeCause.flatMap(StorageLife.Cause.init) ?? .space
            life.purge = StorageLife.Purge(date: purged, bytes: purgedBytes, cause: cause)
        }
        return life
    }
}
