import Foundation
import TestSupport
import Testing

@Suite("A segment on its way")
struct StreamingTests {
    private let path = "/ts/270p/0.ts"

    /// The URL through Weir of the first segment of a fixture's last variant.
    private func segment(_ scene: Scene, _ fixture: String = "ts") async throws -> String {
        try await PlaylistWalk.firstSegment(ofLastVariant: scene.master(fixture))
    }

    @Test("reaches the player as it comes: it has what the origin has sent, and no more")
    func firstByteBeforeLast() async throws {
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

    @Test("gives a range of what is there already, whatever is still to come")
    func rangeOfWhatIsThere() async throws {
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
        "goes on behind the same reply when the origin breaks off",
        arguments: [("ts", "/ts/270p/0.ts"), ("byterange-ts", "/byterange-ts/180p/all.ts")], [false, true])
    func breaksOff(fixture: (name: String, path: String), isReset: Bool) async throws {
        try await Scene.with { scene in
            let plain = try await HTTPProbe.fetch(scene.origin.url(fixture.path))
            try await scene.origin.clearRequests()
            try await scene.origin.add(
                OriginRule(fixture.path) {
                    if isReset { $0.resetAfter = 10_000 } else { $0.cutAfter = 10_000 }
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

    @Test("goes on behind the same reply when the origin falls silent")
    func stalls() async throws {
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

    /// What an origin may lack: each is a rule for all of its replies.
    private static let lacks: [(name: String, change: @Sendable (inout OriginRule) -> Void)] = [
        ("ranges and validators", { ($0.noRanges, $0.noValidators) = (true, true) }),
        ("ranges", { $0.noRanges = true }), ("validators", { $0.noValidators = true }),
        ("a length", { $0.chunked = true }),
        ("a length and a coding", { $0.untilClose = true }),
    ]

    @Test("is exact after a break although the origin lacks something", arguments: 0..<3)
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

    @Test("is exact, and streams, in whatever framing the origin sends it", arguments: 3..<5)
    func framings(index: Int) async throws {
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

    @Test("goes on when the origin has another version with the same bytes")
    func anotherVersion() async throws {
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

    @Test("ends short when the origin has other bytes meanwhile, which the next request gets whole")
    func otherBytes() async throws {
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

    @Test("ends short when the origin fails for good; what came is gone on from at the next request")
    func failsForGood() async throws {
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

    @Test("has its head in time although the origin says nothing, and its bytes when it speaks again")
    func silentOrigin() async throws {
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

    @Test("has its head in time although no byte of it has come")
    func silentBody() async throws {
        try await Scene.with { scene in
            let file = try Repository.fixture(path)
            try await scene.origin.add(OriginRule(path) { $0.pauseAfter = 0 })
            let player = try await SegmentReader(segment(scene))
            #expect(try await player.head(within: .seconds(8)).contains("\r\nContent-Length: \(file.count)\r\n"))
            try await scene.origin.release()
            #expect(try await player.rest().bytes == file)
        }
    }

    @Test("is waited for when the origin has gone, and comes when it is back")
    func goneOrigin() async throws {
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
