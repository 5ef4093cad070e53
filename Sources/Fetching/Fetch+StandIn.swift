import EventLoop
import Origin

/// What there is to play where a fetch brings nothing, and how long its origin is waited for accordingly.
extension Fetch {
    /// What those who wait for a fetch have to play in its place.
    public enum StandIn: Comparable, Sendable {
        /// Nothing: the origin is waited for even if it is away.
        case none
        /// Something, as long as no byte of this has been sent: they read it as it comes.
        case untilBegun
        /// Something, until all of this is there: they are sent nothing before.
        case untilWhole
    }

    /// Takes note of what whoever comes to wait has to play. Who has the least counts.
    func note(_ standIn: StandIn) { self.standIn = isUnderWay && interest > 0 ? min(self.standIn, standIn) : standIn }

    /// Whether the present location need not be insisted on.
    var hasAlternate: Bool { standIn != .none || hasOtherOrigin }

    private var hasOtherOrigin: Bool { alternates?.hasUntried ?? false }

    /// Whether a player waits who has nothing else, so that an origin that is away is waited for, as long as there may be
    /// a network again. What is live is gone by then.
    var isInsisting: Bool { outcome == nil && urgency == .playback && isLasting && !hasAlternate }

    /// Whether it is worth while to give such a player a head before anything is known of what follows: not where the
    /// origin has answered with an error that may pass, which will soon be told.
    public var isWaitingForNetwork: Bool { isInsisting && !(transfer?.isPutOff ?? false) }

    /// Whether a player has nothing else once it has got the first byte.
    var isReadMeanwhile: Bool { standIn == .untilBegun && !hasOtherOrigin }

    /// Notes that the origin was waited for in vain where something else could be played: for a while it is not asked for
    /// what something can stand in for.
    public func doubtOrigin() {
        if standIn != .none, !hasOtherOrigin { client.presumeAbsent(after: request(for: location.range)) }
    }
}
