import Glibc

/// Identifies a client, among whose connections and those of others the server's connections are shared.
struct ClientKey: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64
    private let user: PeerUser

    /// Each address is a client: the devices of a home share the first half of their IPv6 addresses. Of this machine, each
    /// user at an address is one, but another user than the daemon's owner is one at all of them: programs may connect from any
    /// address in 127.0.0.0/8.
    init(_ peer: SocketAddress, _ user: PeerUser = .unknown, isOtherUser: Bool = false) {
        let number: (high: UInt64, low: UInt64) = isOtherUser ? (0, 0) : peer.number
        high = number.high
        low = number.low
        self.user = user
    }
}

/// Decides which connection is closed for a new one when all are taken. Pure.
///
/// A client with more connections than the newcomer's has to give one up, whatever that one does. Otherwise a connection is
/// closed only if nothing is lost by it, and the newcomer waits if there is no such connection.
struct FairShare {
    /// The use that a connection is put to, from the least to the most valuable one.
    enum Use: Int, CaseIterable {
        /// Answered and refused; waits for the client to close.
        case lingering
        /// Between two requests.
        case idle
        /// No byte was received yet.
        case silent
        /// A part of a request was received.
        case partial
        /// A reply waits for the client to read.
        case sending
        case handling
    }

    struct Holding {
        let client: ClientKey
        let use: Use
        /// True if it has made no progress for `grace`.
        let isStale: Bool
        /// Increases with each activity of any connection.
        let activity: Int
    }

    /// The span in which a new connection, or one with a part of a request, is not closed for another of its client.
    static let grace = Duration.seconds(1)
    /// The span in which a client must take a part of a long playlist, in nanoseconds: players read a playlist at once.
    static let readingGrace: Int64 = 50_000_000
    /// The monotonic clock in nanoseconds. Copying a `ContinuousClock.Instant?` costs a call, which each reply would make.
    static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    /// Above this part of all connections, those without a whole request are a crowd, and the oldest is closed at once. A
    /// usual client sends its request together with the connection, and has done so before as many others have come.
    static let crowd = 4
    /// So few are never a crowd.
    static let usualCount = 16

    /// The index of the connection to close for a new one of `newcomer`; nil if the newcomer has to wait.
    /// - Parameter counts: the number of connections of each client.
    static func victim(
        for newcomer: ClientKey, among holdings: [Holding], counts: [ClientKey: Int]
    ) -> Int? {
        let own = counts[newcomer] ?? 0
        let most = counts.values.max() ?? 0
        let isForced = own + 1 < most
        let least = isForced ? most : own

        // Nearly every accepted connection passes here during an attack, hence no dictionary and no copies.
        var uses = [Int](repeating: 0, count: Use.allCases.count)
        for holding in holdings {
            uses[holding.use.rawValue] += 1
        }
        let crowded = max(usualCount, holdings.count / crowd)
        let isBusy = uses[Use.sending.rawValue] + uses[Use.handling.rawValue] > crowded

        var best: (rank: Int, activity: Int, index: Int)?
        for index in holdings.indices {
            let holding = holdings[index]
            let isCrowded = uses[holding.use.rawValue] > crowded
            // The idle connection of another player at the same address; those of the crowd will soon be stale.
            if isBusy, holding.use == .idle, !holding.isStale, !isForced {
                continue
            }
            guard let rank = rank(of: holding, isCrowded: isCrowded, isForced: isForced) else { continue }
            if let best, (best.rank, best.activity) <= (rank, holding.activity) {
                continue
            }
            guard counts[holding.client] ?? 0 >= least else { continue }
            best = (rank, holding.activity, index)
        }

        return best?.index
    }

    /// The index of the connection whose client has read nothing of its reply for the longest time; nil if all of them read.
    /// - Parameter client: nil for all clients.
    static func longestSilent(among holdings: [Holding], of client: ClientKey? = nil) -> Int? {
        let silent = holdings.indices.filter { index in
            let holding = holdings[index]
            return holding.use == .sending && holding.isStale && holding.client == client ?? holding.client
        }
        return silent.min { holdings[$0].activity < holdings[$1].activity }
    }

    /// The rank in the order of closing; nil if the connection must not be closed for this newcomer.
    private static func rank(of holding: Holding, isCrowded: Bool, isForced: Bool) -> Int? {
        switch holding.use {
        case .lingering: return 0
        case .silent, .partial:
            if isCrowded {
                return 1
            }
            guard holding.isStale || isForced else { return nil }
            return 2 + holding.use.rawValue
        case .idle: return 2 + holding.use.rawValue
        case .sending, .handling:
            let isStuck = holding.isStale && holding.use == .sending
            if isStuck, isCrowded {
                return 1
            }
            guard isStuck || isForced else { return nil }
            return 2 + holding.use.rawValue
        }
    }
}

/// Accepted sockets that wait for a connection of another client or of their own to end. They are not read.
struct WaitingConnections {
    struct Entry {
        let descriptor: Int32
        let peer: Connection.Client
        var client: ClientKey { peer.key }
        let requestGuard: RequestGuard
        /// The server that has accepted it.
        let core: ServerCore
        /// The server's tick of its arrival.
        let since: Int
    }

    private var entries: [Entry] = []
    var isEmpty: Bool { entries.isEmpty }

    func contains(where isMeant: (Entry) -> Bool) -> Bool { entries.contains(where: isMeant) }

    /// Adds a socket. Returns the one that has to leave if more than `limit` wait: the latest of the client with the most.
    mutating func add(_ entry: Entry, limit: Int) -> Entry? {
        entries.append(entry)
        guard entries.count > limit else { return nil }
        let counts = entries.reduce(into: [ClientKey: Int]()) { $0[$1.client, default: 0] += 1 }
        let most = counts.values.max() ?? 0
        return entries.lastIndex { counts[$0.client] == most }.map { entries.remove(at: $0) }
    }

    /// The next one: the first of the client with the fewest connections.
    func next(held counts: [ClientKey: Int]) -> Entry? {
        entries.min { counts[$0.client, default: 0] < counts[$1.client, default: 0] }
    }

    /// The number of a client's sockets.
    func count(of client: ClientKey) -> Int { entries.count { $0.client == client } }

    mutating func remove(_ entry: Entry) { entries.removeAll { $0.descriptor == entry.descriptor } }

    /// Removes those for which `isMeant` is true, in the order of their arrival.
    mutating func removeAll(where isMeant: (Entry) -> Bool = { _ in true }) -> [Entry] {
        let left = entries.filter(isMeant)
        entries.removeAll(where: isMeant)
        return left
    }
}
