// The room HTTPServer.
//
// Duty: HTTP/1.1 for clients, on bufferevents: framing, deadlines, limits, who may ask, sendfile, bodies that grow.
// Entrance: `WebServer` with one handler, which answers an `Exchange`.
// Does not enter: routes, assets and the API. It knows growing bodies as a protocol only.

import CLibevent
public import EventLoop
import Glibc
public import HTTPMessage

/// An HTTP/1.1 server on the event loop: listeners, connections, and the rules that apply to each request before its handler.
///
/// `Configuration` sets framing and limits. The Host, Origin and Sec-Fetch-Site fields decide which requests are allowed. The
/// server answers OPTIONS itself; every other request goes to the single handler, which replies at once or later.
@LoopActor public final class WebServer {
    /// Handles one request. Must retain the exchange until it replies: a dropped exchange is answered 500.
    public typealias Handler = @LoopActor (Exchange) -> Void
    private let core: ServerCore
    private var listeners: [Listener] = []
    private var guards: [SocketAddress: RequestGuard] = [:]
    private var connections: [Connection] { core.pool.connections.filter { $0.core === core } }
    private var ticker, resumption, expiry: LoopTimer?
    private var isTicking = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Creates a server that does not listen yet. Without a policy, no body is long, and refusals are plain text.
    /// - Parameter pool: shared with other servers; nil for a pool of `configuration.connections` of its own.
    public init(
        configuration: Configuration = Configuration(), policy: (any RequestPolicy)? = nil, pool: ConnectionPool? = nil,
        handler: @escaping Handler
    ) {
        core = ServerCore(configuration, policy: policy, pool: pool, handler: handler)
        core.connectionLeft = { [weak self] in self?.connectionLeft() }
        core.admit = { [weak self] arrival in
            if let self {
                admit(arrival)
            } else {
                Glibc.close(arrival.descriptor)
            }
        }
    }

    isolated deinit {
        core.handler = { _ in }
        for entry in core.pool.removeWaiting(of: core) {
            Glibc.close(entry.descriptor)
        }
        for connection in connections {
            connection.close(.serverStopped)
        }
    }

    /// The number of open connections.
    public var connectionCount: Int { core.connectionCount }
    /// Counters since the server was created.
    public var counters: ServerCounters { core.counters }

    /// True if the system reports the user of each connection, so that `Configuration.owners` applies.
    public var knowsUsers: Bool { listeners.allSatisfy(\.knowsUsers) }

    /// Listens on a literal address. IPv6 sockets accept IPv6 only. May be called several times.
    /// - Parameter port: 0 for any free port.
    /// - Returns: the port.
    @discardableResult public func listen(host: String, port: UInt16) throws(HTTPServerError) -> UInt16 {
        let listener = try Listener(server: self, literal: host, port: port)
        listeners.append(listener)
        return listener.address.port
    }

    /// Listens on an inherited socket, IPv4 or IPv6, that already listens.
    /// - Returns: the address, as a literal without brackets, and the port.
    public func listen(
        inherited descriptor: consuming OwnedDescriptor
    ) throws(HTTPServerError) -> (host: String, port: UInt16) {
        let listener = try Listener(server: self, inherited: descriptor)
        listeners.append(listener)
        return (listener.address.host, listener.address.port)
    }

    /// Listens on a Unix socket at a path where no file is. Requests may have any Host, because no browser reaches it.
    public func listen(path: String) throws(HTTPServerError) {
        listeners.append(try Listener(server: self, path: path))
    }

    /// Stops the server: accepts nothing, closes idle connections, and all after `limit`; replies may finish until then.
    public func stop(within limit: Duration) async {
        core.isStopping = true
        listeners.removeAll()
        for entry in core.pool.removeWaiting(of: core) {
            Glibc.close(entry.descriptor)
        }
        for connection in connections where connection.isIdle {
            connection.close(.serverStopped)
        }
        guard core.connectionCount > 0 else { return }
        if expiry == nil {
            expiry = LoopTimer { [weak self] in self?.cutOff() }
        }
        expiry?.schedule(after: limit)
        await withCheckedContinuation { waiters.append($0) }
    }

    private func cutOff() {
        for connection in connections {
            connection.close(.serverStopped)
        }
    }

    func accept(_ descriptor: Int32, from peer: SocketAddress?, at listener: Listener) {
        guard !core.isStopping, let peer else {
            Glibc.close(descriptor)
            return
        }
        let arrival = WaitingConnections.Entry(
            descriptor: descriptor, peer: client(of: descriptor, peer, at: listener),
            requestGuard: requestGuard(for: descriptor, at: listener), core: core, since: core.now)
        let exceedsPeerLimit =
            (!peer.isLoopback || core.configuration.limitsLoopback)
            && core.pool.count(of: arrival.client) >= core.configuration.connectionsPerPeer
        // A client with too many gives up the one that it has not read for the longest time.
        if exceedsPeerLimit, !core.pool.closeLongestSilent(of: arrival.client) {
            return arrival.refuse()
        }
        core.pool.accept(arrival)
        // Those that wait too long are refused in time.
        if core.pool.hasWaiting(of: core) {
            startTicking()
        }
    }

    private func admit(_ arrival: WaitingConnections.Entry) {
        let connection = Connection(
            core, descriptor: arrival.descriptor, client: arrival.peer, requestGuard: arrival.requestGuard)
        guard let connection else { return arrival.refuse() }
        core.counters.connections += 1
        core.connectionCount += 1
        core.pool.insert(connection)
        startTicking()
    }

    /// Asks the system for the user of an accepted connection, once. Not by the peer's address: a process of this machine may
    /// connect to a loopback address from any address of the machine.
    private func client(of descriptor: Int32, _ peer: SocketAddress, at listener: Listener) -> Connection.Client {
        let owners = core.configuration.owners
        var user = PeerUser.unknown
        if owners != nil, listener.knowsUsers {
            user = PeerUser(of: descriptor, isUnix: listener.address.isUnix)
        }
        return Connection.Client(address: peer, user: user, ownership: Ownership(of: user, by: owners))
    }

    private func connectionLeft() {
        if resumption != nil {
            resumeListeners()
        }
        guard core.connectionCount == 0 else { return }
        expiry?.cancel()
        for waiter in waiters {
            waiter.resume()
        }
        waiters.removeAll()
    }

    /// Pauses accepting, most likely for lack of descriptors, until a connection closes or for 250 ms.
    func acceptFailed(errno number: Int32) {
        guard number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM else { return }
        for listener in listeners {
            listener.pause()
        }
        let hasClosed = core.pool.closeIdle() || core.pool.closeLongestSilent()
        resumption = LoopTimer { [weak self] in self?.resumeListeners() }
        let pause: Duration = hasClosed ? .milliseconds(1) : .milliseconds(250)
        resumption?.schedule(after: pause)
    }

    private func resumeListeners() {
        resumption = nil
        for listener in listeners {
            listener.resume()
        }
    }

    /// A socket on every interface uses the address at which the client reached it.
    private func requestGuard(for descriptor: Int32, at listener: Listener) -> RequestGuard {
        var address = listener.address
        if address.isUnspecified, let local = SocketAddress(localOf: descriptor) {
            address = local
        }
        if let made = guards[address] {
            return made
        }
        let port = address.isUnix ? nil : address.port
        let requestGuard = RequestGuard(
            port: port, literals: [address.literal], hostNames: core.configuration.hostNames,
            allowedOrigins: core.configuration.allowedOrigins)
        guards[address] = requestGuard
        return requestGuard
    }

    private func startTicking() {
        guard !isTicking else { return }
        isTicking = true
        if ticker == nil {
            ticker = LoopTimer { [weak self] in self?.tick() }
        }
        ticker?.schedule(after: core.configuration.tick)
    }

    /// The server's clock is the number of these calls, which the timer makes: one for each `Configuration.tick`.
    func tick() {
        core.now += 1
        for connection in connections {
            connection.checkDeadline()
        }
        core.pool.admitWaiting()
        let limit = core.limits.head
        let now = core.now
        for entry in core.pool.removeWaiting(of: core, where: { now - $0.since > limit }) {
            entry.refuse()
        }
        isTicking = core.connectionCount > 0 || core.pool.hasWaiting(of: core)
        if isTicking {
            ticker?.schedule(after: core.configuration.tick)
        }
    }

    /// The server's limits and access rules. Each limit's default is defined here only.
    public struct Configuration: Sendable {
        /// Limits on the request line, header section, field count and body.
        public var request = RequestLimits()
        /// Longest body of a request to which the policy admits a long one; other requests have the limit of `request`.
        public var longBody: Int64 = 4 << 20
        /// Most open connections, unless the server shares a pool. When all are taken, one of the client with the most is closed
        /// for a new one of a client with fewer; of the same client only one that does nothing. Without one, the new one waits
        /// for `headTimeout`, and then gets 503.
        public var connections = 256
        /// Most connections from one address that is not a loopback address.
        public var connectionsPerPeer = 32
        /// True if `connectionsPerPeer` applies to loopback addresses too.
        public var limitsLoopback = false
        /// Most requests per connection; it is closed after the last reply.
        public var requestsPerConnection = 1_000
        /// From a request's first byte to the end of its head; then 408.
        public var headTimeout: Duration = .seconds(10)
        /// Longest wait for the next request, or for a body.
        public var idleTimeout: Duration = .seconds(60)
        /// Longest time in which a client reads nothing of a reply. The owner's programs, and requests with a secret of the
        /// owner's (`Exchange.allowPauses`), have no limit: a player that is paused reads on hours later. When connections or
        /// descriptors are short, the one that has read nothing for the longest time gives way.
        public var writeTimeout: Duration = .seconds(60)
        /// Longest wait for a client to close after a refusal, so that it can read the reason.
        public var lingerTimeout: Duration = .seconds(2)
        /// Names allowed in Host, without port, besides localhost, the loopback addresses and the socket's own.
        public var hostNames: [String] = []
        /// Origins of web pages that may send requests from a browser, as `scheme://host:port`.
        public var allowedOrigins: [String] = []
        /// The users of this machine who may do everything; nil to treat all users alike. Applies to loopback addresses.
        public var owners: OwnerRule? = OwnerRule()
        /// The default limits, without additional names or origins.
        public init() {}

        /// The interval of deadline checks: at most a quarter of the shortest deadline, so that none is late by more.
        var tick: Duration {
            let shortest = min(headTimeout, idleTimeout, writeTimeout, lingerTimeout)
            return max(.milliseconds(10), min(.seconds(1), shortest / 4))
        }
    }
}

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
        for index in replies.indices {
            replies[index] += other.replies[index]
        }
    }

    mutating func count(status: Int) {
        if (100..<600).contains(status) {
            replies[status / 100] += 1
        }
    }
}

/// Decides about requests before their handler.
public protocol RequestPolicy: Sendable {
    /// True if a request with this head may have a long body. Called before the server stores a byte of the body.
    func admitsLongBody(_ head: RequestHead) -> Bool
    /// The fields and body of the reply to a request that is refused; nil sends the sentence as text.
    func refusal(
        of head: RequestHead, _ status: HTTPStatus, _ sentence: String
    ) -> (fields: ResponseHead, body: [UInt8])?
    /// The answer to a request from a user of this machine who is not the owner.
    func verdict(onOtherUsers head: RequestHead) -> OtherUserVerdict
}
