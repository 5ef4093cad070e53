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

    @Test func aMalformedPipelinedRequestIsRefusedInOrder() async throws {
        let fixture = try await ServerFixture()
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /") + "nonsense\r\n\r\n")
        #expect(try await connection.reply().status == 200)
        #expect(try await connection.reply().status == 400)
        #expect(try await connection.isClosed())
    }
}
