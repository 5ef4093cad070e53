import EventLoop
import Foundation
import HTTPMessage
import HTTPServer
import Orders
import TestSupport
import Testing
import WeirAPI

@testable import Control

/// Requests from web pages, with rebound names, and from programs without the token, over a socket. Each gets an error
/// and changes nothing.
@Suite struct WhoMayAskTests {
    /// A request by an attacker, and the expected response.
    struct Attempt: Sendable, CustomTestStringConvertible {
        let line: String
        let fields: [String]
        let body: String
        let status: Int
        let code: String

        var testDescription: String { "\(line) \(fields.joined(separator: "; "))" }

        /// Host is the daemon's and the token is sent, unless `fields` say otherwise.
        init(_ line: String, _ fields: [String], body: String = "", _ status: Int, _ code: String) {
            self.line = line
            self.fields = fields
            self.body = body
            self.status = status
            self.code = code
        }
    }

    private static let json = "Content-Type: application/json"
    private static let remove = "DELETE /api/v1/assets/sintel"
    private static let start = "POST /api/v1/downloads"
    private static let wish = #"{"source":"https://h/m.m3u8"}"#
    private static let mode = #"{"mode":"offline"}"#

    /// Host names that an attacker's DNS can point here, and spellings of the loopback address that the daemon does not
    /// use.
    static let rebound: [Attempt] = [
        "evil.example:PORT", "evil.example", "localhost", "localhost:1", "localhost.:PORT",
        "127.0.0.1.evil.example:PORT",
        "127.1:PORT", "2130706433:PORT", "0.0.0.0:PORT", "[::ffff:127.0.0.1]:PORT", "127.0.0.2:PORT", "[::]:PORT",
    ].map { Attempt(remove, ["Host: \($0)"], 421, "misdirected") }

    /// Fields that a browser sends with requests from other sites' pages.
    static let pages: [Attempt] =
        [
            "Origin: https://evil.example", "Origin: null", "Origin: http://localhost:1",
            "Origin: https://localhost:PORT",
            "Origin: http://localhost:PORT.evil.example", "Origin: http://127.0.0.1", "Origin: file://",
            "Origin: http://evil.example:PORT", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
            "Sec-Fetch-Site: CROSS-SITE",
        ].map { Attempt(remove, [$0], 403, "foreign-page") }
        + [
            Attempt(start, ["Sec-Fetch-Site: cross-site", json], body: wish, 403, "foreign-page"),
            Attempt(
                "GET /api/v1/assets",
                ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"], 403,
                "foreign-page"),
            Attempt(
                "PUT /api/v1/mode", ["Origin: http://localhost:PORT", "Sec-Fetch-Site: same-site", json], body: mode,
                403, "foreign-page"),
            Attempt(remove, ["Origin: http://localhost:PORT", "Origin: http://localhost:PORT"], 400, "bad-request"),
        ]

    /// Tokens in every wrong place.
    static let tokens: [Attempt] =
        [
            "Authorization:", "Authorization: TOKEN", "Authorization: Basic TOKEN", "Authorization: bearer TOKEN",
            "Authorization: Bearer TOKENx", "Authorization: Bearer  TOKEN", "Cookie: token=TOKEN", "X-Token: TOKEN",
            "Proxy-Authorization: Bearer TOKEN", "X-Authorization: Bearer TOKEN",
        ].map { Attempt(remove, [$0, "No-Token: 1"], 401, "unauthorized") }
        + [
            Attempt(remove + "?token=TOKEN", ["No-Token: 1"], 401, "unauthorized"),
            Attempt(remove + "?access_token=TOKEN", ["No-Token: 1"], 401, "unauthorized"),
            Attempt(
                start, ["No-Token: 1", json], body: #"{"source":"https://h/m.m3u8","token":"TOKEN"}"#, 401,
                "unauthorized"),
            Attempt("DELETE /TOKEN/api/v1/assets/sintel", ["No-Token: 1"], 404, ""),
            Attempt(
                remove, ["Authorization: Bearer TOKEN", "Authorization: Bearer TOKEN", "No-Token: 1"], 401,
                "unauthorized"),
        ]

    /// Forms that a page can send without a CORS preflight, methods in disguise, and invalid bodies.
    static let forms: [Attempt] = [
        Attempt(start, ["Content-Type: text/plain"], body: wish, 415, "unsupported-media-type"),
        Attempt(start, ["Content-Type: application/x-www-form-urlencoded"], body: wish, 415, "unsupported-media-type"),
        Attempt(start, ["Content-Type: multipart/form-data; boundary=x"], body: wish, 415, "unsupported-media-type"),
        Attempt(start, ["Content-Type: text/plain; application/json"], body: wish, 415, "unsupported-media-type"),
        Attempt(start, [], body: wish, 415, "unsupported-media-type"),
        Attempt("GET /api/v1/assets/sintel", ["X-HTTP-Method-Override: DELETE"], 200, ""),
        Attempt("GET /api/v1/assets/sintel?_method=DELETE", [], 400, "bad-request"),
        Attempt("POST /api/v1/assets/sintel", [json], body: "{}", 405, "method-not-allowed"),
        Attempt("GET /api/v1/downloads/d1/cancel", [], 405, "method-not-allowed"),
        Attempt("PUT /api/v1/mode", [json], body: #"{"mode":"offline","Mode":"auto"}"#, 400, "bad-request"),
        Attempt("PUT /api/v1/mode", [json], body: "mode=offline", 400, "bad-request"),
        Attempt("PUT /api/v1/mode", [json, "Content-Length: 65537"], 413, "too-large"),
        Attempt("PUT /api/v2/mode", [json], body: mode, 404, "unknown-version"),
        Attempt("PUT /api/v1/../v1/mode", [json], body: mode, 404, "no-such-route"),
        Attempt("PUT //api/v1/mode", [json], body: mode, 404, ""),
    ]

    private let folder: TemporaryFolder
    private let claim: StateClaim

    init() throws {
        folder = try TemporaryFolder()
        claim = try StateDirectory(folder.path).claim()
    }

    @LoopActor private final class Stage {
        let service = ScriptedService()
        let port: Int
        private let server: WebServer

        init(token: String) throws {
            let routes = ControlRoutes(service.handlers, token: token)
            server = WebServer(policy: routes) {
                if !routes.handle($0) {
                    $0.reply(.notFound, "Unknown path.")
                }
            }
            port = Int(try server.listen(host: "127.0.0.1", port: 0))
        }

        var isUnchanged: Bool {
            service.removed.isEmpty && service.requests.isEmpty && service.changes.isEmpty && service.policies.isEmpty
                && service.currentMode == API.Mode(.auto)
        }
    }

    @Test func thereAreAtLeastFortyAttempts() {
        #expect(Self.rebound.count + Self.pages.count + Self.tokens.count + Self.forms.count >= 40)
    }

    @Test(arguments: rebound + pages + tokens + forms)
    func anAttemptChangesNothing(_ attempt: Attempt) async throws {
        let stage = try await Stage(token: claim.token)
        let answer = try await send(attempt, to: stage.port)
        #expect(answer.status == attempt.status, "\(answer.text)")
        if !attempt.code.isEmpty {
            #expect(answer.text.contains("Content-Type: application/problem+json\r\n"), "\(answer.text)")
            #expect(answer.text.contains(#""code":"\#(attempt.code)""#), "\(answer.text)")
        }
        #expect(!answer.text.contains("Access-Control-Allow-Origin"))
        #expect(!answer.text.contains(claim.token))
        #expect(await stage.isUnchanged)
    }

    @Test func legitimateRequestsAreAnswered() async throws {
        let stage = try await Stage(token: claim.token)
        for (attempt, status) in [
            (
                Attempt(
                    "GET /api/v1/assets", ["Origin: http://localhost:PORT", "Sec-Fetch-Site: same-origin"], 200, ""),
                200
            ),
            (Attempt(Self.start, [Self.json], body: Self.wish, 202, ""), 202),
            (Attempt("PUT /api/v1/mode", [Self.json], body: Self.mode, 200, ""), 200),
            (Attempt(Self.remove, ["Host: [::1]:PORT"], 200, ""), 200),
        ] {
            let answer = try await send(attempt, to: stage.port)
            #expect(answer.status == status, "\(answer.text)")
        }
        #expect(await stage.service.removed == ["sintel"])
        #expect(await stage.service.requests.count == 1)
    }

    private func send(_ attempt: Attempt, to port: Int) async throws -> (status: Int, text: String) {
        let lacks = { (name: String) in !attempt.fields.contains { $0.hasPrefix(name) } }
        var fields = attempt.fields
        if lacks("Host:") {
            fields.append("Host: localhost:PORT")
        }
        if lacks("No-Token:") {
            fields.append("Authorization: Bearer TOKEN")
        }
        let body = attempt.body.replacing("TOKEN", with: claim.token)
        if !body.isEmpty {
            fields.append("Content-Length: \(body.utf8.count)")
        }
        let head = (["\(attempt.line) HTTP/1.1", "Connection: close"] + fields).joined(separator: "\r\n")
        let text = head.replacing("PORT", with: "\(port)").replacing("TOKEN", with: claim.token) + "\r\n\r\n" + body
        let connection = try RawConnection(port: port)
        try await connection.send(text)
        let answer = String(decoding: try await connection.receive().bytes, as: UTF8.self)
        return (Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0, answer)
    }
}
