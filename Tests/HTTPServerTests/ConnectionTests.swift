import EventLoop
import Foundation
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct ConnectionTests {
    @Test func aConnectionIsKeptForTheNextRequest() async throws {
        let fixture = try await ServerFixture { $0.reply(.ok, $0.head.target) }
        let connection = try fixture.connect()
        for path in ["/a", "/b", "/c"] {
            try await connection.send(fixture.request("GET \(path)"))
            let reply = try await connection.reply()
            #expect(reply.status == 200)
            #expect(reply.text == path + "\n")
            #expect(reply.field("Connection") == nil)
            #expect(reply.field("Date")?.hasSuffix("GMT") == true)
            #expect(reply.field("X-Content-Type-Options") == "nosniff")
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        let fixture = try await ServerFixture { $0.reply(.ok, $0.head.target) }
        let connection = try fixture.connect()
        try await connection.send((0..<100).map { fixture.request("GET /\($0)") }.joined())
        for index in 0..<100 {
            #expect(try await connection.reply().text == "/\(index)\n")
        }
    }

    /// The order in which the requests of two connections are handled.
    @LoopActor private final class HandledOrder {
        private(set) var late: [Exchange] = []
        private var names: [String] = []

        /// The most requests of one connection that are handled one after the other.
        var longestRun: Int {
            var longest = 0
            var run = 0
            for (index, name) in names.enumerated() {
                if index == 0 || names[index - 1] != name {
                    run = 0
                }
                run += 1
                longest = max(longest, run)
            }
            return longest
        }

        nonisolated init() {}

        func handle(_ exchange: Exchange) {
            guard exchange.head.target != "/late" else { return late.append(exchange) }
            names.append(exchange.head.target)
            exchange.reply(.ok, "x")
        }

        func answerLate() {
            for exchange in late {
                exchange.reply(.ok, "x")
            }
        }
    }

    @Test func pipelinedRequestsLeaveTurnsToOtherConnections() async throws {
        let order = HandledOrder()
        let fixture = try await ServerFixture { order.handle($0) }
        let connections = try [fixture.connect(), fixture.connect()]
        for (number, connection) in connections.enumerated() {
            let following = String(repeating: fixture.request("GET /\(number)"), count: 100)
            try await connection.send(fixture.request("GET /late") + following)
        }
        try await waitUntil("both connections") { await order.late.count == 2 }
        await order.answerLate()
        for connection in connections {
            for _ in 0...100 {
                #expect(try await connection.reply().text == "x\n")
            }
        }
        #expect(await order.longestRun <= 16)
    }

    @Test func aClientThatHalfClosesGetsItsReplies() async throws {
        let fixture = try await ServerFixture { $0.reply(.ok, $0.head.target) }
        let connection = try fixture.connect()
        try await connection.send((0..<100).map { fixture.request("GET /\($0)") }.joined())
        connection.finishSending()
        for index in 0..<100 {
            #expect(try await connection.reply().text == "/\(index)\n")
        }
        #expect(try await connection.isClosed())
    }

    @Test func pipelinedRequestsWaitForALateReply() async throws {
        let held = Held()
        let fixture = try await ServerFixture { exchange in
            if exchange.head.target == "/late" {
                held.exchange = exchange
            } else {
                exchange.reply(.ok, "soon")
            }
        }
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /late") + fixture.request("GET /soon"))
        try await waitUntil("the first request") { await held.exchange != nil }
        await held.exchange?.reply(.ok, "late")
        #expect(try await connection.reply().text == "late\n")
        #expect(try await connection.reply().text == "soon\n")
    }

    @Test("An upgrade is not taken", arguments: ["websocket", "h2c", "TLS/1.3, HTTP/1.1"])
    func upgrade(to name: String) async throws {
        let fixture = try await ServerFixture { $0.reply(.ok, "plain") }
        let connection = try fixture.connect()
        let fields = ["Upgrade: \(name)", "Sec-WebSocket-Key: YWFhYWFhYWFhYWFhYWFhYQ==", "HTTP2-Settings: AAAA"]
        try await connection.send(fixture.request("GET /", fields[0], "Connection: Upgrade", fields[1], fields[2]))
        let reply = try await connection.reply()
        #expect(reply.status == 200 && reply.text == "plain\n" && reply.field("Upgrade") == nil)
    }

    @Test func aRequestByteByByteIsAnswered() async throws {
        // Sending each byte costs the test a thread, which adds up on a busy machine.
        let fixture = try await ServerFixture(with: { $0.headTimeout = .seconds(60) }) { exchange in
            exchange.reply(.ok, String(decoding: exchange.body, as: UTF8.self))
        }
        let connection = try fixture.connect()
        for byte in (fixture.request("POST /x", "Content-Length: 5") + "hello").utf8 {
            try await connection.send([byte])
        }
        #expect(try await connection.reply().text == "hello\n")
    }

    @Test func aBodyOfTheLargestSizeArrivesWhole() async throws {
        let fixture = try await ServerFixture { $0.reply(ResponseHead(.ok), .bytes($0.body)) }
        let connection = try fixture.connect()
        let body = ServerFixture.content(64 * 1024)
        try await connection.send(fixture.request("PUT /x", "Content-Length: \(body.count)").utf8 + body)
        #expect(try await connection.reply().body == body)
    }

    @Test func aClientThatExpectsContinueGetsIt() async throws {
        let fixture = try await ServerFixture { $0.reply(.ok, String(decoding: $0.body, as: UTF8.self)) }
        let connection = try fixture.connect()
        try await connection.send(fixture.request("POST /x", "Content-Length: 2", "Expect: 100-continue"))
        #expect(try await connection.reply().status == 100)
        try await connection.send("ok")
        #expect(try await connection.reply().text == "ok\n")
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: localhost:PORT\r\nConnection: close\r\n\r\n", "close"),
        ("GET / HTTP/1.0\r\nHost: localhost:PORT\r\n\r\n", "close"),
    ])
    func aConnectionIsClosedOnRequest(text: String, field: String) async throws {
        let fixture = try await ServerFixture()
        let connection = try fixture.connect()
        try await connection.send(text.replacingOccurrences(of: "PORT", with: "\(fixture.port)"))
        #expect(try await connection.reply().field("Connection") == field)
        #expect(try await connection.isClosed())
    }

    @Test func http10IsKeptAliveOnRequest() async throws {
        let fixture = try await ServerFixture()
        let connection = try fixture.connect()
        for _ in 0..<2 {
            let fields = "Host: localhost:\(fixture.port)\r\nConnection: keep-alive\r\n\r\n"
            try await connection.send("GET / HTTP/1.0\r\n\(fields)")
            #expect(try await connection.reply().field("Connection") == "keep-alive")
        }
    }

    @Test func theLastAllowedRequestClosesTheConnection() async throws {
        let fixture = try await ServerFixture(with: { $0.requestsPerConnection = 2 })
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /") + fixture.request("GET /") + fixture.request("GET /"))
        #expect(try await connection.reply().field("Connection") == nil)
        #expect(try await connection.reply().field("Connection") == "close")
        #expect(try await connection.isClosed())
    }

    @Test func aHeadRequestGetsTheLengthWithoutTheBody() async throws {
        let fixture = try await ServerFixture()
        let connection = try fixture.connect()
        try await connection.send(fixture.request("HEAD /") + fixture.request("GET /"))
        let head = try await connection.reply(hasBody: false)
        #expect(head.field("Content-Length") == "6")
        #expect(try await connection.reply().text == "Here.\n")
    }

    @Test func optionsIsAnsweredByTheServer() async throws {
        let fixture = try await ServerFixture { $0.reply(.internalServerError, "Not here.") }
        let reply = try await fixture.ask("OPTIONS *")
        #expect(reply.status == 204)
        #expect(reply.field("Allow")?.contains("GET, HEAD, OPTIONS") == true)
        #expect(reply.field("Content-Length") == nil)
    }

    @Test func anExchangeThatIsDroppedIsAnswered500() async throws {
        let fixture = try await ServerFixture(handler: { _ in })
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /") + fixture.request("GET /"))
        #expect(try await connection.reply().status == 500)
        #expect(try await connection.reply().status == 500)
    }

    @Test func aSecondReplyDoesNothing() async throws {
        let fixture = try await ServerFixture { exchange in
            exchange.reply(.ok, "one")
            exchange.reply(.ok, "two")
        }
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /") + fixture.request("GET /"))
        #expect(try await connection.reply().text == "one\n")
        #expect(try await connection.reply().text == "one\n")
    }

    @Test func aClientThatLeavesBeforeTheReplyIsNoticed() async throws {
        let held = Held()
        let fixture = try await ServerFixture { exchange in
            exchange.whenEnded { held.end = $0 }
            held.exchange = exchange
        }
        var connection: RawConnection? = try fixture.connect()
        try await connection?.send(fixture.request("GET /"))
        try await waitUntil("the request") { await held.exchange != nil }
        connection = nil
        try await waitUntil("the end") { await held.end != nil }
        #expect(await held.end == ReplyEnd(cause: .clientLeft, status: nil, bodyBytes: 0))
        #expect(await held.exchange?.isOpen == false)
        await held.exchange?.reply(.ok, "too late")
    }

    @Test func theEndOfAReplyIsReported() async throws {
        let held = Held()
        let fixture = try await ServerFixture { exchange in
            exchange.whenEnded { held.end = $0 }
            exchange.reply(.notFound, "Nothing.")
        }
        _ = try await fixture.ask("GET /")
        #expect(await held.end == ReplyEnd(cause: .complete, status: 404, bodyBytes: 9))
    }
}

/// Hands objects from a handler to its test.
@LoopActor final class Held {
    var exchange: Exchange?
    var end: ReplyEnd?

    nonisolated init() {}
}
