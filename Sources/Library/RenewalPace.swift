/// When fresh URLs may be asked for: as often as they are of use.
///
/// Signed URLs may live for seconds, and those that a renewal gave may have expired before all who were refused could
/// use them. So whoever got something since the last renewal makes the next one due at once; an origin that refuses for
/// good, from which nothing comes, is left alone for a while.
struct RenewalPace {
    /// How many resources came, or went on.
    private(set) var arrivals = 0
    private var last: (at: ContinuousClock.Instant, arrivals: Int)?
    /// How long an origin is left alone for.
    static let pause = Duration.seconds(5)

    /// Whether fresh URLs may be asked for.
    func isDue(now: ContinuousClock.Instant) -> Bool {
        last.map { arrivals > $0.arrivals || now - $0.at > Self.pause } ?? true
    }

    /// They are asked for.
    mutating func began(now: ContinuousClock.Instant) { last = (now, arrivals) }

    /// Something came by the URLs that are known.
    mutating func arrived() { arrivals += 1 }

    /// The URLs have another reason to be good now.
    mutating func reset() { last = nil }
}
