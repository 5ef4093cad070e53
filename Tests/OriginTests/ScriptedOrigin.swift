import Foundation
import Glibc
import Synchronization

/// A server on a loopback address that answers each request by a script, byte for byte, with blocking sockets and one thread per
/// connection. Lives until the process ends.
final class ScriptedOrigin: Sendable {
    struct Request: Sendable {
        let method: String
        let target: String
        /// Field names in lower case.
        let fields: [String: String]
        let body: String
        /// The connection's number in order of acceptance, from 0.
        let connection: Int
    }

    enum Step: Sendable {
        case text(String)
        case bytes([UInt8])
        /// Waits for `release()`, or until the client has left.
        case hold
        case close
        case reset
    }

    private struct State {
        var requests: [Request] = []
        var accepted = 0
        var open = 0
        var mostOpen = 0
        var released = 0
        var sockets: Set<Int32> = []
    }

    typealias Script = @Sendable (_ request: Request, _ number: Int) -> [Step]

    let port: UInt16
    private let listener: Int32
    private let script: Script
    private let state = Mutex(State())

    /// - Parameters:
    ///   - script: receives each request with its number, from 0. After its steps the connection is read again unless
    ///     closed.
    ///   - isListening: false for a bound port that refuses connections until `startListening()`.
    ///   - address: the last number of its address.
    ///   - port: 0 for a free one.
    init(isListening: Bool = true, address last: UInt32 = 1, port wanted: UInt16 = 0, _ script: @escaping Script) throws
    {
        self.script = script
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (0x7F00_0000 + last).bigEndian
        address.sin_port = wanted.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard bound else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        if isListening {
            startListening()
        }
    }

    func startListening() {
        listen(listener, 64)
        Thread.detachNewThread { [self] in accept() }
    }

    var requests: [Request] { state.withLock { $0.requests } }
    var accepted: Int { state.withLock { $0.accepted } }
    /// Open connections, and their maximum so far.
    var open: (now: Int, most: Int) { state.withLock { ($0.open, $0.mostOpen) } }

    /// Bytes that the client's system has accepted on the connections that are open, read or not.
    var acknowledged: Int64 { state.withLock { $0.sockets.reduce(0) { $0 + Self.acknowledged(on: $1) } } }

    private static func acknowledged(on socket: Int32) -> Int64 {
        var information = [UInt8](repeating: 0, count: 256)
        var length = socklen_t(information.count)
        guard getsockopt(socket, Int32(IPPROTO_TCP), Int32(TCP_INFO), &information, &length) == 0 else { return 0 }
        // tcpi_bytes_acked in linux/tcp.h.
        return information.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 120, as: Int64.self) }
    }

    /// Lets one `hold` step continue, current or future.
    func release(_ count: Int = 1) { state.withLock { $0.released += count } }

    private func accept() {
        while true {
            let socket = Glibc.accept(listener, nil, nil)
            guard socket >= 0 else { return }
            let number = state.withLock { state in
                state.accepted += 1
                state.open += 1
                state.mostOpen = max(state.mostOpen, state.open)
                state.sockets.insert(socket)
                return state.accepted - 1
            }
            Thread.detachNewThread { [self] in serve(socket, number) }
        }
    }

    private func serve(_ socket: Int32, _ connection: Int) {
        var input: [UInt8] = []
        while let request = receive(socket, &input, connection) {
            let number = state.withLock { state in
                state.requests.append(request)
                return state.requests.count - 1
            }
            guard script(request, number).allSatisfy({ perform($0, socket) }) else { break }
        }
        state.withLock { state in
            state.open -= 1
            state.sockets.remove(socket)
            close(socket)
        }
    }

    private func receive(_ socket: Int32, _ input: inout [UInt8], _ connection: Int) -> Request? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            if let request = parse(&input, connection) {
                return request
            }
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            input += buffer[..<count]
        }
    }

    private func parse(_ input: inout [UInt8], _ connection: Int) -> Request? {
        let text = String(decoding: input, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let first = lines[0].split(separator: " ")
        let pairs = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            return (name.lowercased(), line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces))
        }
        let fields = Dictionary(pairs) { $0 + "," + $1 }
        let length = fields["content-length"].flatMap { Int($0) } ?? 0
        let headCount = text[..<end.upperBound].utf8.count
        guard input.count >= headCount + length, first.count == 3 else { return nil }
        let body = String(decoding: input[headCount..<headCount + length], as: UTF8.self)
        input.removeFirst(headCount + length)
        return Request(
            method: String(first[0]), target: String(first[1]), fields: fields, body: body, connection: connection)
    }

    /// Returns false if the connection must be closed.
    private func perform(_ step: Step, _ socket: Int32) -> Bool {
        switch step {
        case .text(let text): return send(Array(text.utf8), socket)
        case .bytes(let bytes): return send(bytes, socket)
        case .hold: return hold(socket)
        case .close: return false
        case .reset:
            // The client must have received the sent bytes first, or its system discards them with the reset. No event
            // reports an empty send queue, so the code polls it every millisecond, for five seconds at most.
            var left: Int32 = 1
            for _ in 0..<5_000 where left > 0 {
                guard ioctl(socket, UInt(TIOCOUTQ), &left) == 0, left > 0 else { break }
                poll(nil, 0, 1)
            }
            var lingering = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
            return false
        }
    }

    private func send(_ bytes: [UInt8], _ socket: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func hold(_ socket: Int32) -> Bool {
        while true {
            let goesOn = state.withLock { state in
                defer { if state.released > 0 { state.released -= 1 } }
                return state.released > 0
            }
            if goesOn {
                return true
            }
            var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            if poll(&watched, 1, 2) > 0 {
                return false
            }
        }
    }
}

extension ScriptedOrigin.Step {
    /// A complete reply with its length, unless `fields` overrides it.
    static func reply(_ status: Int = 200, _ fields: [String: String] = [:], _ body: some Collection<UInt8>) -> Self {
        var head = "HTTP/1.1 \(status) Status\r\n"
        for (name, value) in fields.merging(["Content-Length": "\(body.count)"], uniquingKeysWith: { old, _ in old })
            .sorted(by: { $0.key < $1.key }) where value != ""
        {
            head += "\(name): \(value)\r\n"
        }
        return .bytes(Array((head + "\r\n").utf8) + Array(body))
    }

    static func reply(_ status: Int = 200, _ fields: [String: String] = [:], _ body: String = "") -> Self {
        reply(status, fields, Array(body.utf8))
    }

    static func redirect(_ location: String, _ status: Int = 302) -> Self {
        reply(status, ["Location": location], "moved")
    }
}
