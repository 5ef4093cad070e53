/// How long an asset stays stored, and in which order assets are evicted.
///
/// Pure: the caller passes the current time. Its JSON is in `asset.json` and in the API.
public struct StoragePolicy: Equatable, Sendable {
    /// Inclusion of the asset's folder in backups.
    package enum Backup: String, Codable, Sendable, CaseIterable {
        case include
        /// Excluded by a CACHEDIR.TAG in the asset's folder.
        case exclude
    }

    /// Time from which the asset does not play, in seconds since 1970; nil for never.
    public var expires: Int64?
    /// Seconds from the first play for which the asset plays; nil for no limit.
    public var afterFirstPlay: Int64?
    /// The order of eviction when the disk is full.
    package var priority: Priority
    package var backup: Backup
    /// The lifetimes of its keys.
    public var keys: KeyTerms

    /// Makes a policy; the default policy without arguments.
    package init(
        expires: Int64? = nil, afterFirstPlay: Int64? = nil, priority: Priority = .default, backup: Backup = .include,
        keys: KeyTerms = KeyTerms()
    ) {
        self.expires = expires
        self.afterFirstPlay = afterFirstPlay
        self.priority = priority
        self.backup = backup
        self.keys = keys
    }

    /// The expiry in seconds since 1970: the earlier of its date and its window's end (`firstPlayed` nil: none); nil: never.
    public func expiration(firstPlayed: Int64?) -> Int64? {
        guard let afterFirstPlay, let firstPlayed else { return expires }
        let (end, overflows) = firstPlayed.addingReportingOverflow(afterFirstPlay)
        guard !overflows else { return expires ?? .max }
        return min(expires ?? .max, end)
    }

    /// The error in the policy, as a sentence that names the key in JSON; nil if it is valid.
    package var contradiction: String? {
        if let expires, !(0...Self.latest).contains(expires) {
            return "expires is not a time between the years 1970 and 9999, in seconds since 1970"
        }
        let spans = [
            (Key.afterFirstPlay, afterFirstPlay), (.keysExpire, keys.lifetime),
            (.keysAfterFirstPlay, keys.afterFirstPlay),
        ]
        for (key, span) in spans where span.map({ !(1...Self.longest).contains($0) }) ?? false {
            return "\(key.stringValue) is not a number of seconds from 1 to \(Self.longest), a hundred years"
        }
        return nil
    }

    /// The last second of the year 9999; later dates have no common text form.
    private static let latest: Int64 = 253_402_300_799
    /// One hundred years in seconds.
    private static let longest: Int64 = 100 * 31_557_600
}

/// The lifetimes of an asset's keys. Each key has its own times; the media stays when a key expires.
///
/// The two durations are those of rental licenses. Apple's lease and Widevine's license count one from the delivery of the
/// key, and the other, the playback duration, from its first use.
public struct KeyTerms: Equatable, Sendable {
    /// Seconds from the delivery or renewal of a key to its expiry; nil for no limit.
    public var lifetime: Int64?
    /// Seconds from the first playback with a key to its expiry; nil for no limit.
    public var afterFirstPlay: Int64?

    /// Makes terms; without limits by default.
    public init(lifetime: Int64? = nil, afterFirstPlay: Int64? = nil) {
        self.lifetime = lifetime
        self.afterFirstPlay = afterFirstPlay
    }
}

/// `{"expires": 1798070400, "afterFirstPlay": 172800, "priority": "important", "backup": "exclude", "keysExpire": 2592000,
/// "keysAfterFirstPlay": 172800}`
extension StoragePolicy: Codable {
    private enum Key: String, CodingKey {
        case expires, afterFirstPlay, priority, backup, keysExpire, keysAfterFirstPlay
    }

    /// Reads a policy. Absent keys have their defaults.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        self.init(
            expires: try values.decodeIfPresent(Int64.self, forKey: .expires),
            afterFirstPlay: try values.decodeIfPresent(Int64.self, forKey: .afterFirstPlay),
            priority: try values.decodeIfPresent(Priority.self, forKey: .priority) ?? .default,
            backup: try values.decodeIfPresent(Backup.self, forKey: .backup) ?? .include,
            keys: KeyTerms(
                lifetime: try values.decodeIfPresent(Int64.self, forKey: .keysExpire),
                afterFirstPlay: try values.decodeIfPresent(Int64.self, forKey: .keysAfterFirstPlay)))
    }

    /// Writes a policy. Limits that are not set are left out.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encodeIfPresent(expires, forKey: .expires)
        try values.encodeIfPresent(afterFirstPlay, forKey: .afterFirstPlay)
        try values.encode(priority, forKey: .priority)
        try values.encode(backup, forKey: .backup)
        try values.encodeIfPresent(keys.lifetime, forKey: .keysExpire)
        try values.encodeIfPresent(keys.afterFirstPlay, forKey: .keysAfterFirstPlay)
    }
}
