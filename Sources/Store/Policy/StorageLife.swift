public import Orders

/// The storage state of an asset: its policy, the times of playback, and its last purge.
public struct StorageLife: Equatable, Sendable {
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
    public func isExpired(at now: Int64) -> Bool {
        guard let expiration else { return false }
        return expiration <= now
    }

    /// Records a playback.
    public mutating func recordPlay(at now: Int64) {
        firstPlayed = firstPlayed ?? now
        lastPlayed = max(lastPlayed ?? now, now)
    }

    /// Sets another policy. A new window begins with the next playback, or now if the asset is being played: an asset last
    /// watched a year ago must not expire at once when the user gives it a weekend.
    public mutating func adopt(_ policy: StoragePolicy, isPlaying: Bool, at now: Int64) {
        if self.policy.afterFirstPlay == nil, policy.afterFirstPlay != nil {
            firstPlayed = nil
            if isPlaying {
                firstPlayed = now
            }
        }
        self.policy = policy
    }
}
