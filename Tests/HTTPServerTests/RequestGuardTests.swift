import EventLoop
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct RequestGuardTests {
    static let requestGuard = RequestGuard(
        port: 8216, literals: ["192.168.1.5"], hostNames: ["Weir.lan"], allowedOrigins: ["https://player.example"])

    private func verdict(on line: String, host: String, _ fields: String) throws -> RequestGuard.Verdict {
        Self.requestGuard.verdict(on: try RequestHead(parsing: "\(line) HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n"))
    }

    private func status(_ verdict: RequestGuard.Verdict) -> Int {
        if case .refused(let status, _) = verdict {
            status.code
        } else {
            200
        }
    }

    @Test(arguments: [
        ("localhost:8216", 200), ("LOCALHOST:8216", 200), ("127.0.0.1:8216", 200), ("[::1]:8216", 200),
        ("192.168.1.5:8216", 200), ("weir.lan:8216", 200), ("localhost", 421), ("localhost:80", 421),
        ("localhost:82160", 421), ("127.0.0.2:8216", 421), ("evil.example:8216", 421), ("localhost.:8216", 421),
        ("xlocalhost:8216", 421),
    ])
    func theHostMustNameThisServer(host: String, code: Int) throws {
        #expect(status(try verdict(on: "GET /", host: host, "")) == code)
    }

    @Test(arguments: [
        ("Origin: http://localhost:8216", 200), ("Origin: http://weir.lan:8216", 200),
        ("Origin: https://player.example", 200), ("Origin: http://localhost:3000", 403),
        ("Origin: https://localhost:8216", 403), ("Origin: null", 403), ("Origin: https://player.example.evil", 403),
        ("Sec-Fetch-Site: same-origin", 200), ("Sec-Fetch-Site: none", 200), ("Sec-Fetch-Site: cross-site", 403),
        ("Sec-Fetch-Site: same-site", 403), ("Origin: https://player.example\r\nSec-Fetch-Site: cross-site", 200),
        ("Origin: http://localhost:8216\r\nSec-Fetch-Site: same-site", 403),
        ("Origin: https://player.example\r\nOrigin: https://player.example", 400),
        ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document", 403),
        ("Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site", 400),
    ])
    func aPageMustBeOursOrListed(fields: String, code: Int) throws {
        #expect(status(try verdict(on: "GET /api/v1/assets", host: "localhost:8216", fields + "\r\n")) == code)
    }

    @Test(arguments: [
        ("GET /a/b", "User-Agent: Lavf/59", 200), ("HEAD /https://h/m.m3u8", "User-Agent: Box/2", 200),
        ("GET /a/b", "User-Agent: Mozilla/5.0", 403), ("GET /a/b", "X: y", 403),
        ("POST /a/b", "User-Agent: Box/2", 403),
        ("GET /api/v1/assets", "User-Agent: Lavf/59", 403),
        ("GET /a/b", "User-Agent: Box/2\r\nSec-Fetch-Site: cross-site", 403),
        ("GET /a/b", "User-Agent: Box/2\r\nSec-Fetch-Dest: video", 403),
    ])
    func aPlayerMaySendTheOriginOfASite(line: String, fields: String, code: Int) throws {
        let origin = "Origin: https://site.example\r\n"
        #expect(status(try verdict(on: line, host: "localhost:8216", origin + fields + "\r\n")) == code)
    }

    /// Chromium's fields for a `<video>` without `crossorigin`.
    @Test(arguments: [
        ("GET /a/b", "https://player.example/", "no-cors", 200), ("GET /a/b", "https://player.example", "no-cors", 200),
        ("HEAD /a/b", "https://PLAYER.example/x/y?z", "no-cors", 200),
        ("GET /a/b", "https://player.example.evil/", "no-cors", 403),
        ("GET /a/b", "https://evil.example/", "no-cors", 403),
        ("GET /a/b", "https://evil.example/https://player.example/", "no-cors", 403),
        ("GET /a/b", "http://player.example/", "no-cors", 403),
        ("GET /a/b", "https://player.example/", "navigate", 403),
        ("GET /api/v1/assets", "https://player.example/", "no-cors", 403),
        ("POST /a/b", "https://player.example/", "no-cors", 403),
    ])
    func aVideoOfAListedPagePlays(line: String, referer: String, mode: String, code: Int) throws {
        let fields =
            "Referer: \(referer)\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: \(mode)\r\nSec-Fetch-Dest: video\r\n"
        #expect(status(try verdict(on: line, host: "localhost:8216", fields)) == code)
        if code == 200 {
            #expect(try verdict(on: line, host: "localhost:8216", fields) == .admitted)
        }
    }

    @Test(arguments: [
        ("GET /", "navigate", "document", 200), ("GET /", "no-cors", "document", 403),
        ("GET /", "navigate", "iframe", 403), ("POST /", "navigate", "document", 403),
    ])
    func aLinkToThePageMayBeFollowedFromAnywhere(line: String, mode: String, dest: String, code: Int) throws {
        let fields = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: \(mode)\r\nSec-Fetch-Dest: \(dest)\r\n"
        #expect(status(try verdict(on: line, host: "localhost:8216", fields)) == code)
    }

    @Test func onPort80TheHostNeedsNoPort() throws {
        let requestGuard = RequestGuard(port: 80, literals: [], hostNames: [], allowedOrigins: [])
        let head = try RequestHead(parsing: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(requestGuard.verdict(on: head) == .admitted)
    }

    @Test func aListedPageMayReadTheAnswer() async throws {
        let fixture = try await ServerFixture(with: { $0.allowedOrigins = ["https://player.example"] })
        let reply = try await fixture.ask("GET /", "Origin: https://player.example", "Sec-Fetch-Site: cross-site")
        #expect(reply.status == 200)
        #expect(reply.field("Access-Control-Allow-Origin") == "https://player.example")
        #expect(reply.field("Access-Control-Expose-Headers")?.contains("Content-Range") == true)
        #expect(reply.field("Vary") == "Origin")
        let plain = try await fixture.ask("GET /")
        #expect(plain.field("Access-Control-Allow-Origin") == nil)
        #expect(plain.field("Vary") == "Origin")
    }

    @Test func aListedPageMaySendAPreflight() async throws {
        let fixture = try await ServerFixture(with: { $0.allowedOrigins = ["https://player.example"] })
        let fields = ["Origin: https://player.example", "Access-Control-Request-Method: GET"]
        let reply = try await fixture.ask("OPTIONS /a", fields[0], fields[1])
        #expect(reply.status == 204)
        #expect(reply.field("Access-Control-Allow-Headers")?.contains("Range") == true)
        #expect(try await fixture.ask("OPTIONS /a", "Origin: https://evil.example", fields[1]).status == 403)
        #expect(try await fixture.ask("OPTIONS /a", fields[1]).field("Access-Control-Allow-Methods") == nil)
    }

    @Test func aForeignPageIsRefusedAndTheConnectionClosed() async throws {
        let fixture = try await ServerFixture()
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /", "Origin: https://evil.example"))
        let reply = try await connection.reply()
        #expect(reply.status == 403)
        #expect(reply.field("Access-Control-Allow-Origin") == nil)
        #expect(try await connection.isClosed())
    }
}
