import Foundation
import TestSupport
import Testing

@Suite("The fixture origin under rules")
struct TestOriginFaultTests {
    private let path = "/ts/90p/0.ts"

    /// Reads the body of a GET to the end of the connection, from a raw socket to distinguish a reset from a close.
    private func read(
        _ origin: any RuledOrigin, range: String? = nil
    ) async throws -> (head: String, body: Data, end: RawConnection.End) {
        let connection = try RawConnection(port: origin.port)
        let fields = range.map { "Range: \($0)\r\n" } ?? ""
        try await connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)Connection: close\r\n\r\n")
        let head = try await connection.receiveHead()
        let rest = try await connection.receive()
        return (String(decoding: head.bytes, as: UTF8.self), rest.bytes, head.end == .satisfied ? rest.end : head.end)
    }

    @Test("cuts and resets fall on the exact byte", arguments: OriginKind.allCases, [0, 1, 1000, 23_499, 23_500])
    func breaksAtExactByte(kind: OriginKind, count: Int) async throws {
        let origin = try await kind.start()
        let file = try Repository.fixture(path)
        try await origin.add(
            OriginRule(path) {
                $0.cutAfter = count
                $0.times = 1
            }, OriginRule(path) { $0.resetAfter = count })
        let cut = try await read(origin)
        #expect(cut.body == file.prefix(count) && cut.end == .closed)
        let reset = try await read(origin)
        #expect(reset.body == file.prefix(count) && reset.end == .reset)
        #expect(cut.head.contains("Content-Length: 23500") && reset.head.contains("Content-Length: 23500"))
        let requests = try await origin.requests()
        #expect(requests.map(\.bytes) == [count, count])
        #expect(requests.map(\.state) == ["cut", "cut"])
    }

    @Test("a body is compressed for clients that accept gzip, and may be any bytes", arguments: OriginKind.allCases)
    func compressesBodies(kind: OriginKind) async throws {
        let origin = try await kind.start()
        try await origin.add(
            OriginRule("/bytes") { ($0.status, $0.bodyHex) = (200, "00ff0a") }, OriginRule("*") { $0.gzip = true })
        #expect(try await HTTPProbe.fetch(origin.url("/bytes")).body == Data([0, 0xFF, 0x0A]))
        let playlist = "/ts/90p/media.m3u8"
        let plain = try await HTTPProbe.fetch(origin.url(playlist))
        #expect(try plain.body == Repository.fixture(playlist) && plain["content-encoding"] == nil)
        let packed = try await HTTPProbe.fetch(origin.url(playlist), fields: ["Accept-Encoding": "br, gzip"])
        #expect(packed.isComplete && packed["content-encoding"] == "gzip")
        #expect(packed.body.starts(with: [0x1F, 0x8B]) && packed.body.count < plain.body.count)
        let part = try await HTTPProbe.fetch(
            origin.url(playlist), fields: ["Accept-Encoding": "gzip", "Range": "bytes=0-6"])
        #expect(part.status == 206 && part.text == "#EXTM3U" && part["content-encoding"] == nil)
    }

    @Test("a connection can break before the head", arguments: OriginKind.allCases)
    func breaksBeforeHead(kind: OriginKind) async throws {
        let origin = try await kind.start()
        try await origin.add(OriginRule(path) { $0.cutAfter = -1 })
        let cut = try await read(origin)
        #expect(cut.head.isEmpty && cut.end == .closed)
        try await origin.clearRules()
        try await origin.add(OriginRule(path) { $0.resetAfter = -1 })
        let reset = try await read(origin)
        #expect(reset.head.isEmpty && reset.end == .reset)
    }

    @Test("a cut counts the bytes of the requested range", arguments: OriginKind.allCases)
    func cutsRange(kind: OriginKind) async throws {
        let origin = try await kind.start()
        try await origin.add(OriginRule(path) { $0.cutAfter = 100 })
        let cut = try await read(origin, range: "bytes=1000-1999")
        #expect(cut.head.hasPrefix("HTTP/1.1 206") && cut.head.contains("Content-Length: 1000"))
        #expect(try cut.body == Repository.fixture(path)[1000..<1100])
    }

    @Test("a paused body arrives up to the pause, and continues when released", arguments: OriginKind.allCases)
    func pauses(kind: OriginKind) async throws {
        let origin = try await kind.start()
        let file = try Repository.fixture(path)
        try await origin.add(OriginRule(path) { $0.pauseAfter = 5000 })
        let connection = try RawConnection(port: origin.port)
        try await connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        _ = try await connection.receiveHead()
        #expect(try await connection.receive(count: 5000).bytes == file.prefix(5000))
        try await waitUntil("the pause") { try await origin.requests().first?.state == "paused" }
        #expect(try await connection.receive(count: 1, within: .milliseconds(50)).end == .timedOut)
        #expect(try await origin.release(path) == 1)
        let rest = try await connection.receive()
        #expect(rest.bytes == file.dropFirst(5000) && rest.end == .closed)
        #expect(try await origin.requests().first?.state == "done")
    }

    @Test("a release is not lost that comes with the last bytes before the pause", arguments: OriginKind.allCases)
    func pausesAreReleasedAtOnce(kind: OriginKind) async throws {
        let origin = try await kind.start()
        // The origin comes to its pause 50 ms after these bytes.
        try await origin.add(OriginRule(path) { ($0.pauseAfter, $0.throttle) = (1000, 20_000) })
        let connection = try RawConnection(port: origin.port)
        try await connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        _ = try await connection.receiveHead()
        _ = try await connection.receive(count: 1000)
        _ = try await origin.release(path)
        try await waitUntil("the rest") { try await (origin.requests().first?.bytes ?? 0) > 1000 }
    }

    @Test("a client that leaves a stalled reply is noticed", arguments: OriginKind.allCases)
    func stalls(kind: OriginKind) async throws {
        let origin = try await kind.start()
        try await origin.add(OriginRule(path) { $0.stallAfter = 10 })
        do {
            let connection = try RawConnection(port: origin.port)
            try await connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await connection.receiveHead()
            #expect(try await connection.receive(count: 11, within: .milliseconds(50)).bytes.count == 10)
        }
        try await waitUntil("the client's leaving in the log") { try await origin.requests().first?.state == "gone" }
    }

    @Test("a held head arrives when released, a delayed head after its delay", arguments: OriginKind.allCases)
    func holds(kind: OriginKind) async throws {
        let origin = try await kind.start()
        try await origin.add(
            OriginRule(path) {
                $0.hold = true
                $0.times = 1
            }, OriginRule(path) { $0.delay = 0.1 })
        async let held = HTTPProbe.fetch(origin.url(path))
        try await waitUntil("the held reply") { try await origin.load().paused == 1 }
        try await origin.release("*")
        #expect(try await held.isComplete)
        let start = ContinuousClock.now
        #expect(try await HTTPProbe.fetch(origin.url(path)).isComplete)
        #expect(ContinuousClock.now - start >= .milliseconds(100))
    }

    @Test(
        "a reply that is released before it comes to its hold is not held, whether the rules were cleared before or not",
        arguments: OriginKind.allCases, [false, true])
    func lateHoldsAreReleased(kind: OriginKind, isCleared: Bool) async throws {
        let origin = try await kind.start()
        try await origin.add(
            OriginRule(path) {
                $0.hold = true
                $0.delay = 0.3
            })
        async let reply = HTTPProbe.fetch(origin.url(path))
        try await waitUntil("the request") { try await origin.requests().count == 1 }
        if isCleared {
            try await origin.clearRules()
        }
        try await origin.release("*")
        #expect(try await reply.isComplete)
    }

    @Test("a throttled body arrives at its rate", arguments: OriginKind.allCases)
    func throttles(kind: OriginKind) async throws {
        let origin = try await kind.start()
        try await origin.add(OriginRule(path) { $0.throttle = 100_000 })
        let start = ContinuousClock.now
        #expect(try await HTTPProbe.fetch(origin.url(path)).isComplete)
        #expect(ContinuousClock.now - start >= .milliseconds(150))
    }

    @Test(
        "statuses, redirects and HTML follow the rule, for the matches that it counts", arguments: OriginKind.allCases)
    func answersByRule(kind: OriginKind) async throws {
        let origin = try await kind.start()
        try await origin.add(
            OriginRule("/ts/*") {
                $0.status = 503
                $0.body = "busy"
                $0.headers = ["Retry-After": "1"]
                $0.times = 2
            },
            OriginRule("/ts/*") {
                $0.redirect = "/cmaf/master.m3u8"
                $0.nth = 1
            },
            OriginRule("/ts/*") {
                $0.html = true
                $0.skip = 1
            })
        var answers: [HTTPAnswer] = []
        for _ in 0..<5 {
            answers.append(try await HTTPProbe.fetch(origin.url(path)))
        }
        #expect(answers.map(\.status) == [503, 503, 302, 200, 200])
        #expect(answers[0].text == "busy" && answers[0]["retry-after"] == "1")
        #expect(answers[2]["location"] == "/cmaf/master.m3u8")
        #expect(answers[3]["content-type"] == "video/mp2t")
        #expect(answers[4]["content-type"] == "text/html" && answers[4].text.hasPrefix("<!DOCTYPE html>"))
    }

    @Test("lengths and framing are wrong as the rule says", arguments: OriginKind.allCases)
    func framesByRule(kind: OriginKind) async throws {
        let origin = try await kind.start()
        let file = try Repository.fixture(path)
        func fetch(_ change: (inout OriginRule) -> Void) async throws -> HTTPAnswer {
            try await origin.clearRules()
            try await origin.add(OriginRule(path, change))
            return try await HTTPProbe.fetch(origin.url(path), fields: ["Range": "bytes=0-"])
        }
        let short = try await fetch { $0.contentLength = 100 }
        #expect(short["content-length"] == "100" && short.body == file.prefix(100))
        let long = try await fetch { $0.contentLength = 30_000 }
        #expect(long["content-length"] == "30000" && long.body == file && !long.isComplete)
        let chunked = try await fetch { $0.chunked = true }
        #expect(chunked["content-length"] == nil && chunked.body == file && chunked.isComplete)
        let brokenOff = try await fetch {
            $0.chunked = true
            $0.cutAfter = 500
        }
        #expect(brokenOff.body == file.prefix(500) && !brokenOff.isComplete)
        let open = try await fetch { $0.untilClose = true }
        #expect(open["content-length"] == nil && open.body == file && open.isComplete)
        let truncated = try await fetch { $0.truncate = 1000 }
        #expect(truncated["content-range"] == "bytes 0-999/1000" && truncated.isComplete)
        let ignored = try await fetch { $0.ignoreRange = true }
        #expect(ignored.status == 200 && ignored["accept-ranges"] == "bytes" && ignored.body == file)
        let rangeless = try await fetch {
            $0.noRanges = true
            $0.noValidators = true
        }
        #expect(rangeless.status == 200 && rangeless["accept-ranges"] == nil && rangeless["etag"] == nil)
    }

    @Test("pipelined requests on one connection are answered and logged in order", arguments: OriginKind.allCases)
    func answersPipelinedRequests(kind: OriginKind) async throws {
        let origin = try await kind.start()
        let connection = try RawConnection(port: origin.port)
        let paths = (0..<4).map { "/_size/\($0 * 100).ts" }
        try await connection.send(paths.map { "GET \($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }.joined())
        for path in paths {
            let head = try await connection.receiveHead()
            let length = paths.firstIndex(of: path).map { $0 * 100 } ?? 0
            #expect(String(decoding: head.bytes, as: UTF8.self).contains("Content-Length: \(length)\r\n"))
            #expect(try await connection.receive(count: length).bytes.count == length)
        }
        let requests = try await origin.requests()
        #expect(requests.map(\.path) == paths && requests.map(\.connection) == [1, 1, 1, 1])
        #expect(requests.map(\.order) == [0, 1, 2, 3])
    }
}
