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

/// Merged fetches without faults.
@Suite @LoopActor struct MergedFetchTests {
    // MARK: One request

    @Test func oneRequestFetchesAdjacentRangesAsSeparatePieces() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let fetches = try fixture.fetches(1..<5)
        try await fixture.expectExact(fetches)
        #expect(try await fixture.ranges() == [fixture.field(1...4)])
        #expect(fixture.rendition.folder.sizes.keys.sorted() == ["1.ts", "2.ts", "3.ts", "4.ts"])
        for fetch in fetches {
            fetch.release()
        }
        #expect(!fixture.house.folder.files().contains { $0.hasPrefix("tmp/") })
    }

    @Test func eachPartIsReadWhileItGrowsAndEndsAtItsLastByte() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let pause = try fixture.range(0...1).count + 1000
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = pause })
        let fetches = try fixture.fetches(0..<6)
        try await fixture.expectExact(Array(fetches[..<2]))
        try await fetches[2].announced()
        try await waitUntil("the third's beginning") { @LoopActor in fetches[2].written == 1000 }
        #expect(!fetches[2].isComplete && fetches[3].written == 0 && fetches[3].outcome == nil)
        #expect(try await fixture.requests().map(\.state) == ["paused"])
        try await fixture.origin.release()
        try await fixture.expectExact(fetches)
        #expect(fixture.rendition.isComplete)
        #expect(try await fixture.requests().map(\.state) == ["done"])
    }

    @Test func partsLargerThanBuffersAreExact() async throws {
        let fixture = try await RangedFilm(count: 16, size: 262_144)
        try await fixture.expectExact(try fixture.fetches(0..<16))
        #expect(try await fixture.ranges() == ["bytes=0-4194303"])
    }

    @Test func partsOfAFewBytesAreExact() async throws {
        let fixture = try await RangedFilm(count: 16, size: 7)
        try await fixture.expectExact(try fixture.fetches(0..<16))
        let requests = try await fixture.origin.requests().filter { $0.path.hasPrefix(fixture.path) }
        #expect(requests.first?.range == "bytes=0-111")
    }

    @Test func theConnectionIsReused() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.expectExact(try fixture.fetches(0..<3))
        try await fixture.expectExact(try fixture.fetches(3..<6))
        let requests = try await fixture.requests()
        #expect(requests.count == 2 && requests[0].connection == requests[1].connection)
    }

    @Test func acceptsTheWholeFileInsteadOfAllParts() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { $0.noRanges = true })
        try await fixture.expectExact(try fixture.fetches(0..<6))
        #expect(try await fixture.requests().map(\.status) == [200])
    }

    @Test func nonAdjacentRangesAreSeparateRequests() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.expectExact(try fixture.fetches([0, 1, 3, 5]))
        let ranges = try await fixture.ranges()
        #expect(try Set(ranges) == [fixture.field(0...1), fixture.field(3...3), fixture.field(5...5)])
        #expect(ranges.count == 3)
    }

    @Test func unorderedRangesAreNotMerged() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let fetches = try fixture.fetches([2, 1, 0])
        #expect(fetches.map(\.resource.name.description) == ["2.ts", "1.ts", "0.ts"])
        try await fixture.expectExact(fetches)
        #expect(try await fixture.ranges().count == 3)
    }

    @Test func separateFilesAreFetchedSeparately() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let resources = try (0..<3).map { try fixture.resource($0, of: rendition) }
        let fetches = try fixture.library.fetches(resources, in: rendition.folder, of: asset)
        for fetch in fetches {
            try await fetch.end()
        }
        #expect(try await Set(fixture.mediaRequests()) == ["/ts/90p/0.ts", "/ts/90p/1.ts", "/ts/90p/2.ts"])
        #expect(fetches.allSatisfy { $0.isPiece })
    }

    @Test func anEmptyRequestFetchesNothing() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        #expect(try fixture.fetches([]).isEmpty)
    }

    @Test func anUnusedFinishedFetchClosesItsDescriptor() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        weak var gone: Fetch?
        weak var mergedFetch: MergedFetch?
        do {
            let fetches = try fixture.fetches(0..<6)
            gone = fetches[1]
            mergedFetch = fetches[1].mergedFetch
            #expect(mergedFetch != nil)
            try await fixture.expectExact(fetches)
            for fetch in fetches {
                fetch.release()
            }
        }
        try await waitUntil("its end") { @LoopActor in gone == nil && mergedFetch == nil }
    }

    // MARK: Joining

    @Test func joinsAFetchInProgressAndFetchesTheOthers() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        let player = try fixture.player(2)
        try await fixture.waitForRequests(1)
        let fetches = try fixture.fetches(0..<6)
        #expect(fetches[2] === player)
        try await fixture.expectExact([0, 1, 3, 4, 5].map { fetches[$0] })
        try await fixture.origin.release()
        try await fixture.expectExact(fetches)
        #expect(try await fixture.ranges().sorted() == [2...2, 0...1, 3...5].map { try fixture.field($0) }.sorted())
    }

    @Test func joinsAMergedFetchInProgress() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        let first = try fixture.fetches(0..<4)
        let second = try fixture.fetches(2..<6)
        #expect(second[0] === first[2] && second[1] === first[3])
        for fetch in first {
            fetch.release()
        }
        #expect(first.map { $0.outcome == nil } == [true, true, true, true])
        try await fixture.waitForRequests(2)
        try await fixture.origin.release()
        try await fixture.expectExact(second + first)
        #expect(try await Set(fixture.ranges()) == [fixture.field(0...3), fixture.field(4...5)])
    }

    @Test func equalRequestsShareOneFetch() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let fetches = try fixture.fetches([0, 1, 1, 0])
        #expect(fetches[1] === fetches[2] && fetches[0] === fetches[3])
        try await fixture.expectExact(fetches)
        #expect(try await fixture.ranges() == [fixture.field(0...1)])
    }

    @Test func aParkedBeginningIsResumedSeparately() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.cutAfter, $0.times) = (5000, 1) },
            OriginRule("*.ts") { ($0.status, $0.times) = (503, 3) })
        let cut = try fixture.player(1)
        #expect(await cut.result().code != nil)
        cut.release()
        try await fixture.origin.clearRules()
        try await fixture.origin.clearRequests()

        let fetches = try fixture.fetches(0..<4)
        #expect(fetches[1] === cut)
        try await fixture.expectExact(fetches)
        let range = try fixture.range(1...1)
        let rest = "bytes=\(range.lowerBound + 5000)-\(range.upperBound - 1)"
        #expect(try await Set(fixture.ranges()) == [fixture.field(0...0), rest, fixture.field(2...3)])
        #expect(try await fixture.requests().first { $0.range == rest }?.headers["if-range"] != nil)
    }
}
