import Foundation
import TestSupport

/// A player's request for one segment through Weir. The test controls each read.
struct SegmentReader: Sendable {
    let connection: RawConnection

    /// Requests an absolute URL of Weir.
    init(_ url: String, fields: [String: String] = [:], receiveBuffer: Int? = nil) async throws {
        let rest = url.dropFirst("http://".count)
        let authority = rest.prefix { $0 != "/" }
        guard let port = authority.split(separator: ":").last.flatMap({ Int($0) }) else {
            throw TimedOut("a port in \(url)")
        }
        connection = try RawConnection(port: port, receiveBuffer: receiveBuffer)
        let all = ["Host": String(authority), "Connection": "close"].merging(fields) { $1 }
        let lines = all.map { "\($0.key): \($0.value)\r\n" }.joined()
        try await connection.send("GET \(rest.dropFirst(authority.count)) HTTP/1.1\r\n\(lines)\r\n")
    }

    /// The head of the response as text.
    func head(within bound: Duration = .seconds(15)) async throws -> String {
        let head = try await connection.receiveHead(within: bound)
        guard head.end == .satisfied else { throw TimedOut("a whole head, but \(head.end)") }
        return String(decoding: head.bytes, as: UTF8.self)
    }

    /// The next bytes of the body, or fewer at its end.
    func bytes(_ count: Int, within bound: Duration = .seconds(15)) async throws -> Data {
        try await connection.receive(count: count, within: bound).bytes
    }

    /// The rest up to the end of the connection, and the kind of end.
    func rest(within bound: Duration = .seconds(15)) async throws -> (bytes: Data, end: RawConnection.End) {
        try await connection.receive(within: bound)
    }

    /// True if no bytes are available now.
    func isSilent() async throws -> Bool {
        try await connection.receive(count: 1, within: .milliseconds(50)).end == .timedOut
    }
}
