import CLibevent
import CLinux
import EventLoop
import Glibc

/// One listening socket. Passes accepted sockets to the server.
/// Accepting pauses when no descriptors are left: libevent would otherwise retry at once, forever.
@LoopActor final class Listener {
    /// The bound address, with the port that the system chose.
    let address: SocketAddress
    /// True if the system reports the users of its connections.
    let knowsUsers: Bool
    private let handle: OpaquePointer
    /// Nil while the server is released: its end runs in a later turn of the loop.
    private weak var server: WebServer?

    convenience init(server: WebServer, literal: String, port: UInt16) throws(HTTPServerError) {
        guard let wanted = SocketAddress(literal: literal, port: port) else {
            throw HTTPServerError(invalidAddress: literal, port: port)
        }
        let descriptor = try Self.bind(wanted, literal: literal)
        try self.init(server: server, descriptor: descriptor, literal: literal, port: port)
    }

    convenience init(server: WebServer, inherited: consuming OwnedDescriptor) throws(HTTPServerError) {
        guard Self.isListening(inherited.rawValue), let address = SocketAddress(localOf: inherited.rawValue),
            !address.isUnix
        else {
            throw HTTPServerError(notListening: inherited.rawValue)
        }
        let descriptor = inherited.release()
        Self.prepare(descriptor)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        try self.init(server: server, descriptor: descriptor, literal: address.host, port: address.port)
    }

    convenience init(server: WebServer, path: String) throws(HTTPServerError) {
        let descriptor = weir_unix_listen(path)
        guard descriptor >= 0 else { throw HTTPServerError(path: path, errno: errno) }
        try self.init(server: server, descriptor: descriptor, literal: path, port: 0)
    }

    /// Takes ownership of a bound descriptor.
    private init(server: WebServer, descriptor: Int32, literal: String, port: UInt16) throws(HTTPServerError) {
        guard let address = SocketAddress(localOf: descriptor),
            let handle = evconnlistener_new(
                LoopActor.loop.base, nil, nil, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 512, descriptor)
        else {
            let error = HTTPServerError(address: literal, port: port, errno: errno)
            Glibc.close(descriptor)
            throw error
        }
        self.server = server
        self.address = address
        self.handle = handle
        knowsUsers = PeerUser.areKnown(at: address)
        evconnlistener_set_error_cb(handle, Self.failed)
        evconnlistener_set_cb(handle, Self.accepted, Unmanaged.passUnretained(self).toOpaque())
    }

    isolated deinit { evconnlistener_free(handle) }

    /// Leaves new connections in the system's backlog.
    func pause() { evconnlistener_disable(handle) }
    func resume() { evconnlistener_enable(handle) }

    private static func bind(_ address: SocketAddress, literal: String) throws(HTTPServerError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, type, 0)
        guard descriptor >= 0 else { throw HTTPServerError(address: literal, port: address.port, errno: errno) }
        set(SO_REUSEADDR, at: SOL_SOCKET, of: descriptor)
        prepare(descriptor)
        if address.isIPv6 {
            set(IPV6_V6ONLY, at: Int32(IPPROTO_IPV6), of: descriptor)
        }
        guard address.withSockaddr({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
            let error = HTTPServerError(address: literal, port: address.port, errno: errno)
            Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Disables Nagle's algorithm, which accepted sockets inherit: replies are written whole, so a delay gains nothing.
    private static func prepare(_ descriptor: Int32) {
        set(TCP_NODELAY, at: Int32(IPPROTO_TCP), of: descriptor)
    }

    private static func set(_ option: Int32, at level: Int32, of descriptor: Int32) {
        var one: Int32 = 1
        setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func isListening(_ descriptor: Int32) -> Bool {
        var answer = Int32(0)
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &answer, &size) == 0 && answer != 0
    }

    private nonisolated static let accepted: evconnlistener_cb = { _, descriptor, address, _, context in
        guard let context else { return }
        let listener = Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
        let peer = address.flatMap { SocketAddress($0) }
        LoopActor.assumeIsolated {
            if let server = listener.server {
                server.accept(descriptor, from: peer, at: listener)
            } else {
                Glibc.close(descriptor)
            }
        }
    }

    private nonisolated static let failed: evconnlistener_errorcb = { _, context in
        let number = errno
        guard let context else { return }
        let listener = Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { listener.server?.acceptFailed(errno: number) }
    }
}
