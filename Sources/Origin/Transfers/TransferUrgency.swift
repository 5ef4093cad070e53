import HTTPMessage

/// Says for whom a transfer is, and how urgently. Pure.
///
/// Its readers come and go: a player joins a download's transfer, leaves it to the download, or needs something else first. Each
/// change returns true if the transfer's rank in its host's queue may have changed.
struct TransferUrgency {
    private(set) var priority: OriginRequest.Priority
    /// True while it yields to another transfer of its player: it has a download's share of the link, and is still the player's.
    private(set) var isTrailing = false
    /// True if it may have to yield at any time, and should have little under way then.
    private(set) var mayTrail = false
    /// True if nobody waits for it.
    private(set) var isAbandoned = false
    private var ignoresAbsence: Bool
    /// As in the request; may become true later.
    var isReadWhileFetched: Bool

    init(_ request: borrowing OriginRequest) {
        priority = request.priority
        ignoresAbsence = request.ignoresAbsence
        isReadWhileFetched = request.isReadWhileFetched
    }

    /// True if its bytes are a download's.
    var isBackground: Bool { priority == .background && !isTrailing }

    /// True if its player waits for this origin, and has no alternative.
    var isInsisting: Bool { ignoresAbsence || isReadWhileFetched }

    /// The one that waits. A player whose request has its own policy has an alternative.
    func waiter(hasOwnPolicy: Bool) -> GiveUpRule.Waiter {
        guard !isBackground else { return .anyone }
        if !hasOwnPolicy, ignoresAbsence {
            return .player
        }
        if !hasOwnPolicy || isReadWhileFetched {
            return .playerOnceBegun
        }
        return .anyone
    }

    /// A player needs the bytes. Never lowers the priority.
    mutating func raise(to priority: OriginRequest.Priority, ignoresAbsence: Bool) -> Bool {
        self.ignoresAbsence = self.ignoresAbsence || ignoresAbsence
        isTrailing = false
        isAbandoned = false
        guard priority > self.priority else { return false }
        self.priority = priority
        return true
    }

    /// No player waits any more.
    mutating func lower(isAbandoned: Bool) -> Bool {
        isTrailing = false
        self.isAbandoned = isAbandoned
        guard priority == .playback else { return false }
        priority = .background
        return true
    }

    /// Somebody waits again, if not a player.
    mutating func reclaim() { isAbandoned = false }

    /// Begins or ends to yield to another transfer of its player. Only a player's can begin.
    mutating func holdBehind(_ trails: Bool) -> Bool {
        guard trails != isTrailing, !trails || priority == .playback else { return false }
        isTrailing = trails
        mayTrail = mayTrail || trails
        priority = trails ? .background : .playback
        return true
    }
}
