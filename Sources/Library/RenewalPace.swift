/// Limits the rate of renewals of URLs: as often as they help.
///
/// Signed URLs may be valid for seconds only, and those of a renewal may have expired before all refused fetches could
/// use them. So a resource that arrived since the last renewal makes the next one due at once. An origin that always
/// refuses, so that nothing arrives, is asked again only after a pause.
struct RenewalPace {
    /// Number of resources that arrived completely or in part.
    private(set) var arrivals = 0
    private var last: (at: ContinuousClock.Instant, arrivals: Int)?
    /// The pause between renewals that do not help.
    static let pause = Duration.seconds(5)

    /// True if a renewal may begin.
    func isDue(now: ContinuousClock.Instant) -> Bool {
        last.map { arrivals > $0.arrivals || now - $0.at > Self.pause } ?? true
    }

    /// Records the start of a renewal.
    mutating func began(now: ContinuousClock.Instant) { last = (now, arrivals) }

    /// Records that a resource arrived from a known URL.
    mutating func arrived() { arrivals += 1 }

    /// Allows the next renewal at once, because the URLs may be valid again.
    mutating func reset() { last = nil }
}
