package import Orders

/// How long an asset stays stored, and in which order assets are evicted.
///
/// Pure: the caller passes the current time. The JSON in `asset.json` omits values that are not set.
public struct StoragePolicy: Equatable, Sendable {
    /// The expiry date, in seconds since 1970; nil for none.
    public var expires: Int64?
    /// Seconds from the first playback to the expiry; nil for no limit.
    public var afterFirstPlay: Int64?
    /// The order of eviction on a full disk.
    package var priority: Priority
    /// True if backup tools are to skip the asset.
    public var isExcludedFromBackups: Bool
    /// The lifetimes of its keys.
    public var keys: KeyTerms

    /// Makes a policy; the default policy without arguments.
    package init(
        expires: Int64? = nil, afterFirstPlay: Int64? = nil, priority: Priority = .default,
        isExcludedFromBackups: Bool = false, keys: KeyTerms = KeyTerms()
    ) {
        (self.expires, self.afterFirstPlay, self.priority) = (expires, afterFirstPlay, priority)
        (self.isExcludedFromBackups, self.keys) = (isExcludedFromBackups, keys)
    }

    /// The expiry in seconds since 1970: the earlier of its date and its window's end (`firstPlayed` nil: none); nil: never.
    public func expiration(firstPlayed: Int64?) -> Int64? {
        guard let afterFirstPlay, let firstPlayed else { return expires }
        let (end, overflows) = firstPlayed.addingReportingOverflow(afterFirstPlay)
        return min(expires ?? .max, overflows ? .max : end)
    }
}

/// The storage state of an asset: its policy, the times of playback, and its last purge.
public struct StorageLife: Equatable, Sendable {
    /// The reason of a purge. The raw values are in the catalogue and never change.
    public enum Cause: String, Codable, Sendable {
        case expired
        /// The disk was full, and the asset had default priority.
        case space
        /// The disk was full, and only important assets were left.
        case spaceThoughImportant = "space-important"
    }

    /// The purge of a whole asset.
    public struct Purge: Equatable, Sendable {
        /// The time, in seconds since 1970.
        public var date: Int64
        /// The freed bytes.
        public var bytes: Int64
        /// The reason.
        public var cause: Cause

        /// Makes a purge of its fields.
        public init(date: Int64, bytes: Int64, cause: Cause) {
            (self.date, self.bytes, self.cause) = (date, bytes, cause)
        }
    }

    /// The user's policy.
    public var policy = StoragePolicy()
    /// Time of the first playback, in seconds since 1970, or of the first one in the current window; nil without one.
    public var firstPlayed: Int64?
    /// Time of the last playback, at the granularity of a session; nil if it was never played.
    public var lastPlayed: Int64?
    /// The last purge; nil once something of the asset is requested again.
    public var purge: Purge?
    /// Makes the state of an unplayed asset with the default policy.
    public init() {}
    /// The time of expiry, in seconds since 1970; nil for never.
    public var expiration: Int64? { policy.expiration(firstPlayed: firstPlayed) }
    /// True if it has expired at a time in seconds since 1970.
    public func isExpired(at now: Int64) -> Bool { expiration.map { $0 <= now } ?? false }

    /// Records a playback.
    public mutating func recordPlay(at now: Int64) {
        firstPlayed = firstPlayed ?? now
        lastPlayed = max(lastPlayed ?? now, now)
    }

    /// Sets another policy. A new window begins with the next playback, or now if the asset is being played: an asset last
    /// watched a year ago must not expire at once when the user gives it a weekend.
    public mutating func adopt(_ policy: StoragePolicy, isPlaying: Bool, at now: Int64) {
        if self.policy.afterFirstPlay == nil, policy.afterFirstPlay != nil { firstPlayed = isPlaying ? now : nil }
        self.policy = policy
    }
}

/// The JSON in `asset.json`: `{"expires": 1798070400, "afterFirstPlay": 172800, "priority": "important",
/// "backup": "exclude", "keysExpire": 2592000, "keysAfterFirstPlay": 172800}`.
extension StoragePolicy: Codable {
    private enum Key: String, CodingKey {
        case expires, afterFirstPlay, priority, backup, keysExpire, keysAfterFirstPlay
    }

    /// Decodes a policy. An unknown priority of a newer Weir reads as the default.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let priority = try values.decodeIfPresent(String.self, forKey: .priority).flatMap(Priority.init)
        self.init(
            expires: try values.decodeIfPresent(Int64.self, forKey: .expires),
            afterFirstPlay: try values.decodeIfPresent(Int64.self, forKey: .afterFirstPlay),
            priority: priority ?? .default,
            isExcludedFromBackups: try values.decodeIfPresent(String.self, forKey: .backup) == "exclude",
            keys: KeyTerms(
                lifetime: try values.decodeIfPresent(Int64.self, forKey: .keysExpire),
                afterFirstPlay: try values.decodeIfPresent(Int64.self, forKey: .keysAfterFirstPlay)))
    }

    /// Encodes the values that are set.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encodeIfPresent(expires, forKey: .expires)
        try values.encodeIfPresent(afterFirstPlay, forKey: .afterFirstPlay)
        if priority != .default {
            try values.encode(priority, forKey: .priority)
        }
        try values.encodeIfPresent(keys.lifetime, forKey: .keysExpire)
        try values.encodeIfPresent(keys.afterFirstPlay, forKey: .keysAfterFirstPlay)
        if isExcludedFromBackups { try values.encode("exclude", forKey: .backup) }
    }
}
