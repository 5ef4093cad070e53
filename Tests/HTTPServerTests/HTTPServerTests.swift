import EventLoop
import Foundation
import Glibc
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct HTTPServerTests {
    @Test func aPortInUseIsReported() async throws {
        let fixture = try await ServerFixture()
        let error = await #expect(throws: HTTPServerError.self) {
            try await fixture.server.listen(host: "127.0.0.1", port: UInt16(fixture.port))
        }
        #expect(error?.code == .addressInUse)
        #expect(error?.description == "port \(fixture.port) at 127.0.0.1 is in use by another program")
    }

    @Test(arguments: [("localhost", HTTPServerError.Code.invalidAddress), ("192.0.2.1", .addressNotAvailable)])
    func anUnavailableAddressIsReported(host: String, code: HTTPServerError.Code) async throws {
        let fixture = try await ServerFixture()
        let error = await #expect(throws: HTTPServerError.self) {
            try await fixture.server.listen(host: host, port: 0)
        }
        #expect(error?.code == code)
    }

    @Test func bothLoopbackAddressesShareAPort() async throws {
        let fixture = try await ServerFixture()
        let port = try await fixture.server.listen(host: "[::1]", port: UInt16(fixture.port))
        #expect(Int(port) == fixture.port)
    }

    @Test func theLongestIdleConnectionIsClosedForANewOne() async throws {
        let fixture = try await ServerFixture(with: { $0.connections = 2 })
        let first = try fixture.connect()
        let second = try fixture.connect()
        for connection in [first, second] {
            try await connection.send(fixture.request("GET /"))
            #expect(try await connection.reply().status == 200)
        }
        #expect(try await fixture.ask("GET /").status == 200)
        #expect(await fixture.server.connectionCount <= 2)
    }

    @Test func withoutAnIdleConnectionANewOneWaitsAndIsThenRefused() async throws {
        let held = Held()
        let fixture = try await ServerFixture(with: {
            $0.connections = 1
            $0.headTimeout = .milliseconds(200)
        }) { held.exchange = $0 }
        let busy = try fixture.connect()
        try await busy.send(fixture.request("GET /"))
        try await waitUntil("the request") { await held.exchange != nil }
        let refused = try fixture.connect()
        let reply = try await refused.reply()
        #expect(reply.status == 503)
        #expect(reply.isWhole)
        await held.exchange?.reply(.ok, "still here")
        #expect(try await busy.reply().text == "still here\n")
    }

    @Test func stoppingLetsRepliesFinish() async throws {
        let held = Held()
        let fixture = try await ServerFixture { held.exchange = $0 }
        let busy = try fixture.connect()
        let idle = try fixture.connect()
        try await busy.send(fixture.request("GET /"))
        try await waitUntil("the request") { await held.exchange != nil }
        try await waitUntil("both") { await fixture.server.connectionCount == 2 }
        async let stopped: Void = fixture.server.stop(within: .seconds(30))
        #expect(try await idle.isClosed())
        #expect(throws: SystemCallError.self) { try fixture.connect() }
        await held.exchange?.reply(.ok, "the last")
        let reply = try await busy.reply()
        #expect(reply.text == "the last\n")
        #expect(reply.field("Connection") == "close")
        await stopped
        #expect(await fixture.server.connectionCount == 0)
    }

    @Test func stoppingCutsOffUnfinishedReplies() async throws {
        let held = Held()
        let fixture = try await ServerFixture { exchange in
            exchange.whenEnded { held.end = $0 }
            held.exchange = exchange
        }
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /"))
        try await waitUntil("the request") { await held.exchange != nil }
        await fixture.server.stop(within: .milliseconds(50))
        #expect(await held.end?.cause == .serverStopped)
        #expect(try await connection.isClosed())
    }

    @Test func aServerThatIsDroppedClosesItsConnections() async throws {
        var fixture: ServerFixture? = try await ServerFixture()
        let connection = try #require(try fixture?.connect())
        try await waitUntil("the connection") { await fixture?.server.connectionCount == 1 }
        fixture = nil
        #expect(try await connection.isClosed())
    }

    @Test func withoutDescriptorsNewConnectionsWait() async {
        // Runs in a separate process, since the limit applies to a whole process.
        await #expect(processExitsWith: .success) {
            let fixture = try await ServerFixture()
            let clients = try (0..<4).map { _ in try fixture.connect() }
            try await waitUntil("all") { await fixture.server.connectionCount == 4 }
            let late = try fixture.connect()
            try await waitUntil("the late one") { await fixture.server.connectionCount == 5 }
            let waiting = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let former = limit.rlim_cur
            limit.rlim_cur = UInt(waiting) + 1
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(UInt16(fixture.port)).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let connected = withUnsafeBytes(of: &address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { connect(waiting, $0.baseAddress, 16) }
            }
            #expect(connected == 0)
            // An idle connection is closed for the new one, which then gets its descriptor.
            let request = Array(fixture.request("GET /").utf8)
            #expect(send(waiting, request, request.count, 0) == request.count)
            let answer = try await blocking {
                var bytes = [UInt8](repeating: 0, count: 15)
                return recv(waiting, &bytes, 15, Int32(MSG_WAITALL)) == 15 ? bytes : []
            }
            limit.rlim_cur = former
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let isAnswered = answer.elementsEqual("HTTP/1.1 200 OK".utf8)
            withExtendedLifetime((clients, late)) {}
            exit(isAnswered ? 0 : 1)
        }
    }
}
