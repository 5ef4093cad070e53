import EventLoop

/// Questions of the room Retention.
extension Audience {
    /// The media times, in seconds, around which the sessions of an asset need segments soon.
    package func neededTimes(of asset: Asset) -> [Double] {
        let now = now()
        var times: [Double] = []
        for attendee in attendees.values where attendee.asset === asset {
            guard attendee.isPresent(at: now) else { continue }
            times.append(attendee.playhead.position(at: now))
            if let end = attendee.playhead.askedEnd { times.append(end) }
        }
        return times
    }

    /// Whether a session has asked for a segment, and is not over.
    package func attends(_ session: String) -> Bool { attendees[session] != nil }
}
