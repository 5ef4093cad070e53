import EventLoop

/// What the play cache asks.
extension Audience {
    /// What those who play an asset are about to need of it.
    func needs(of asset: Asset) -> NeedWindows {
        let now = now()
        var needs = NeedWindows()
        for attendee in attendees.values where attendee.asset === asset {
            guard attendee.isPresent(at: now) else { continue }
            needs.add(around: attendee.playhead.position(at: now))
            if let end = attendee.playhead.askedEnd { needs.add(around: end) }
        }
        return needs
    }

    /// Whether a session has asked for a segment, and is not over.
    func attends(_ session: String) -> Bool { attendees[session] != nil }
}
