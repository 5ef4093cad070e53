import HTTPMessage

/// Which connections that stand idle are worth a request. Pure.
///
/// After a change of networks nobody says that a connection is dead: each would have to be waited for in vain, one after
/// the other. So once an origin has gone silent, what was connected to it before that is not used again.
struct ConnectionTrust {
    private var lost: [WebURL.Origin: ContinuousClock.Instant] = [:]
    /// libcurl itself lets no connection idle for longer (CURLOPT_MAXAGE_CONN).
    private static let idleLimit = Duration.seconds(118)

    /// A request was waited for in vain.
    mutating func silent(_ origin: WebURL.Origin, now: ContinuousClock.Instant) {
        lost = lost.filter { now - $0.value < Self.idleLimit }
        lost[origin] = now
    }

    /// How old a connection to the origin may be, in whole seconds; 0 for none that stands, nil for any.
    func oldest(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Int? {
        guard let moment = lost[origin], now - moment < Self.idleLimit else { return nil }
        return Int((now - moment).components.seconds)
    }
}
