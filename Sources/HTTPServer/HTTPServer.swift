import CLibevent
public import EventLoop
import Glibc
import HTTPMessage

/// An HTTP/1.1 server on the event loop: listeners, connections, and the rules that hold for each request before its
/// handler sees it.
///
/// Framing and limits are those of `Configuration`; who may ask is decided by the Host, Origin and Sec-Fetch-Site
/// fields. OPTIONS is answered here. Everything else goes to the one handler, which answers at once or later.
@LoopActor public final class HTTPServer {
    /// Takes one request. Must keep the exchange for as long as it means to answer: one that is dropped is answered
    /// 500.
    public typealias Handler = @LoopActor (Exchange) -> Void

    private let core: ServerCore
    private var listeners: [Listener] = []
    private var guards: [SocketAddress: RequestGuard] = [:]
    private var connections: [Connection] = []
    private var ticker: LoopTimer?
    private var resumption: LoopTimer?
    private var expiry: LoopTimer?
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// A server that does not listen yet.
    public init(configuration: Configuration = Configuration(), handler: @escaping Handler) {
        core = ServerCore(configuration, handler)
        core.connectionClosed = { [weak self] in self?.remove($0) }
    }

    isolated deinit {
        core.handler = { _ in }
        for connection in connections { connection.close(.serverStopped) }
    }

    /// How many clients are connected.
    public var connectionCount: Int { connections.count }

    /// What it has done so far.
    public var counters: ServerCounters { core.counters }

    /// Listens on a literal address, IPv6 for itself alone; may be called for several.
    ///
    /// - Parameter port: 0 for any that is free.
    /// - Returns: The port.
    @discardableResult public func listen(host: String, port: UInt16) throws(HTTPServerError) -> UInt16 {
        let listener = try Listener(server: self, literal: host, port: port)
        listeners.append(listener)
        return listener.address.port
    }

    /// Listens on a socket that was handed over, IPv4 or IPv6, and already listens.
    ///
    /// - Returns: Where it listens: a literal address without brackets, and the port.
    public func listen(
        inherited descriptor: consuming OwnedDescriptor
    ) throws(HTTPServerError) -> (host: String, port: UInt16) {
        let listener = try Listener(server: self, inherited: descriptor)
        listeners.append(listener)
        return (listener.address.host, listener.address.port)
    }

    /// Ends the server: no new connections, idle ones are closed, replies under way may end within `limit`; then
    /// whatever is left is cut off.
    public func stop(within limit: Duration) async {
        core.isStopping = true
        listeners.removeAll()
        for connection in connections where connection.isIdle { connection.close(.serverStopped) }
        guard !connections.isEmpty else { return }
        if expiry == nil { expiry = LoopTimer { [weak self] in self?.cutOff() } }
        expiry?.schedule(after: limit)
        await withCheckedContinuation { waiters.append($0) }
    }

    private func cutOff() {
        for connection in connections { connection.close(.serverStopped) }
    }
}

// MARK: - Connections

extension HTTPServer {
    /// Takes over an accepted socket.
    func accept(_ descriptor: Int32, from peer: SocketAddress?, at listener: Listener) {
        guard !core.isStopping, let peer else {
            Glibc.close(descriptor)
            return
        }
        let isCrowding =
            (!peer.isLoopback || core.configuration.limitsLoopback)
            && connections.count { $0.peer.isSameHost(as: peer) } >= core.configuration.connectionsPerPeer
        guard !isCrowding, makeRoom() else { return Self.turnAway(descriptor) }
        let requestGuard = requestGuard(for: descriptor, at: listener)
        guard let connection = Connection(core, descriptor, peer: peer, requestGuard: requestGuard) else {
            return Self.turnAway(descriptor)
        }
        core.counters.connections += 1
        connection.slot = connections.count
        connections.append(connection)
        if connections.count == 1 { startTicking() }
    }

    /// Lets go of a connection that has closed itself.
    private func remove(_ connection: Connection) {
        let last = connections.removeLast()
        if last !== connection {
            last.slot = connection.slot
            connections[connection.slot] = last
        }
        if resumption != nil { resumeListeners() }
        guard connections.isEmpty else { return }
        ticker?.cancel()
        expiry?.cancel()
        for waiter in waiters { waiter.resume() }
        waiters.removeAll()
    }

    /// Accepting failed, most likely because there are no descriptors left: tries again when a connection closes, or
    /// in a while.
    func acceptFailed(errno number: Int32) {
        guard number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM else { return }
        for listener in listeners { listener.pause() }
        if let idle = longestIdle() { idle.close(.serverStopped) }
        resumption = LoopTimer { [weak self] in self?.resumeListeners() }
        resumption?.schedule(after: .milliseconds(250))
    }

    private func resumeListeners() {
        resumption = nil
        for listener in listeners { listener.resume() }
    }

    /// Whether there is room for one more connection; closes the one that has been idle longest if need be.
    private func makeRoom() -> Bool {
        guard connections.count >= core.configuration.connections else { return true }
        guard let idle = longestIdle() else { return false }
        idle.close(.serverStopped)
        return true
    }

    private func longestIdle() -> Connection? {
        connections.filter(\.isIdle).min { $0.timing.since < $1.timing.since }
    }

    /// Says why before it hangs up; the socket's buffer is empty, so this does not wait.
    private static func turnAway(_ descriptor: Int32) {
        let text: StaticString = """
            HTTP/1.1 503 Service Unavailable\r
            Retry-After: 1\r
            Content-Type: text/plain; charset=utf-8\r
            Content-Length: 35\r
            Connection: close\r
            \r
            There are too many connections now.
            """
        send(descriptor, text.utf8Start, text.utf8CodeUnitCount, Int32(MSG_NOSIGNAL))
        shutdown(descriptor, Int32(SHUT_WR))
        Glibc.close(descriptor)
    }

    /// A socket on every interface goes by the address that the client has reached it at.
    private func requestGuard(for descriptor: Int32, at listener: Listener) -> RequestGuard {
        var address = listener.address
        if address.isUnspecified, let local = SocketAddress(localOf: descriptor) { address = local }
        if let made = guards[address] { return made }
        let requestGuard = RequestGuard(
            port: address.port, literals: [address.literal], hostNames: core.configuration.hostNames,
            allowedOrigins: core.configuration.allowedOrigins)
        guards[address] = requestGuard
        return requestGuard
    }
}

// MARK: - Deadlines

extension HTTPServer {
    private func startTicking() {
        if ticker == nil { ticker = LoopTimer { [weak self] in self?.tick() } }
        ticker?.schedule(after: core.configuration.tick)
    }

    private func tick() {
        core.now += 1
        for connection in connections { connection.checkDeadline() }
        if !connections.isEmpty { ticker?.schedule(after: core.configuration.tick) }
    }
}
