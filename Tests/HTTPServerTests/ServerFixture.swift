import EventLoop
import Foundation
import HTTPMessage
import TestSupport

@testable import HTTPServer

/// A server on a free port with one handler, and a client for it.
struct ServerFixture {
    let server: WebServer
    let pool: ConnectionPool
    let port: Int
    let folder: TemporaryFolder

    init(
        with configure: (inout WebServer.Configuration) -> Void, policy: (any RequestPolicy)? = nil,
        handler: @escaping WebServer.Handler = { $0.reply(.ok, "Here.") }
    ) async throws {
        var configuration = WebServer.Configuration()
        configure(&configuration)
        folder = try TemporaryFolder()
        let fixed = configuration
        pool = await ConnectionPool(limit: fixed.connections)
        (server, port) = try await Self.start(fixed, policy, pool, handler)
    }

    /// With the default limits.
    init(handler: @escaping WebServer.Handler = { $0.reply(.ok, "Here.") }) async throws {
        try await self.init(with: { _ in }, handler: handler)
    }

    @LoopActor private static func start(
        _ configuration: WebServer.Configuration, _ policy: (any RequestPolicy)?, _ pool: ConnectionPool,
        _ handler: @escaping WebServer.Handler
    ) throws -> (WebServer, Int) {
        let server = WebServer(configuration: configuration, policy: policy, pool: pool, handler: handler)
        return (server, Int(try server.listen(host: "127.0.0.1", port: 0)))
    }

    /// Lets time pass for the server's deadlines.
    @LoopActor func pass(_ time: Duration) {
        for _ in 0..<Int((time / WebServer.Configuration().tick).rounded(.up)) {
            server.tick()
        }
    }

    func connect(receiveBuffer: Int? = nil) throws -> RawConnection {
        try RawConnection(port: port, receiveBuffer: receiveBuffer)
    }

    /// The text of a request with the valid Host.
    func request(_ line: String, _ fields: String...) -> String {
        "\(line) HTTP/1.1\r\nHost: localhost:\(port)\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// Sends one request on a new connection.
    func ask(_ line: String, _ fields: String...) async throws -> Reply {
        let connection = try connect()
        let text = "\(line) HTTP/1.1\r\nHost: localhost:\(port)\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
        try await connection.send(text)
        return try await connection.reply(hasBody: !line.hasPrefix("HEAD"))
    }

    /// Bytes that encode their own offset, so that misplaced bytes are detected.
    static func content(_ count: Int) -> [UInt8] {
        // In blocks of 256 bytes, of which there are 256 different ones: byte by byte, a debug build needs seconds.
        let blocks = (0..<256).map { start in (0..<256).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ start) } }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 256)
        for number in 0...(count / 256) {
            bytes += blocks[(number &* 7 &+ number >> 8) & 0xFF]
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}

/// A reply as parsed by a client.
struct Reply {
    let status: Int
    let head: String
    let body: [UInt8]
    /// True if the body was complete.
    let isWhole: Bool

    var text: String { String(decoding: body, as: UTF8.self) }

    /// True if the body was complete, and is `content`. Compares memory: `==` of long arrays needs seconds in a debug build.
    func isExactly(_ content: [UInt8]) -> Bool { isWhole && Data(body) == Data(content) }

    /// A field's value; nil without one.
    func field(_ name: String) -> String? {
        for line in head.split(separator: "\r\n").dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.first?.lowercased() == name.lowercased() {
                return parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
            }
        }
        return nil
    }
}

extension RawConnection {
    /// Reads one reply, delimited by its head.
    func reply(hasBody: Bool = true) async throws -> Reply {
        let (bytes, end) = try await receiveHead()
        let head = String(decoding: bytes, as: UTF8.self)
        guard end == .satisfied, let status = Int(head.dropFirst(9).prefix(3)) else {
            throw TimedOut("a whole head but \(end) after \(head.debugDescription)")
        }
        let empty = Reply(status: status, head: head, body: [], isWhole: true)
        guard hasBody, status != 204, status != 304, status >= 200 else { return empty }
        if empty.field("Transfer-Encoding") == "chunked" {
            let (body, isWhole) = try await chunks()
            return Reply(status: status, head: head, body: body, isWhole: isWhole)
        }
        let length = empty.field("Content-Length").flatMap { Int($0) } ?? .max
        let body = try await receive(count: length)
        let isWhole = length == .max ? body.end == .closed : body.bytes.count == length
        return Reply(status: status, head: head, body: [UInt8](body.bytes), isWhole: isWhole)
    }

    /// Reads a chunked body up to its last chunk, or until the connection ends.
    private func chunks() async throws -> (body: [UInt8], isWhole: Bool) {
        var body: [UInt8] = []
        while true {
            var line = ""
            while !line.hasSuffix("\r\n") {
                let next = try await receive(count: 1)
                guard next.end == .satisfied else { return (body, false) }
                line += String(decoding: next.bytes, as: UTF8.self)
            }
            guard let size = Int(line.dropLast(1), radix: 16) else { throw TimedOut("a chunk size in \(line)") }
            let (bytes, end) = try await receive(count: size + 2)
            guard end == .satisfied, bytes.suffix(2) == Data("\r\n".utf8) else { return (body + bytes, false) }
            body += bytes.prefix(size)
            if size == 0 {
                return (body, true)
            }
        }
    }

    /// True if the server has closed the connection after everything it sent.
    func isClosed() async throws -> Bool {
        let end = try await receive().end
        return end == .closed || end == .reset
    }
}
