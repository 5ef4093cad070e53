public import Orders

/// The times of one key, without the key itself.
///
/// Pure: the caller passes the current time. All times are in seconds since 1970.
public struct KeyLife: Equatable, Sendable {
    /// The remaining seconds of a key; nil for no limit.
    public struct Remaining: Equatable, Sendable {
        /// Seconds to its date or the end of its lifetime.
        public var storage: Int64?
        /// Seconds of the window that its first use opens; the whole window before that.
        public var playback: Int64?
    }

    /// Time of the delivery or the last renewal; nil if unknown.
    public var came: Int64?
    /// Time of the first playback with it; nil if there is no window.
    public var firstPlayed: Int64?
    /// The key's own expiry date; nil if it has none.
    public var expires: Int64?
    /// Time at which `expires` was set: a renewal adds the same duration again.
    public var dated: Int64?
    /// Time at which its expiry was detected: setting the clock back does not revive the key.
    public var expiredAt: Int64?
    /// Time of its revocation.
    public var revoked: Int64?
    /// The SHA-256 of the key, which shows if a new delivery is a different key. Kept after the file is deleted.
    public var digest: Digest?
    /// Makes the life of an unknown key.
    public init() {}

    /// The time of expiry: the earliest of its date, the end of its lifetime, and the end of its window; nil for never.
    public func expiration(by terms: KeyTerms) -> Int64? {
        [ending(by: terms), windowEnd(by: terms)].compactMap(\.self).min()
    }

    private func ending(by terms: KeyTerms) -> Int64? {
        [expires, Self.sum(came, terms.lifetime)].compactMap(\.self).min()
    }

    private func windowEnd(by terms: KeyTerms) -> Int64? { Self.sum(firstPlayed, terms.afterFirstPlay) }

    private static func sum(_ start: Int64?, _ span: Int64?) -> Int64? {
        guard let start, let span else { return nil }
        let (end, overflows) = start.addingReportingOverflow(span)
        guard !overflows else { return .max }
        return end
    }

    /// Returns the key's usability, whether it is stored or not: never `missing`.
    public func state(by terms: KeyTerms, at now: Int64) -> KeyState {
        if revoked != nil {
            return .revoked
        }
        if expiredAt != nil {
            return .expired
        }
        guard let expiration = expiration(by: terms) else { return .valid }
        return expiration <= now ? .expired : .valid
    }

    /// Returns the remaining times; 0 for an unusable key.
    public func remaining(by terms: KeyTerms, at now: Int64) -> Remaining {
        guard state(by: terms, at: now) == .valid else {
            return Remaining(storage: 0, playback: terms.afterFirstPlay.map { _ in 0 })
        }
        let storage = ending(by: terms).map { Self.time(to: $0, from: now) }
        let playback = windowEnd(by: terms).map { Self.time(to: $0, from: now) }
        return Remaining(storage: storage, playback: playback ?? terms.afterFirstPlay)
    }

    private static func time(to end: Int64, from now: Int64) -> Int64 {
        let (left, overflows) = end.subtractingReportingOverflow(now)
        guard !overflows else { return .max }
        return left
    }

    /// The origin has delivered or renewed the key: all durations restart. `digest` is its SHA-256; nil if it is unreadable.
    public mutating func renew(at now: Int64, digest: Digest?) {
        if let expires, let dated {
            self.expires = Self.sum(now, max(0, expires.subtractingReportingOverflow(dated).partialValue))
            self.dated = now
        }
        came = now
        firstPlayed = nil
        expiredAt = nil
        revoked = nil
        self.digest = digest ?? self.digest
    }

    /// The asset is played: a window begins. Returns true if anything has changed.
    public mutating func recordPlay(by terms: KeyTerms, at now: Int64) -> Bool {
        guard terms.afterFirstPlay != nil, firstPlayed == nil, state(by: terms, at: now) == .valid else { return false }
        firstPlayed = now
        return true
    }

    /// The user sets or removes the key's own date. This can make an expired key usable again.
    public mutating func setExpiration(_ expires: Int64?, at now: Int64) {
        self.expires = expires
        dated = expires.map { _ in now }
        expiredAt = nil
    }

    /// The asset gets other terms. A new window begins with the next playback, or now if the asset is being played.
    public mutating func adopt(_ terms: KeyTerms, after former: KeyTerms, isPlaying: Bool, at now: Int64) {
        guard terms != former else { return }
        expiredAt = nil
        if former.afterFirstPlay == nil {
            firstPlayed = nil
            if isPlaying, terms.afterFirstPlay != nil {
                firstPlayed = now
            }
        }
    }

    /// The user revokes the key.
    public mutating func revoke(at now: Int64) { revoked = revoked ?? now }

    /// Records the key's expiry. Returns true if it has expired since the last call.
    public mutating func expire(by terms: KeyTerms, at now: Int64) -> Bool {
        guard expiredAt == nil, state(by: terms, at: now) == .expired else { return false }
        expiredAt = now
        return true
    }
}
