/// How long what is stored of an asset is kept, and how gladly it is given up.
///
/// Pure: who asks says what time it is. In JSON, as `asset.json` has it, what is not set is left out.
public struct StoragePolicy: Equatable, Sendable {
    /// What goes first where the disk has no room left. The raw values are kept in the catalogue and never change.
    public enum Priority: String, Codable, Sendable {
        /// Goes after all others.
        case important
        /// What most have.
        case `default`
    }

    /// From when on it is not played any more, in seconds since 1970; nil for never.
    public var expires: Int64?
    /// For how many seconds it is played from the first time on that it is; nil for ever.
    public var afterFirstPlay: Int64?
    /// What goes first.
    public var priority: Priority
    /// Whether tools for backups are told to pass it over.
    public var isExcludedFromBackups: Bool
    /// For how long its keys are used, while the media stays.
    public var keys: KeyTerms

    /// A policy; without anything, the one of whoever says nothing.
    public init(
        expires: Int64? = nil, afterFirstPlay: Int64? = nil, priority: Priority = .default,
        isExcludedFromBackups: Bool = false, keys: KeyTerms = KeyTerms()
    ) {
        self.expires = expires
        self.afterFirstPlay = afterFirstPlay
        self.priority = priority
        self.isExcludedFromBackups = isExcludedFromBackups
        self.keys = keys
    }

    /// When it expires, in seconds since 1970: by its date or by its window, whichever comes first; nil for never.
    ///
    /// - Parameter firstPlayed: when it was played first; nil where it was not.
    public func expiration(firstPlayed: Int64?) -> Int64? {
        guard let afterFirstPlay, let firstPlayed else { return expires }
        let (end, overflows) = firstPlayed.addingReportingOverflow(afterFirstPlay)
        return min(expires ?? .max, overflows ? .max : end)
    }
}

/// What becomes of an asset's storage in time: its policy, when it was played, and what was purged.
public struct StorageLife: Equatable, Sendable {
    /// What was purged, and why. The raw values are kept in the catalogue and never change.
    public enum Cause: String, Codable, Sendable {
        /// It had expired.
        case expired
        /// The disk had no room left, and it was of default priority.
        case space
        /// The same, and nothing else was left that might go.
        case spaceThoughImportant = "space-important"
    }

    /// That all of it went.
    public struct Purge: Equatable, Sendable {
        /// When, in seconds since 1970.
        public var date: Int64
        /// The bytes that it took.
        public var bytes: Int64
        /// Why.
        public var cause: Cause

        /// A purge.
        public init(date: Int64, bytes: Int64, cause: Cause) {
            (self.date, self.bytes, self.cause) = (date, bytes, cause)
        }
    }

    /// What the user wants.
    public var policy = StoragePolicy()
    /// When it was played first, in seconds since 1970: since there is a window, where there is one; nil where it was
    /// not.
    public var firstPlayed: Int64?
    /// When it was last played, to the length of a session; nil where it never was.
    public var lastPlayed: Int64?
    /// That it was purged, until something of it is asked for anew.
    public var purge: Purge?

    /// The life of what nobody has played and nobody has a wish about.
    public init() {}

    /// When it expires, in seconds since 1970; nil for never.
    public var expiration: Int64? { policy.expiration(firstPlayed: firstPlayed) }

    /// Whether it has expired, at a time in seconds since 1970.
    public func isExpired(at now: Int64) -> Bool { expiration.map { $0 <= now } ?? false }

    /// Takes note that a session plays it.
    public mutating func notePlay(at now: Int64) {
        firstPlayed = firstPlayed ?? now
        lastPlayed = max(lastPlayed ?? now, now)
    }

    /// Takes another policy. A window that there was not before begins with the next time that it is played, or with now
    /// if that is the case: what was watched last year would have expired else the moment that somebody gives it a
    /// weekend.
    public mutating func adopt(_ policy: StoragePolicy, isPlaying: Bool, at now: Int64) {
        if self.policy.afterFirstPlay == nil, policy.afterFirstPlay != nil { firstPlayed = isPlaying ? now : nil }
        self.policy = policy
    }
}
