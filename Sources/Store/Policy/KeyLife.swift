/// How long the keys of an asset are used, while its media stays: each counts for itself.
///
/// The two spans are those of the field's rentals: Apple's lease and Widevine's license count the one from when the key was
/// handed out, and the other, the playback duration, from the first time that it was of use.
public struct KeyTerms: Equatable, Sendable {
    /// For how many seconds a key is used from when it came, or was renewed; nil for ever.
    public var lifetime: Int64?
    /// For how many seconds it is used from the first time on that the asset is played with it; nil for ever.
    public var afterFirstPlay: Int64?

    /// Terms; without anything, none.
    public init(lifetime: Int64? = nil, afterFirstPlay: Int64? = nil) {
        (self.lifetime, self.afterFirstPlay) = (lifetime, afterFirstPlay)
    }
}

/// What becomes of one key in time. Never the key itself.
///
/// Pure: who asks says what time it is. All times are in seconds since 1970.
public struct KeyLife: Equatable, Sendable {
    /// Whether it may be used.
    public enum State: Equatable, Sendable {
        /// It may.
        case valid
        /// Its time is over; its file stays for a day.
        case expired
        /// A person has taken it back; its file is deleted.
        case invalidated
    }

    /// How long it is good for still, in seconds; nil for ever.
    public struct Remaining: Equatable, Sendable {
        /// To its date, or the end of its lifetime.
        public var storage: Int64?
        /// Of the window that its first use opens; all of it before that.
        public var playback: Int64?
    }

    /// When it came from the origin, or was renewed; nil where that is not known.
    public var came: Int64?
    /// When the asset was first played with it, where there is a window for that.
    public var firstPlayed: Int64?
    /// The date from which on it is not used, if it has one of its own.
    public var expires: Int64?
    /// When that date was given: a renewal gives the same span once more.
    public var dated: Int64?
    /// When it was seen to have expired: a clock that is set back does not revive it.
    public var lapsed: Int64?
    /// When it was invalidated.
    public var invalidated: Int64?
    /// The SHA-256 of its bytes, by which another key is told from the same; kept when the file goes.
    public var digest: Digest?

    /// The life of a key of which nothing is known.
    public init() {}

    /// When it expires, by its date, its lifetime or its window, whichever comes first; nil for never.
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
        return overflows ? .max : end
    }

    /// Whether it may be used.
    public func state(by terms: KeyTerms, at now: Int64) -> State {
        if invalidated != nil { return .invalidated }
        if lapsed != nil { return .expired }
        return expiration(by: terms).map { $0 <= now } ?? false ? .expired : .valid
    }

    /// How long it is good for still; nothing of what is over.
    public func remaining(by terms: KeyTerms, at now: Int64) -> Remaining {
        guard state(by: terms, at: now) == .valid else {
            return Remaining(storage: 0, playback: terms.afterFirstPlay.map { _ in 0 })
        }
        let left: (Int64) -> Int64 = { end in end.subtractingReportingOverflow(now).overflow ? .max : end - now }
        return Remaining(
            storage: ending(by: terms).map(left), playback: windowEnd(by: terms).map(left) ?? terms.afterFirstPlay)
    }

    // MARK: What happens to it

    /// It has come from the origin, for the first time or once more: all spans begin anew.
    ///
    /// - Parameter digest: of its bytes; nil where they could not be read.
    public mutating func arrive(at now: Int64, digest: Digest?) {
        if let expires, let dated {
            self.expires = Self.sum(now, max(0, expires.subtractingReportingOverflow(dated).partialValue))
            self.dated = now
        }
        (came, firstPlayed, lapsed, invalidated) = (now, nil, nil, nil)
        self.digest = digest ?? self.digest
    }

    /// The asset is played. A window begins.
    ///
    /// - Returns: whether anything has changed.
    public mutating func notePlay(by terms: KeyTerms, at now: Int64) -> Bool {
        guard terms.afterFirstPlay != nil, firstPlayed == nil, state(by: terms, at: now) == .valid else { return false }
        firstPlayed = now
        return true
    }

    /// A person gives it a date of its own, or takes that away. What has merely expired may be used again by that.
    public mutating func give(expires: Int64?, at now: Int64) {
        (self.expires, dated, lapsed) = (expires, expires.map { _ in now }, nil)
    }

    /// The asset has other terms. As with an asset's own window, one that was not there before begins with the next play,
    /// or with now.
    public mutating func adopt(_ terms: KeyTerms, after former: KeyTerms, isPlaying: Bool, at now: Int64) {
        guard terms != former else { return }
        lapsed = nil
        if former.afterFirstPlay == nil { firstPlayed = isPlaying && terms.afterFirstPlay != nil ? now : nil }
    }

    /// A person takes it back.
    public mutating func invalidate(at now: Int64) { invalidated = invalidated ?? now }

    /// Takes note of its end, if that has come.
    ///
    /// - Returns: whether it has just come.
    public mutating func lapse(by terms: KeyTerms, at now: Int64) -> Bool {
        guard lapsed == nil, state(by: terms, at: now) == .expired else { return false }
        lapsed = now
        return true
    }
}
