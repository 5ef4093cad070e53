import Foundation
import TestSupport
import Testing

@Suite("A segment being fetched")
struct StreamingTests {
    private let path = "/ts/270p/0.ts"

    /// The URL of the first segment of a fixture's last variant through Weir.
    private func segment(_ scene: Scene, _ fixture: String = "ts") async throws -> String {
        try await PlaylistWalk.firstSegment(ofLastVariant: scene.master(fixture))
    }

    @Test("is streamed: the player has all bytes that the origin has sent, and no more")
    func streamsFirstByteBeforeLast() async throws {
        try await Scene.with { scene in
            let file = try Repository.fixture(path)
            try await scene.origin.add(OriginRule(path) { $0.pauseAfter = 10_000 })
            let player = try await SegmentReader(segment(scene))
            #expect(try await player.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(try await player.bytes(10_000) == file.prefix(10_000))
            #expect(try await player.isSilent())
            #expect(scene.pieces() == [])
            try await scene.origin.release()
            let rest = try await player.rest()
            #expect(rest.bytes == file.dropFirst(10_000) && rest.end == .closed)
            try await scene.waitForPieces(1)
        }
    }

    @Test("serves a range of the bytes received so far")
    func servesRangeOfReceivedBytes() async throws {
        try await Scene.with { scene in
            let file = try Repository.fixture(path)
            try await scene.origin.add(OriginRule(path) { $0.pauseAfter = 10_000 })
            let url = try await segment(scene)
            let player = try await SegmentReader(url)
            _ = try await player.head()
            let part = try await HTTPProbe.fetch(url, fields: ["Range": "bytes=2000-2999"])
            #expect(part.status == 206 && part["content-range"] == "bytes 2000-2999/\(file.count)")
            #expect(part.body == file[2000...2999])
            try await scene.origin.release()
            #expect(try await player.rest().bytes == file)
            #expect(try await scene.mediaRequests().count == 1)
        }
    }

    @Test(
        "continues in the same response after the origin cuts the connection",
        arguments: [("ts", "/ts/270p/0.ts"), ("byterange-ts", "/byterange-ts/180p/all.ts")], [false, true])
    func resumesAfterACut(fixture: (name: String, path: String), isReset: Bool) async throws {
        try await Scene.with { scene in
            let plain = try await HTTPProbe.fetch(scene.origin.url(fixture.path))
            try await scene.origin.clearRequests()
            try await scene.origin.add(
                OriginRule(fixture.path) {
                    if isReset {
                        $0.resetAfter = 10_000
                    } else {
                        $0.cutAfter = 10_000
                    }
                    $0.times = 1
                })
            let answer = try await HTTPProbe.fetch(segment(scene, fixture.name))
            #expect(answer.status == 200 && answer.isComplete)
            let requests = try await scene.mediaRequests()
            try #require(requests.count == 2)
            let last = requests[0].range.flatMap { $0.split(separator: "-").last } ?? ""
            #expect(requests[1].range == "bytes=10000-\(last)")
            #expect(requests[1].headers["if-range"] == plain["etag"])
            #expect(requests[1].status == 206)
            let length = Int(last).map { $0 + 1 } ?? plain.body.count
            #expect(answer.body == plain.body.prefix(length))
            try await scene.waitForPieces(1)
        }
    }

    /// Features that an origin may lack; each rule applies to all responses.
    private static let lacks: [(name: String, change: @Sendable (inout OriginRule) -> Void)] = [
        ("ranges and validators", { ($0.noRanges, $0.noValidators) = (true, true) }),
        ("ranges", { $0.noRanges = true }), ("validators", { $0.noValidators = true }),
        ("a length", { $0.chunked = true }),
        ("a length and a coding", { $0.untilClose = true }),
    ]

    @Test("is exact after a cut although the origin lacks a feature", arguments: 0..<3)
    func resumesWithLess(index: Int) async throws {
        let lack = StreamingTests.lacks[index]
        try await Scene.with { scene in
            let file = try Repository.fixture(path)
            try await scene.origin.add(
                OriginRule(path) {
                    lack.change(&$0)
                    $0.cutAfter = 10_000
                    $0.times = 1
                }, OriginRule(path, lack.change))
            let answer = try await HTTPProbe.fetch(segment(scene))
            #expect(answer.status == 200 && answer.isComplete && answer.body == file, "without \(lack.name)")
            #expect(try await scene.mediaRequests().count == 2)
            try await scene.waitForPieces(1)
        }
    }

    @Test("is exact and streamed with any framing by the origin", arguments: 3..<5)
    func streamsAnyFraming(index: Int) async throws {
        let lack = StreamingTests.lacks[index]
        try await Scene.with { scene in
            let file = try Repository.fixture(path)
            try await scene.origin.add(
                OriginRule(path) {
                    lack.change(&$0)
                    $0.pauseAfter = 10_000
                })
            let url = try await segment(scene)
            async let answer = HTTPProbe.fetch(url)
            let player = try await SegmentReader(url)
            #expect(try await player.head().contains("HTTP/1.1 200 OK\r\n"))
            #expect(try await player.bytes(5_000).count == 5_000)
            try await scene.origin.release()
            let whole = try await answer
            #expect(whole.isComplete && whole.body == file, "without \(lack.name)")
            #expect(try await HTTPProbe.fetch(url)["content-length"] == "\(file.count)")
        }
    }

    @Test("continues if the origin has another version with the same bytes")
    func continuesWithAnotherVersion() async throws {
        try await Scene.with { scene in
            let file = try Repository.fixture(path)
            try await scene.origin.add(
                OriginRule(path) {
                    $0.cutAfter = 10_000
                    $0.times = 1
                },
                OriginRule(path) {
                    $0.etag = "another"
                    $0.times = 1
                })
            let answer = try await HTTPProbe.fetch(segment(scene))
            #expect(answer.isComplete && answer.body == file)
            let requests = try await scene.mediaRequests()
            #expect(requests.map(\.status) == [200, 200])
        }
    }

    @Test("ends short if the origin has other bytes meanwhile; the next request gets them completely")
    func endsShortWithOtherBytes() async throws {
        try await Scene.with { scene in
            let other = "/_size/50000.ts"
            let file = try Repository.fixture(path)
            try await scene.origin.add(
                OriginRule(path) {
                    $0.cutAfter = 10_000
                    $0.times = 1
                }, OriginRule(path) { $0.redirect = other })
            let url = try await segment(scene)
            let answer = try await HTTPProbe.fetch(url, within: .seconds(60))
            #expect(!answer.isComplete && answer.body == file.prefix(10_000))
            #expect(scene.pieces() == [])
            let next = try await HTTPProbe.fetch(url)
            let expected = try await HTTPProbe.fetch(scene.origin.url(other)).body
            #expect(next.isComplete && next.body == expected)
        }
    }

    // MARK: An origin that takes its time

    /// A rule whose test waits for one of the daemon's limits.
    private struct SlowRule: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expect: @Sendable (StreamingTests) async throws -> Void
    }

    private static let slowRules = [
        SlowRule(testDescription: "ends short after a permanent failure; the next request resumes from there") {
            try await $0.expectShortEndAfterPermanentFailure()
        },
        SlowRule(testDescription: "continues in the same response after a stall") {
            try await $0.expectContinuationAfterStall()
        },
        SlowRule(testDescription: "gets its head in time without a response, and its bytes when they come") {
            try await $0.expectHeadWithoutOriginResponse()
        },
        SlowRule(testDescription: "gets its head in time although no body byte has arrived") {
            try await $0.expectHeadWithoutBodyBytes()
        },
        SlowRule(testDescription: "waits for an absent origin, and arrives when it is back") {
            try await $0.expectWaitForAbsentOrigin()
        },
    ]

    @Test("is served while the origin stalls, does not respond, or fails", .namingCases)
    func isServedWhileOriginFails() async {
        await sideBySide(Self.slowRules) { try await $0.expect(self) }
    }

    private func expectContinuationAfterStall() async throws {
        try await Scene.with { scene in
            let file = try Repository.fixture(path)
            try await scene.origin.add(
                OriginRule(path) {
                    $0.stallAfter = 10_000
                    $0.times = 1
                })
            let answer = try await HTTPProbe.fetch(segment(scene), within: .seconds(60))
            #expect(answer.status == 200 && answer.isComplete && answer.body == file)
            #expect(try await scene.mediaRequests().map(\.range) == [nil, "bytes=10000-"])
        }
    }

    private func expectShortEndAfterPermanentFailure() async throws {
        try await Scene.with { scene in
            let file = try Repository.fixture(path)
            try await scene.origin.add(
                OriginRule(path) {
                    $0.cutAfter = 10_000
                    $0.times = 1
                }, OriginRule(path) { $0.resetAfter = -1 })
            let url = try await segment(scene)
            let answer = try await HTTPProbe.fetch(url, within: .seconds(60))
            #expect(answer.status == 200 && !answer.isComplete && answer.body == file.prefix(10_000))
            #expect(scene.pieces() == [])

            try await scene.origin.clearRules()
            try await scene.origin.clearRequests()
            #expect(try await HTTPProbe.fetch(url).body == file)
            let requests = try await scene.mediaRequests()
            #expect(requests.map(\.range) == ["bytes=10000-"] && requests.map(\.status) == [206])
            try await scene.waitForPieces(1)
        }
    }

    private func expectHeadWithoutOriginResponse() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule(path) { $0.hold = true })
            let player = try await SegmentReader(segment(scene))
            let head = try await player.head(within: .seconds(11))
            #expect(head.hasPrefix("HTTP/1.1 200 ") && head.contains("\r\nTransfer-Encoding: chunked\r\n"))
            try await scene.origin.release()
            let rest = try await player.rest()
            #expect(rest.end == .closed && rest.bytes.suffix(5) == Data("0\r\n\r\n".utf8))
            #expect(try await HTTPProbe.fetch(segment(scene)).body == Repository.fixture(path))
        }
    }

    private func expectHeadWithoutBodyBytes() async throws {
        try await Scene.with { scene in
            let file = try Repository.fixture(path)
            try await scene.origin.add(OriginRule(path) { $0.pauseAfter = 0 })
            let player = try await SegmentReader(segment(scene))
            #expect(try await player.head(within: .seconds(8)).contains("\r\nContent-Length: \(file.count)\r\n"))
            try await scene.origin.release()
            #expect(try await player.rest().bytes == file)
        }
    }

    private func expectWaitForAbsentOrigin() async throws {
        try await Scene.with { scene in
            let url = try await segment(scene)
            try await scene.origin.stop()
            let player = try await SegmentReader(url)
            let head = try await player.head(within: .seconds(11))
            #expect(head.hasPrefix("HTTP/1.1 200 ") && head.contains("\r\nTransfer-Encoding: chunked\r\n"))
            try await scene.origin.restart()
            #expect(try await player.rest().end == .closed)
            #expect(try await HTTPProbe.fetch(url).body == Repository.fixture(path))
        }
    }
}
