import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct MalformedRequestTests {
    /// The bytes that a client sends, where `HOST` stands for the valid Host line, and the expected status.
    static let cases: [(String, Int)] = [
        ("GET / HTTP/1.1\nHOST\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHOSTA: b\r\n c\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHOSTA : b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHOSTA: b\0\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHOSTHOST\r\n", 400),
        ("POST / HTTP/1.1\r\nHOSTContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHOSTContent-Length: +1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHOSTTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHOSTContent-Length: 3\r\n\r\nabc", 400), ("GET http://x/ HTTP/1.1\r\nHOST\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421), ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
        ("POST / HTTP/1.1\r\nHOSTContent-Length: 65537\r\n\r\n", 413),
        ("GET /" + String(repeating: "a", count: 9_000) + " HTTP/1.1\r\nHOST\r\n", 414),
        ("GET / HTTP/1.1\r\nHOST" + String(repeating: "A: b\r\n", count: 64) + "\r\n", 431),
        ("GET / HTTP/1.1\r\nHOSTA: " + String(repeating: "b", count: 17_000) + "\r\n\r\n", 431),
        ("BREW / HTTP/1.1\r\nHOST\r\n", 501), ("GET / HTTP/2.0\r\nHOST\r\n", 505), ("\u{16}\u{3}\u{1}\u{2}", 400),
    ]

    @Test(arguments: cases)
    func aMalformedRequestIsRefusedAndTheConnectionClosed(text: String, status: Int) async throws {
        let fixture = try await ServerFixture { $0.reply(.ok, "This must not be seen.") }
        let connection = try fixture.connect()
        let host = "Host: localhost:\(fixture.port)\r\n"
        // The server must not answer a second request after a malformed one.
        let text = text.replacing("HOST", with: host) + fixture.request("GET /")
        try await connection.send(text)
        let reply = try await connection.reply()
        #expect(reply.status == status)
        #expect(reply.field("Connection") == "close")
        #expect(reply.field("Content-Type") == "text/plain; charset=utf-8")
        #expect(reply.text.hasSuffix(".\n"))
        let rest = try await connection.receive()
        #expect(rest.bytes.isEmpty)
        #expect(rest.end == .closed)
    }

    private static let line = "GET /film.m3u8 HTTP/1.1\r\n"

    /// Heads that no player sends. `HOST` stands for the valid Host line, `NAME` for its value.
    private static let hostile: [String] =
        [
            line + "Host: NAME1\r\n\r\n", line + "Host: a@NAME\r\n\r\n", line + "Host:\r\n\r\n",
            line + "Host: [::1%25lo]:8080\r\n\r\n", line + "Host: " + String(repeating: "a", count: 8_000) + "\r\n\r\n",
            line + "HOSTContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            line + "HOSTTransfer-Encoding: identity\r\n\r\n",
            line + "HOSTtRANSFER-eNCODING:\tchunked\r\n\r\n0\r\n\r\n",
            line + "HOSTUpgrade: h2c\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            line + "HOSTContent-Length: 0\r\nContent-Length: 4\r\n\r\n",
            line + "HOSTContent-Length: 0\r\nContent-Length: 0\r\n\r\n", line + "HOSTnonsense\r\n\r\n",
            line + "HOSTX-A: a\rb\r\n\r\n", line + "HOSTX A: 1\r\n\r\n", line + "HOST: 1\r\n\r\n",
            line + "HOSTX-A:\u{B}1\u{C}\r\n\r\n", "GET /film.m3u8\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "GET / HTTP/x.y\r\nHOST\r\n", "GET\t/ HTTP/1.1\r\nHOST\r\n", "GET * HTTP/1.1\r\nHOST\r\n",
            "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHOST\r\n", "TRACE / HTTP/1.1\r\nHOST\r\n",
            "GET http://example.com/ HTTP/1.1\r\nHOST\r\n",
            String(repeating: "G", count: 300) + " / HTTP/1.1\r\nHOST\r\n",
            "GET /" + String(repeating: "a", count: 1 << 20) + " HTTP/1.1\r\nHOST\r\n",
            line + "HOST" + (0..<17).map { "X-\($0): " + String(repeating: "a", count: 1_000) + "\r\n" }.joined()
                + "\r\n",
            String(repeating: "\0", count: 70_000), "GET /film\0.m3u8 HTTP/1.1\r\nHOST\r\n",
            "GET /film.m3u8#a HTTP/1.1\r\nHOST\r\n",
            String(repeating: "\r\n", count: 5_000) + "GET\r\n /film.m3u8 HTTP/1.1\r\nHOST\r\n",
        ]
        + ["+1", "-1", "0x1", "1,1", "1 1", "1;1", "", "a", "99999999999999999999", "1e3", "\u{661}"].map {
            line + "HOSTContent-Length: \($0)\r\n\r\n"
        }

    @Test("A hostile head is refused once, and no request behind it is read", arguments: hostile)
    func hostileHead(text: String) async throws {
        let fixture = try await ServerFixture { $0.reply(.ok, "This must not be seen.") }
        let connection = try fixture.connect()
        let name = "localhost:\(fixture.port)"
        let head = text.replacing("HOST", with: "Host: \(name)\r\n").replacing("NAME", with: name)
        // The server may have refused before all of it is sent.
        try? await connection.send(head + fixture.request("GET /"))
        let (bytes, end) = try await connection.receive()
        #expect(end == .closed || end == .reset)
        let replies = String(decoding: bytes, as: UTF8.self)
        let statuses = replies.matches(of: #/HTTP/1\.1 (\d{3}) /#).compactMap { Int($0.1) }
        // A connection that is reset may lose its reply.
        #expect(statuses.count == 1 || statuses.isEmpty && end == .reset)
        #expect(statuses.allSatisfy { (400..<500).contains($0) || $0 == 501 || $0 == 505 }, "\(statuses)")
    }

    @Test func aMalformedPipelinedRequestIsRefusedInOrder() async throws {
        let fixture = try await ServerFixture()
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /") + "nonsense\r\n\r\n")
        #expect(try await connection.reply().status == 200)
        #expect(try await connection.reply().status == 400)
        #expect(try await connection.isClosed())
    }
}
