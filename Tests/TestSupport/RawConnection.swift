package import Foundation
import Glibc

/// A TCP connection to the loopback interface. The test controls every byte sent and each read.
///
/// Use it from one task at a time.
package final class RawConnection: Sendable {
    package enum End: Equatable, Sendable {
        /// The requested bytes were received; the connection is open.
        case satisfied
        /// The peer closed its side (FIN).
        case closed
        /// The peer reset the connection.
        case reset
        /// The bound expired; the connection is open.
        case timedOut
    }

    /// The connected socket, for `getsockopt`, `poll` and the like. The connection owns it.
    package let descriptor: Int32

    /// Connects to 127.0.0.1, or to another literal IPv4 address of the loopback interface.
    ///
    /// - Parameter receiveBuffer: the socket's receive buffer in bytes (the system doubles it and has a minimum), nil
    ///   for the default; a small one soon blocks a peer that sends to a paused reader.
    /// - Parameter source: the literal IPv4 address of the loopback interface to connect from; nil for the system's choice.
    package init(port: Int, host: String = "127.0.0.1", from source: String? = nil, receiveBuffer: Int? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemCallError("socket") }
        if var size = receiveBuffer.map({ Int32($0) }) {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout.size(ofValue: size)))
        }
        let isBound = source.map { Self.call(bind, descriptor, $0, port: 0) == 0 } ?? true
        guard isBound, Self.call(connect, descriptor, host, port: port) == 0 else {
            // The connection is initialised, so `deinit` closes it.
            throw SystemCallError(isBound ? "connect" : "bind")
        }
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32, _ host: String,
        port: Int
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let length = socklen_t(MemoryLayout.size(ofValue: address))
        return withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { function(descriptor, $0.baseAddress, length) }
        }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Sends all bytes. Throws if the peer has closed or does not accept them within the bound.
    package func send(_ bytes: some Sequence<UInt8>, within bound: Duration = .seconds(15)) async throws {
        let bytes = Array(bytes)
        try await blocking { [descriptor] in
            let deadline = ContinuousClock.now + bound
            var sent = 0
            while sent < bytes.count {
                guard poll(descriptor, POLLOUT, until: deadline) else {
                    throw TimedOut("room for \(bytes.count) bytes")
                }
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                }
                guard count >= 0 || errno == EAGAIN else { throw SystemCallError("send") }
                sent += max(0, count)
            }
        }
    }

    /// Sends a text as UTF-8, with line ends unchanged.
    package func send(_ text: String, within bound: Duration = .seconds(15)) async throws {
        try await send(text.utf8, within: bound)
    }

    /// Reads until `count` bytes are received (never more), the peer closes, or the bound expires.
    package func receive(
        count: Int = .max, within bound: Duration = .seconds(15)
    ) async throws -> (bytes: Data, end: End) {
        try await receive(within: bound) { count - $0.count }
    }

    /// Reads up to and including the blank line that ends a message head.
    package func receiveHead(within bound: Duration = .seconds(15)) async throws -> (bytes: Data, end: End) {
        // Byte by byte, so that no byte of the body is consumed.
        try await receive(within: bound) { $0.suffix(4) == Data("\r\n\r\n".utf8) ? 0 : 1 }
    }

    package func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads while `missing`, given the bytes so far, returns a positive number, which limits the next read.
    private func receive(
        within bound: Duration, missing: @escaping @Sendable (Data) -> Int
    ) async throws -> (bytes: Data, end: End) {
        try await blocking { [descriptor] in
            let deadline = ContinuousClock.now + bound
            var bytes = Data()
            var buffer = [UInt8](repeating: 0, count: 65536)
            while missing(bytes) > 0 {
                guard poll(descriptor, POLLIN, until: deadline) else { return (bytes, .timedOut) }
                let count = recv(descriptor, &buffer, min(buffer.count, missing(bytes)), 0)
                if count == 0 {
                    return (bytes, .closed)
                }
                if count < 0 && errno == ECONNRESET {
                    return (bytes, .reset)
                }
                guard count > 0 else { throw SystemCallError("recv") }
                bytes.append(contentsOf: buffer[..<count])
            }
            return (bytes, .satisfied)
        }
    }
}

private func poll(_ descriptor: Int32, _ events: Int32, until deadline: ContinuousClock.Instant) -> Bool {
    var item = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    let left = max(.zero, deadline - .now)
    let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
    return Glibc.poll(&item, 1, Int32(clamping: milliseconds + 1)) != 0
}
