import CLibevent
public import EventLoop
import Glibc

/// The connections of one or several servers, and the accepted sockets that wait for one to end. They share a limit, because they
/// share the descriptors and the memory of the process.
@LoopActor public final class ConnectionPool {
    private let limit: Int
    private(set) var connections: [Connection] = []
    /// The number of connections of each client that has any.
    private var counts: [ClientKey: Int] = [:]
    private var waiting = WaitingConnections()
    /// Admits those that wait in the loop's next turn: within a connection's turn the buffer of what was read is in use.
    private var admission: LoopTimer?
    /// True if accepted sockets wait for a connection to end.
    private(set) var isCrowded = false
    private var activities = 0
    /// Called for each new connection.
    public var whenConnected: (@LoopActor () -> Void)?
    /// Most connections that are read before one is closed: each read may cost a request.
    private static let mostReads = 16

    /// Creates a pool.
    /// - Parameter limit: the most open connections, and the most sockets that wait.
    public init(limit: Int) { self.limit = limit }

    isolated deinit {
        for entry in waiting.removeAll() {
            Glibc.close(entry.descriptor)
        }
    }

    /// Returns the number of an activity, by which the longest idle connection is found within a tick.
    func nextActivity() -> Int {
        activities += 1
        return activities
    }

    /// The number of a client's connections and waiting sockets.
    func count(of client: ClientKey) -> Int { (counts[client] ?? 0) + waiting.count(of: client) }

    /// True if sockets wait that a server has accepted.
    func hasWaiting(of core: ServerCore) -> Bool { isCrowded && waiting.contains { $0.core === core } }

    /// Makes an accepted socket a connection, at once or when there is room.
    func accept(_ arrival: WaitingConnections.Entry) {
        if makeRoom(for: arrival.client) {
            arrival.core.admit(arrival)
            return admitWaiting()
        }
        isCrowded = true
        if let refused = waiting.add(arrival, limit: limit) {
            refused.refuse()
        }
        admitSoon()
    }

    func insert(_ connection: Connection) {
        connection.slot = connections.count
        connections.append(connection)
        whenConnected?()
        counts[connection.key, default: 0] += 1
    }

    func remove(_ connection: Connection) {
        let last = connections.removeLast()
        if last !== connection {
            last.slot = connection.slot
            connections[connection.slot] = last
        }
        let left = (counts[connection.key] ?? 1) - 1
        if left > 0 {
            counts[connection.key] = left
        } else {
            counts[connection.key] = nil
        }
        admitSoon()
    }

    /// Removes the sockets that a server has accepted and for which `isMeant` is true.
    func removeWaiting(
        of core: ServerCore, where isMeant: (WaitingConnections.Entry) -> Bool = { _ in true }
    ) -> [WaitingConnections.Entry] {
        let removed = waiting.removeAll { $0.core === core && isMeant($0) }
        isCrowded = !waiting.isEmpty
        return removed
    }

    /// Closes the idle connection that was not used for the longest time. Returns false if there is none.
    func closeIdle() -> Bool {
        let idle = connections.filter(\.isIdle).min { $0.holding.activity < $1.holding.activity }
        idle?.close(.serverStopped)
        return idle != nil
    }

    /// Closes the connection whose client has read nothing of its reply for the longest time: of all clients, or of one. Returns
    /// false if all of them read.
    func closeLongestSilent(of client: ClientKey? = nil) -> Bool {
        guard let victim = FairShare.longestSilent(among: connections.map(\.holding), of: client) else { return false }
        connections[victim].close(.serverStopped)
        return true
    }

    /// The number of connections without those whose clients have neither sent nor read anything for a time: a player that is
    /// paused, or that nobody will ever continue.
    public func count(withoutSilentFor span: Duration) -> Int { connections.count { !$0.isSilent(for: span) } }

    /// The files that clients have not read to the end, each once.
    public var unreadFiles: Set<UnreadFile> { Set(connections.compactMap(\.unreadFile)) }

    func admitSoon() {
        guard isCrowded else { return }
        if admission == nil {
            admission = LoopTimer { [weak self] in self?.admitWaiting() }
        }
        admission?.fireSoon()
    }

    /// Gives the free connections to those that wait, and idle ones of clients that have more. Not within a connection's turn.
    func admitWaiting() {
        guard isCrowded else { return }
        while let next = waiting.next(held: counts), makeRoom(for: next.client) {
            waiting.remove(next)
            next.core.admit(next)
        }
        isCrowded = !waiting.isEmpty
        // A client that has stopped reading gives way soon.
        if isCrowded {
            admission?.schedule(after: .nanoseconds(FairShare.readingGrace))
        }
    }

    /// True if one more connection of the client fits; closes another one if necessary.
    private func makeRoom(for client: ClientKey) -> Bool {
        var reads = 0
        while connections.count >= limit {
            let holdings = connections.map(\.holding)
            guard let victim = FairShare.victim(for: client, among: holdings, counts: counts) else { return false }
            // Connections are accepted before those of the same turn are read: its request may have arrived.
            if reads < Self.mostReads, connections[victim].readWaiting() {
                reads += 1
                continue
            }
            // The newcomer waits until this request of its own client was read, in the loop's next turn.
            if reads == Self.mostReads, connections[victim].key == client, connections[victim].hasUnread {
                return false
            }
            connections[victim].close(.serverStopped)
        }
        return true
    }
}

extension WaitingConnections.Entry {
    /// Answers 503 and closes. Does not block, since the socket's send buffer is empty.
    func refuse() {
        let text: StaticString = """
            HTTP/1.1 503 Service Unavailable\r
            Retry-After: 1\r
            Content-Type: text/plain; charset=utf-8\r
            Content-Length: 36\r
            Connection: close\r
            \r
            There are too many open connections.
            """
        send(descriptor, text.utf8Start, text.utf8CodeUnitCount, Int32(MSG_NOSIGNAL))
        shutdown(descriptor, Int32(SHUT_WR))
        Glibc.close(descriptor)
    }
}
