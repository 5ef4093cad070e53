/// What a server has done since it was made.
public struct ServerCounters: Sendable, Equatable {
    /// Connections that were accepted.
    public internal(set) var connections = 0
    /// Replies that have ended, by the first digit of their status; the place 0 is for none.
    public internal(set) var replies = [0, 0, 0, 0, 0, 0]

    /// Nothing done yet.
    public init() {}

    /// Takes those of another server into account.
    public mutating func add(_ other: ServerCounters) {
        connections += other.connections
        for place in replies.indices { replies[place] += other.replies[place] }
    }

    mutating func note(status: Int) {
        if (100..<600).contains(status) { replies[status / 100] += 1 }
    }
}
