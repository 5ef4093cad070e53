import EventLoop
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct DeadlineTests {
    static let short = Duration.milliseconds(120)

    @Test func aHeadThatTakesTooLongIsRefused() async throws {
        let fixture = try await ServerFixture(with: { $0.headTimeout = Self.short })
        let connection = try fixture.connect()
        try await connection.send("GET / HTTP/1.1\r\n")
        let reply = try await connection.reply()
        #expect(reply.status == 408)
        #expect(try await connection.isClosed())
    }

    @Test func aHeadThatArrivesByteByByteTooSlowlyIsRefused() async throws {
        let fixture = try await ServerFixture(with: { $0.headTimeout = Self.short })
        let connection = try fixture.connect()
        try await connection.send("GET / HTTP/1.1\r\nA: ")
        let dripping = Task { while true { try await connection.send("b") } }
        #expect(try await connection.reply().status == 408)
        dripping.cancel()
    }

    @Test func anIdleConnectionIsClosedWithoutAReply() async throws {
        let fixture = try await ServerFixture(with: { $0.idleTimeout = Self.short })
        let fresh = try fixture.connect()
        let used = try fixture.connect()
        try await used.send(fixture.request("GET /"))
        #expect(try await used.reply().status == 200)
        for connection in [fresh, used] {
            let rest = try await connection.receive()
            #expect(rest.bytes.isEmpty)
            #expect(rest.end == .closed)
        }
    }

    @Test func aMissingBodyIsRefused() async throws {
        let fixture = try await ServerFixture(with: { $0.idleTimeout = Self.short })
        let connection = try fixture.connect()
        try await connection.send(fixture.request("POST /", "Content-Length: 10") + "half")
        #expect(try await connection.reply().status == 408)
    }

    @Test func aClientThatReadsNothingIsDisconnected() async throws {
        let held = Held()
        // Without owners, a client of this machine has the rights of one of another machine.
        let fixture = try await ServerFixture(with: {
            $0.writeTimeout = Self.short
            $0.owners = nil
        }) { exchange in
            exchange.whenEnded { held.end = $0 }
            exchange.reply(ResponseHead(.ok), .bytes([UInt8](repeating: 7, count: 20_000_000)))
        }
        let connection = try fixture.connect(receiveBuffer: 4_096)
        try await connection.send(fixture.request("GET /"))
        try await waitUntil("the end") { await held.end != nil }
        #expect(await held.end?.cause == .clientStalled)
        #expect(try #require(await held.end?.bodyBytes) < 20_000_000)
    }

    @Test func aHandlerMayTakeAsLongAsItNeeds() async throws {
        let held = Held()
        let fixture = try await ServerFixture(with: {
            ($0.headTimeout, $0.idleTimeout, $0.writeTimeout) = (Self.short, Self.short, Self.short)
        }) { held.exchange = $0 }
        let patient = try fixture.connect()
        try await patient.send(fixture.request("GET /"))
        try await waitUntil("the request") { await held.exchange != nil }
        // When an idle connection that was opened later is closed, both deadlines have passed.
        #expect(try await fixture.connect().isClosed())
        await held.exchange?.reply(.ok, "at last")
        #expect(try await patient.reply().text == "at last\n")
    }

    @Test func phasesKeepTheirOwnDeadlines() {
        var configuration = WebServer.Configuration()
        configuration.headTimeout = .seconds(10)
        let limits = ConnectionTiming.Limits(configuration)
        var timing = ConnectionTiming(now: 100)
        #expect(!timing.isOverdue(now: 100 + limits.idle, limits: limits))
        #expect(timing.isOverdue(now: 101 + limits.idle, limits: limits))
        timing.enter(.head, now: 200)
        timing.enter(.head, now: 205)
        #expect(timing.isOverdue(now: 201 + limits.head, limits: limits))
        timing.enter(.handler, now: 300)
        #expect(!timing.isOverdue(now: 1_000_000, limits: limits))
        timing.enter(.drain(isLimited: true), now: 400)
        let progress = [timing.recordQueued(50, now: 420), timing.recordQueued(50, now: 440)]
        #expect(progress == [true, false])
        #expect(!timing.isOverdue(now: 420 + limits.write, limits: limits))
        #expect(timing.isOverdue(now: 421 + limits.write, limits: limits))
    }

    @Test func aReaderWithoutALimitIsNeverOverdueButSilent() {
        let limits = ConnectionTiming.Limits(WebServer.Configuration())
        var timing = ConnectionTiming(now: 100)
        timing.enter(.drain(isLimited: false), now: 400)
        _ = timing.recordQueued(50, now: 420)
        #expect(!timing.isOverdue(now: 1_000_000, limits: limits))
        #expect(!timing.isSilent(for: 1_000, now: 1_419))
        #expect(timing.isSilent(for: 1_000, now: 1_420))
        // One that waits for the server is not silent.
        timing.enter(.handler, now: 500)
        #expect(!timing.isSilent(for: 1_000, now: 1_000_000))
    }
}
