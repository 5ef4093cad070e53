import EventLoop
import Foundation
import HTTPMessage
import Origin
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// Merged fetches from an origin with faults.
@Suite @LoopActor struct MergedFetchFaultTests {
    @Test(arguments: ["ignoreRange", "wrongRange", "reset", "resetInside", "resetAtABoundary", "cut", "noRanges"])
    func afterASharedFailureEachPartIsRetried(_ fault: String) async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let boundary = try fixture.range(1...2).count
        try await fixture.origin.add(
            OriginRule("*.ts") { rule in
                // The number of attempts for the merged request.
                rule.times = 3
                switch fault {
                case "ignoreRange": (rule.ignoreRange, rule.times) = (true, 2)
                case "noRanges": (rule.noRanges, rule.times) = (true, 2)
                case "wrongRange": (rule.headers, rule.times) = (["Content-Range": "bytes 5-9/100"], 2)
                case "reset": rule.resetAfter = -1
                case "resetInside": rule.resetAfter = 30_000
                case "resetAtABoundary": rule.resetAfter = boundary
                default: rule.cutAfter = 50_000
                }
            })
        try await fixture.expectExact(try fixture.fetches(1..<5))
        #expect(try await fixture.requests().count > 1)
    }

    @Test func aCutBodyIsResumedTogether() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { ($0.resetAfter, $0.times) = (50_000, 1) })
        try await fixture.expectExact(try fixture.fetches(0..<6))
        #expect(try await fixture.ranges() == [fixture.field(0...5), "bytes=50000-\(fixture.file.count - 1)"])
    }

    /// The rest has no strong validator, and finished pieces are not compared: each missing one is fetched separately.
    @Test(arguments: ["W/\"weak\"", ""])
    func aRestWithAWeakerValidatorIsNotJoined(_ tag: String) async throws {
        let fixture = try await RangedFilm(count: 4, size: 94_000)
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.cutAfter, $0.times) = (200_000, 1) },
            OriginRule("*.ts") { $0.headers = ["ETag": tag] })
        try await fixture.expectExact(try fixture.fetches(0..<4))
        let ranges = try await fixture.ranges()
        let overlap = 200_000 - 65_536
        #expect(try ranges.prefix(2) == [fixture.field(0...3), "bytes=200000-375999"])
        #expect(ranges.dropFirst(2).first == "bytes=\(overlap)-375999")
    }

    @Test func aPreemptedRequestIsResumedTogether() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(
            OriginRule("*/90p/*.ts") { ($0.pauseAfter, $0.times) = (30_000, 1) },
            OriginRule("*/180p/*.ts") { $0.hold = true })
        let other = try await fixture.house.rendition("video-180p", of: fixture.asset)
        for number in 0..<5 {
            _ = try fixture.house.fetch(number, of: other, in: fixture.asset, urgency: .background)
        }
        let fetches = try fixture.fetches(0..<6)
        try await waitUntil("a beginning") { @LoopActor in fetches[1].written > 0 }
        let player = try fixture.house.fetch(5, of: other, in: fixture.asset)
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        try await waitUntil("the player's request") { try await fixture.origin.load().paused == 6 }
        try await fixture.origin.release()
        try await player.end()
        try await fixture.expectExact(fetches)
        #expect(try await fixture.ranges() == [fixture.field(0...5), "bytes=30000-\(fixture.file.count - 1)"])
    }

    @Test func anUnresumableBodyIsNotRefetchedForCompleteParts() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let end = try fixture.range(0...1).upperBound
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.noValidators, $0.resetAfter, $0.times) = (true, end + 1000, 1) },
            OriginRule("*.ts") { $0.noValidators = true })
        try await fixture.expectExact(try fixture.fetches(0..<4))
        // The merged request is repeated and aborted at its first bytes; then each missing part is fetched separately,
        // from its start.
        let ranges = try await fixture.ranges()
        #expect(try ranges.prefix(2) == [fixture.field(0...3), fixture.field(0...3)])
        #expect(try Set(ranges.dropFirst(2)) == [fixture.field(2...2), fixture.field(3...3)])
    }

    @Test func afterRepeatedStallsEachPartIsRetried() async throws {
        let fixture = try await RangedFilm(in: TestHouse(.giveUpRule { $0.stallSpan = .milliseconds(100) }))
        try await fixture.origin.add(OriginRule("*.ts") { ($0.stallAfter, $0.times) = (0, 3) })
        try await fixture.expectExact(try fixture.fetches(0..<4))
        let ranges = try await fixture.ranges()
        #expect(try ranges.prefix(3).allSatisfy { $0 == (try fixture.field(0...3)) })
        #expect(try Set(ranges.dropFirst(3)) == Set((0...3).map { try fixture.field($0...$0) }))
    }

    @Test func anotherEntityTagForTheSameBytesIsRecovered() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.etag, $0.resetAfter, $0.times) = ("a", 60_000, 1) },
            OriginRule("*.ts") { $0.etag = "b" })
        try await fixture.expectExact(try fixture.fetches(0..<6))
    }

    @Test func otherContentIsNotAppendedToReceivedBytes() async throws {
        let root = try MirroredFixture.folder("byterange-ts")
        let fixture = try await RangedFilm(mirroredIn: root)
        let end = try fixture.range(0...1).upperBound
        try await fixture.origin.add(OriginRule("/a/*.ts") { ($0.etag, $0.pauseAfter) = ("old", end + 5000) })
        let fetches = try fixture.fetches(0..<4)
        try await fixture.expectExact(Array(fetches[..<2]))
        try await waitUntil("the third's beginning") { @LoopActor in fetches[2].written == 5000 }

        let other = Data(fixture.file.map { $0 ^ 1 })
        for pathway in ["a", "b"] {
            try root.write(other, to: "\(pathway)/90p/all.ts")
        }
        try await fixture.origin.replaceRules(with: OriginRule("*.ts") { $0.etag = "new" })
        fixture.house.client.isOffline = true
        fixture.house.client.isOffline = false
        for fetch in fetches {
            #expect(await fetch.result().code == (fetch.isPiece ? nil : .notStored))
        }
        for fetch in fetches {
            fetch.release()
        }
        let again = try fixture.fetches(2..<4)
        #expect(again[0] === fetches[2])
        #expect(await again[0].result().code == .badOrigin)
        #expect(await again[1].result().code == nil)
        #expect(again[1].bytes == Array(other[try fixture.range(3...3)]))
        try await waitUntil("the deletion of new content's pieces, which a comparison finds") { @LoopActor in
            fixture.rendition.folder.sizes.keys.sorted() == ["0.ts", "1.ts"]
        }
    }

    @Test func anHTMLPageAmongThePartsIsNotStoredAndTheOthersAre() async throws {
        let root = try MirroredFixture.folder("byterange-ts")
        let fixture = try await RangedFilm(mirroredIn: root)
        var file = fixture.file
        let start = try fixture.range(2...2).lowerBound
        file.replaceSubrange(
            start..<(start + 64), with: Data("<html>\(String(repeating: "Please sign in. ", count: 4))".utf8.prefix(64))
        )
        for pathway in ["a", "b"] {
            try root.write(file, to: "\(pathway)/90p/all.ts")
        }
        let fetches = try fixture.fetches(0..<6)
        let result = await fetches[2].result()
        #expect(result.code == .badOrigin && "\(result)".contains("HTML"))
        try await fixture.expectExact([0, 1, 3, 4, 5].map { fetches[$0] })
        #expect(!fixture.rendition.folder.contains("2.ts"))
    }

    @Test(arguments: [
        (404, FetchError.Code.missing), (403, .originRefused), (500, .badOrigin), (200, .badOrigin),
    ])
    func aRefusalReachesEachPart(_ status: Int, _ expected: FetchError.Code) async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(
            OriginRule("*.ts") { if status == 200 { $0.html = true } else { $0.status = status } })
        let fetches = try fixture.fetches(0..<4)
        for fetch in fetches {
            #expect(await fetch.result().code == expected)
        }
        for fetch in fetches {
            fetch.release()
        }
        #expect(fixture.rendition.folder.sizes.isEmpty)
        try await fixture.origin.clearRules()
        try await fixture.expectExact(try fixture.fetches(0..<4))
    }

    @Test func anOverloadedOriginGetsOneRequestForAllParts() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { $0.status = 503 })
        for fetch in try fixture.fetches(0..<6) {
            #expect(await fetch.result().code == .badOrigin)
        }
        // Three attempts in total, not three for each of the six parts.
        #expect(try await fixture.requests().count == 3)
    }

    @Test func anAbsentOriginIsReportedToEachPart() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.stop()
        for fetch in try fixture.fetches(0..<4) {
            #expect(await fetch.result().code == .originAbsent)
        }
    }

    @Test(arguments: [404, 403, 500, 0])
    func aResourceMissingAtOneMirrorComesFromAnother(_ status: Int) async throws {
        let fixture = try await RangedFilm(mirroredIn: MirroredFixture.folder("byterange-ts"))
        try await fixture.origin.add(
            OriginRule("/a/90p/*.ts") { if status > 0 { $0.status = status } else { $0.resetAfter = -1 } })
        try await fixture.expectExact(try fixture.fetches(0..<6))
        let paths = try await fixture.origin.requests().map(\.path)
        #expect(paths.count { $0 == "/b/90p/media.m3u8" } == 1)
        #expect(paths.contains("/b/90p/all.ts"))
    }

    @Test func aPlayerDoesNotWaitForASilentMirror() async throws {
        let fixture = try await RangedFilm(mirroredIn: MirroredFixture.folder("byterange-ts"))
        try await fixture.origin.add(OriginRule("/a/90p/*.ts") { $0.hold = true })
        let fetches = try fixture.fetches(0..<6)
        try await fixture.waitForRequests(1)
        let began = ContinuousClock.now
        let player = try fixture.player(0)
        try await fixture.expectExact([player])
        #expect(ContinuousClock.now - began < .seconds(8) && fetches[0] === player)
    }

    @Test func expiredURLsAreRefreshedOnceForAllParts() async throws {
        let fixture = try await SignedMergedFetch()
        try await fixture.sign("t=2")
        for fetch in try fixture.fetches(0..<6) {
            try await fetch.end()
            let range = try #require(fetch.resource.range)
            #expect(fetch.bytes == Array(fixture.file[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
        #expect(fixture.rendition.isComplete)
        let paths = try await fixture.house.origin.requests().map(\.path)
        #expect(paths.count { $0 == "/byterange-ts/90p/all.ts?t=1" } == 1)
        #expect(paths.count { $0 == "/byterange-ts/90p/media.m3u8?t=2" } == 1)
    }
}

/// A rendition whose URLs are signed with a token that the origin rejects later.
@LoopActor private final class SignedMergedFetch {
    let house: TestHouse
    let rendition: Rendition
    let file: Data
    private let asset: Asset

    init() async throws {
        house = try await TestHouse()
        file = try Repository.fixture("/byterange-ts/90p/all.ts")
        try await Self.sign("t=1", at: house.origin)
        asset = try await house.open("/byterange-ts/master.m3u8")
        rendition = try await house.rendition("video-90p", of: asset)
    }

    func sign(_ token: String) async throws { try await Self.sign(token, at: house.origin) }

    private static func sign(_ token: String, at origin: TestOrigin) async throws {
        let folder = "/byterange-ts/"
        let master = String(decoding: try Repository.fixture(folder + "master.m3u8"), as: UTF8.self)
            .replacing("media.m3u8", with: "media.m3u8?\(token)")
        let media = String(decoding: try Repository.fixture(folder + "90p/media.m3u8"), as: UTF8.self)
            .replacing("all.ts", with: "all.ts?\(token)")
        try await origin.replaceRules(
            with: OriginRule(folder + "master.m3u8") { ($0.status, $0.body) = (200, master) },
            OriginRule(folder + "90p/media.m3u8[?]\(token)") { ($0.status, $0.body) = (200, media) },
            OriginRule("*.ts[?]\(token)"), OriginRule("*[?]t=*") { $0.status = 403 })
    }

    func fetches(_ numbers: Range<Int>) throws -> [Fetch] {
        let resources = try numbers.map { try house.resource($0, of: rendition) }
        return try house.library.fetches(resources, in: rendition.folder, of: asset)
    }
}
