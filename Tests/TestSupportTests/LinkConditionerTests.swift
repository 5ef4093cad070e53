import Foundation
import TestSupport
import Testing

@Suite("The link conditioner")
struct LinkConditionerTests {
    /// Runs the link's own tests with a simulated clock: rates per second, delays, shares, windows, losses.
    @Test("passes its simulated-clock tests")
    func passesSimulatedClockTests() async throws {
        let result = try await ProcessRunner.run(
            "python3",
            [
                "-B", "-m", "unittest", "discover", "--start-directory", Repository.path("tools/weirtools/tests"),
                "--top-level-directory", Repository.path("tools"),
            ])
        #expect(result.exit == .code(0) && result.errors.contains("\nOK"), "\(result.errors)")
    }

    @Test("delivers every byte at its rate to two clients that share it")
    func deliversAtItsRate() async throws {
        let origin = try await TestOrigin()
        let link = try await LinkConditioner(to: origin.url(""), preset: "DSL")
        let path = "/_size/400000.ts"
        async let first = HTTPProbe.fetch(link.url(path))
        async let second = HTTPProbe.fetch(link.url(path))
        let bodies = try await [first.body, second.body]
        #expect(try await bodies == Array(repeating: HTTPProbe.fetch(origin.url(path)).body, count: 2))
        let traffic = try await link.traffic()
        #expect(traffic.preset == "DSL" && traffic.accepted == 2 && traffic.bytesDown > 800_000)
        let seconds = try await link.stop()
        // 3.2 s at 250,000 bytes per second: never more, and not less in a second with traffic throughout.
        #expect(seconds.allSatisfy { $0.down <= 257_500 }, "\(seconds)")
        #expect(seconds.contains { $0.down >= 242_500 }, "\(seconds)")
        #expect(seconds.reduce(0) { $0 + $1.down } == traffic.bytesDown)
    }

    @Test("accepts no connection at 100% loss until the preset changes")
    func acceptsNothingAtFullLoss() async throws {
        let origin = try await TestOrigin()
        let link = try await LinkConditioner(to: origin.url(""), preset: "100% Loss")
        let client = try Self.client(of: link.url("/ts/90p/0.ts"))
        let port = try #require(link.address.split(separator: ":").last.flatMap { Int($0) })
        try await waitUntil("a SYN without an answer") { try await Self.hasUnansweredConnection(to: port) }
        #expect(try await link.traffic().accepted == 0)
        #expect(try await origin.requests().isEmpty)
        try await link.set("Wi-Fi")
        #expect(try await client.end() == .code(0), "\(client.standardError)")
        #expect(try client.standardOutputData == Repository.fixture("/ts/90p/0.ts"))
        #expect(try await link.traffic().accepted == 1)
    }

    @Test("changes rates and pauses during a transfer without losing a byte")
    func changesDuringTransfer() async throws {
        let origin = try await TestOrigin()
        let link = try await LinkConditioner(to: origin.url(""), preset: "EDGE")
        let client = try Self.client(of: link.url("/_size/300000.ts"))
        try await waitUntil("the first bytes") { try await link.traffic().bytesDown > 5000 }
        try await link.set("100% loss")
        // Bytes in transit at 400 ms of delay still arrive: at most 12,000 bytes and one packet.
        let atDeath = try await link.traffic().bytesDown
        #expect(try await HTTPProbe.fetch(origin.url("/_size/1.ts")).status == 200)
        #expect(try await link.traffic().bytesDown <= atDeath + 15_000)
        #expect(client.exit == nil)
        try await link.set(down: 40_000_000, up: 40_000_000)
        try await link.set("Wi-Fi 802.11ac")
        #expect(try await client.end() == .code(0), "\(client.standardError)")
        #expect(try await client.standardOutputData == HTTPProbe.fetch(origin.url("/_size/300000.ts")).body)
        #expect(try await link.traffic().connections == 0)
    }

    @Test("delivers every byte over a very bad network")
    func deliversDespiteLosses() async throws {
        let origin = try await TestOrigin()
        let options = ["--delay-down", "5", "--delay-up", "5", "--seed", "7"]
        let link = try await LinkConditioner(to: origin.url(""), preset: "Very Bad Network", options: options)
        let answer = try await HTTPProbe.fetch(link.url("/ts/90p/0.ts"), within: .seconds(60))
        #expect(try answer.body == Repository.fixture("/ts/90p/0.ts"))
        #expect(try await link.traffic().preset == nil)
    }

    @Test("resets the connection when the upstream is gone, and notices that the client has left")
    func noticesClosedEnds() async throws {
        let origin = try await TestOrigin()
        let link = try await LinkConditioner(to: origin.url(""), preset: "DSL")
        let port = try #require(link.address.split(separator: ":").last.flatMap { Int($0) })
        do {
            let client = try RawConnection(port: port)
            try await client.send("GET /_size/9000000.ts HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await client.receiveHead()
        }
        try await waitUntil("the origin to see that the client left") {
            try await origin.requests().first?.state == "gone"
        }
        try await origin.stop()
        let client = try RawConnection(port: port)
        #expect(try await client.receive().end == .reset)
        #expect(try await link.traffic().connections == 0)
    }

    /// Starts a client that writes the content of a URL to its standard output.
    private static func client(of url: String) throws -> ChildProcess {
        let program = """
            import sys, urllib.request as request
            opener = request.build_opener(request.ProxyHandler({}))
            sys.stdout.buffer.write(opener.open(sys.argv[1]).read())
            """
        return try ChildProcess("python3", ["-c", program, url])
    }

    /// True if a connection to the port of 127.0.0.1 has sent its SYN (state 02) and waits.
    private static func hasUnansweredConnection(to port: Int) async throws -> Bool {
        let remote = "0100007F:" + String(port, radix: 16, uppercase: true).leftPadded
        // Read by cat: Foundation reads only the first page of a file with reported size 0.
        let table = try await ProcessRunner.run("cat", ["/proc/net/tcp"]).output
        return table.split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            return words.count > 3 && words[2] == remote && words[3] == "02"
        }
    }
}

extension String {
    /// Hexadecimal, at least four digits.
    fileprivate var leftPadded: String { String(repeating: "0", count: max(0, 4 - count)) + self }
}
