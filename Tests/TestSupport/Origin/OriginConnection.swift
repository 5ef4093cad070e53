import CTestSupport
import Foundation
import Glibc
import Synchronization

/// The head of a request to ``OriginServer``.
struct OriginRequestHead {
    let method: String
    /// Path and query, as received.
    let target: String
    /// The decoded path.
    let path: String
    let query: String
    /// Names in lower case.
    let headers: [String: String]
    let isLast: Bool

    /// - Parameter text: the head without its blank line; nil is returned if its first line is no request line.
    init?(_ text: String) {
        let lines = text.components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3 else { return nil }

        method = String(words[0])
        target = String(words[1])
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts[0].removingPercentEncoding ?? String(parts[0])
        query = parts.count > 1 ? String(parts[1]) : ""

        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let name = line.prefix { $0 != ":" }
            let value = line.dropFirst(name.count + 1)
            let key = name.trimmingCharacters(in: .whitespaces).lowercased()
            headers[key] = value.trimmingCharacters(in: .whitespaces)
        }
        self.headers = headers
        isLast = words[2] != "HTTP/1.1" || headers["connection"]?.lowercased() == "close"
    }

    var bodyLength: Int { headers["content-length"].flatMap { Int($0) } ?? 0 }
}

/// The end of a connection, by a rule or by its client.
enum OriginConnectionEnd: Error {
    case cut
    case gone
}

/// One connection of ``OriginServer`` with the thread that serves it.
final class OriginConnection: Sendable {
    let number: Int
    private let server: OriginServer
    private let socket: Int32
    /// The ends of a pipe: the first is readable when the reply that waits here is released.
    private let alarm: Int32
    private let wakeup: Int32
    /// False once the socket is closed: its number may be another file's by then.
    private let isOpen = Mutex(true)

    init(socket: Int32, number: Int, server: OriginServer) {
        self.socket = socket
        self.number = number
        self.server = server
        var ends: [Int32] = [-1, -1]
        weir_pipe(&ends)
        alarm = ends[0]
        wakeup = ends[1]
        var isImmediate: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isImmediate, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close(alarm)
        close(wakeup)
    }

    /// Serves requests until the connection ends. Runs on a thread of its own.
    func run() {
        var received: [UInt8] = []
        while let head = receive(&received) {
            guard let request = head.request else {
                try? send(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8))
                break
            }
            guard reply(to: request) else { break }
        }

        isOpen.withLock { isOpen in
            isOpen = false
            close(socket)
        }
        server.remove(self)
    }

    /// Ends the connection from another thread.
    func shutDown() {
        isOpen.withLock { isOpen in
            if isOpen {
                shutdown(socket, Int32(SHUT_RDWR))
            }
        }
    }

    /// Answers one request and keeps its log entry true; returns false if the connection must end.
    private func reply(to head: OriginRequestHead) -> Bool {
        let (order, verdict) = server.begin(head, on: number)
        var reply = OriginReply(head: head, order: order, verdict: verdict, connection: self, server: server)
        do throws(OriginConnectionEnd) {
            try reply.send()
            server.update(order) { $0.state = "done" }
            return reply.isConnectionKept
        } catch {
            let state = error == .cut ? "cut" : "gone"
            server.update(order) { $0.state = state }
            return false
        }
    }

    // MARK: - Receiving

    /// The next head, and skips the request's body; nil when the client has closed.
    private func receive(_ received: inout [UInt8]) -> (request: OriginRequestHead?, end: Void)? {
        let blank = Array("\r\n\r\n".utf8)
        var end = received.firstRange(of: blank)
        while end == nil {
            guard received.count <= 65_536, fill(&received) else { return nil }
            end = received.firstRange(of: blank)
        }
        guard let end else { return nil }

        // A head is Latin-1, byte for byte.
        let text = String(String.UnicodeScalarView(received[..<end.lowerBound].map { Unicode.Scalar($0) }))
        received.removeSubrange(..<end.upperBound)
        guard let head = OriginRequestHead(text) else { return (nil, ()) }

        while received.count < head.bodyLength {
            guard fill(&received) else { return nil }
        }
        received.removeFirst(head.bodyLength)
        return (head, ())
    }

    private func fill(_ received: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        received += buffer[..<count]
        return true
    }

    // MARK: - Sending

    /// Hands all bytes to the system.
    func send(_ bytes: [UInt8]) throws(OriginConnectionEnd) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { rest in
                Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw .gone }
            sent += count
        }
    }

    /// Discards what was received and not read: it would turn the close into a reset.
    func discardInput() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    }

    /// Makes the close a reset, once the client's system has acknowledged every byte: a reset discards what is under way.
    func resetOnClose() throws(OriginConnectionEnd) {
        var unacknowledged: Int32 = 1
        while true {
            guard ioctl(socket, UInt(TIOCOUTQ), &unacknowledged) == 0, unacknowledged > 0 else { break }
            _ = try wait(for: .milliseconds(1))
        }
        var lingering = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
    }

    // MARK: - Waiting

    /// Ends a wait from another thread.
    func wake() {
        var byte: UInt8 = 1
        write(wakeup, &byte, 1)
    }

    /// Waits until the bound, or for ever without one, but no longer than the client stays. Returns true if it was woken. A
    /// pipelined request is not read.
    @discardableResult
    func wait(for bound: Duration? = nil) throws(OriginConnectionEnd) -> Bool {
        let deadline = bound.map { ContinuousClock.now + $0 }
        while true {
            // Bit 13 is POLLRDHUP: the client has closed its side. Errors and hang-ups are reported without asking.
            var watched = [
                pollfd(fd: socket, events: 0x2000, revents: 0), pollfd(fd: alarm, events: Int16(POLLIN), revents: 0),
            ]
            let left = deadline.map { max(.zero, $0 - .now) }
            let milliseconds = left.map { Int32(($0 / .milliseconds(1)).rounded(.up)) } ?? -1
            let count = poll(&watched, 2, milliseconds)

            if watched[0].revents != 0 {
                throw .gone
            }
            if watched[1].revents != 0 {
                var byte: UInt8 = 0
                read(alarm, &byte, 1)
                return true
            }
            if count == 0 {
                return false
            }
        }
    }

    /// Waits until the reply is released, unless it was since a moment.
    func waitForRelease(target: String, since past: OriginServer.Past) throws(OriginConnectionEnd) {
        guard server.hold(self, target: target, since: past) else { return }
        defer { server.unhold(self) }
        while try !wait() {}
    }
}
