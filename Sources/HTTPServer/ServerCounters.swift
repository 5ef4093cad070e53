/// Counters of a server since it was created.
public struct ServerCounters: Sendable, Equatable {
    /// Accepted connections.
    public internal(set) var connections = 0
    /// Finished replies, indexed by the first digit of their status; index 0 is unused.
    public internal(set) var replies = [0, 0, 0, 0, 0, 0]

    /// All counters at zero.
    public init() {}

    /// Adds another server's counters.
    public mutating func add(_ other: ServerCounters) {
        connections += other.connections
        for index in replies.indices { replies[index] += other.replies[index] }
    }

    mutating func count(status: Int) {
        if (100..<600).contains(status) { replies[status / 100] += 1 }
    }
}
