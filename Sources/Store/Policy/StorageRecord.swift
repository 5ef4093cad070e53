public import GRDB

/// The policy of one asset and when it was played, as the catalogue knows it: only of those of which there is anything to
/// say.
public struct StorageRecord: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord {
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
    /// Whether tools for backups are told to pass it over.
    public var isExcluded: Bool
    /// See `KeyTerms`; in seconds.
    public var keysExpire: Int64?
    /// See `KeyTerms`; in seconds.
    public var keysAfterFirstPlay: Int64?
    /// When it was played first, in seconds since 1970.
    public var firstPlayed: Int64?
    /// When it was last played, in seconds since 1970.
    public var lastPlayed: Int64?
    /// When it was purged, in seconds since 1970; nil where it was not.
    public var purged: Int64?
    /// The bytes that it took then.
    public var purgedBytes: Int64?
    /// The persistent name of `StorageLife.Cause`.
    public var purgeCause: String?

    /// The record of an asset's life.
    public init(asset: String, _ life: StorageLife) {
        self.asset = asset
        (expires, afterFirstPlay) = (life.policy.expires, life.policy.afterFirstPlay)
        (priority, isExcluded) = (life.policy.priority.rawValue, life.policy.isExcludedFromBackups)
        (keysExpire, keysAfterFirstPlay) = (life.policy.keys.lifetime, life.policy.keys.afterFirstPlay)
        (firstPlayed, lastPlayed) = (life.firstPlayed, life.lastPlayed)
        (purged, purgedBytes, purgeCause) = (life.purge?.date, life.purge?.bytes, life.purge?.cause.rawValue)
    }

    /// What it says. Words that a newer Weir has written are taken for the usual.
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
