import Foundation
import TestSupport
import Testing

/// Responses of an origin that are not the expected segment.
@Suite("A response that is not a segment")
struct BadSegmentTests {
    /// The response to each request for the path, and the minimum number of requests before Weir gives up.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fixture: String
        let path: String
        let requests: Int
        var status = 502
        let change: @Sendable (inout OriginRule) -> Void
    }

    private static let whole = [
        Case(testDescription: "HTML", fixture: "ts", path: "/ts/270p/0.ts", requests: 1) { $0.html = true },
        Case(testDescription: "nothing", fixture: "ts", path: "/ts/270p/0.ts", requests: 1) { $0.truncate = 0 },
        Case(testDescription: "404", fixture: "ts", path: "/ts/270p/0.ts", requests: 1, status: 404) {
            $0.status = 404
        },
        Case(testDescription: "403", fixture: "ts", path: "/ts/270p/0.ts", requests: 1) { $0.status = 403 },
        Case(testDescription: "503", fixture: "ts", path: "/ts/270p/0.ts", requests: 5) { $0.status = 503 },
        Case(testDescription: "200 to a Range", fixture: "byterange-ts", path: "/byterange-ts/180p/all.ts", requests: 2)
        {
            $0.ignoreRange = true
        },
        Case(testDescription: "a short range", fixture: "byterange-ts", path: "/byterange-ts/180p/all.ts", requests: 2)
        {
            $0.truncate = 10_000
        },
        Case(testDescription: "a short key", fixture: "aes", path: "/aes/keys/0.key", requests: 1) { $0.truncate = 15 },
        Case(testDescription: "HTML for a key", fixture: "aes", path: "/aes/keys/0.key", requests: 1) {
            $0.html = true
        },
    ]

    /// The URL of a case's path through Weir.
    private func url(_ scene: Scene, _ example: Case) async throws -> String {
        let master = await scene.master(example.fixture)
        guard example.path.hasSuffix(".key") else { return try await PlaylistWalk.firstSegment(ofLastVariant: master) }
        let variant = try #require(try await PlaylistWalk.segments(master).last)
        return try #require(try await PlaylistWalk.references(at: variant).first { $0.hasSuffix("/keys/0.key") })
    }

    @Test("is refused after retries, and never becomes a piece", .namingCases)
    func refusesWrongBodies() async {
        await sideBySide(Self.whole) { try await expectRefusal(of: $0) }
    }

    private func expectRefusal(of example: Case) async throws {
        try await Scene.with { scene in
            let url = try await url(scene, example)
            try await scene.origin.add(OriginRule(example.path, example.change))
            let answer = try await HTTPProbe.fetch(url)
            // An origin that answers 503 is retried for longer than a player waits.
            let statuses = example.requests > 2 ? [example.status, 504] : [example.status]
            #expect(statuses.contains(answer.status) && answer.isComplete, "\(answer.status) \(answer.text)")
            #expect(answer.text.hasSuffix(".\n"))
            #expect(try await scene.mediaRequests().count >= example.requests)
            #expect(scene.pieces() == [])

            try await scene.origin.clearRules()
            let good = try await HTTPProbe.fetch(url)
            #expect(good.status == 200 && good.isComplete)
            let file = try Repository.fixture(example.path)
            #expect(!good.body.isEmpty && good.body == file.prefix(good.body.count))
            try await scene.waitForPieces(1)
        }
    }

    /// Responses that start correctly.
    private static let cutShort = [
        Case(testDescription: "cut short each time", fixture: "ts", path: "/ts/270p/0.ts", requests: 2) {
            ($0.noRanges, $0.noValidators, $0.cutAfter) = (true, true, 20_000)
        },
        Case(testDescription: "chunks without an end", fixture: "ts", path: "/ts/270p/0.ts", requests: 2) {
            ($0.chunked, $0.cutAfter, $0.noRanges, $0.noValidators) = (true, 20_000, true, true)
        },
    ]

    @Test("with a correct start ends short, and never becomes a piece", .namingCases)
    func endsShort() async {
        await sideBySide(Self.cutShort) { try await expectShortEnd(of: $0) }
    }

    private func expectShortEnd(of example: Case) async throws {
        try await Scene.with { scene in
            let url = try await url(scene, example)
            try await scene.origin.add(OriginRule(example.path, example.change))
            let answer = try await HTTPProbe.fetch(url, within: .seconds(60))
            let file = try Repository.fixture(example.path)
            #expect(answer.status == 502 || (!answer.isComplete && file.starts(with: answer.body)))
            #expect(try await scene.mediaRequests().count >= example.requests)
            #expect(scene.pieces() == [])
            let get = try await scene.get(example.fixture)
            #expect(get.exit == .code(76), "\(get.exit) \(get.errors)")
            #expect(!scene.pieces().contains { $0.hasSuffix("/0.ts") })

            try await scene.origin.clearRules()
            let good = try await HTTPProbe.fetch(url)
            #expect(good.isComplete && good.body == file)
            #expect(try await scene.get(example.fixture).exit == .code(0))
        }
    }

    /// The stated length, and the number of requests until the whole segment is stored.
    @Test(
        "but has another length than the origin states becomes a piece",
        arguments: [(50_000, true, 2), (50_000, false, 3), (20_000, true, 2)])
    func acceptsAnotherLength(stated: Int, isBare: Bool, requests: Int) async throws {
        try await Scene.with { scene in
            let path = "/ts/270p/0.ts"
            try await scene.origin.add(
                OriginRule(path) { ($0.contentLength, $0.noRanges, $0.noValidators) = (stated, isBare, isBare) })
            let url = try await PlaylistWalk.firstSegment(ofLastVariant: scene.master("ts"))
            let file = try Repository.fixture(path)
            let first = try await HTTPProbe.fetch(url, within: .seconds(60))
            #expect(file.starts(with: first.body) && first.body.count == min(stated, file.count))
            try await scene.waitForPieces(1)
            #expect(try await scene.mediaRequests().count == requests)
            let second = try await HTTPProbe.fetch(url)
            #expect(second.isComplete && second.body == file)
        }
    }

    @Test("is retried after two transient failures")
    func retriesTransientFailures() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(
                OriginRule("/ts/270p/0.ts") {
                    $0.status = 503
                    $0.times = 2
                })
            let answer = try await HTTPProbe.fetch(PlaylistWalk.firstSegment(ofLastVariant: scene.master("ts")))
            #expect(answer.status == 200)
            #expect(try answer.body == Repository.fixture("/ts/270p/0.ts"))
        }
    }
}
