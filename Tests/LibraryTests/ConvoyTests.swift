import EventLoop
import Foundation
import HTTPMessage
import Origin
import Store
import TestSupport
import Testing

@testable import Library

/// Parts of one file fetched together, where nothing goes wrong.
@Suite @LoopActor struct ConvoyTests {
    // MARK: One request

    @Test func oneRequestFetchesAdjacentRangesAsSeparatePieces() async throws {
        let fixture = try await ConvoyFixture()
        let flights = try fixture.flights(1..<5)
        try await fixture.expectExact(flights)
        #expect(try await fixture.ranges() == [fixture.field(1...4)])
        #expect(fixture.rendition.folder.sizes.keys.sorted() == ["1.ts", "2.ts", "3.ts", "4.ts"])
        for flight in flights { flight.release() }
        #expect(!fixture.library.folder.files().contains { $0.hasPrefix("tmp/") })
    }

    @Test func eachIsReadWhileItGrowsAndEndsWithItsOwnLastByte() async throws {
        let fixture = try await ConvoyFixture()
        let pause = try fixture.range(0...1).count + 1000
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = pause })
        let flights = try fixture.flights(0..<6)
        try await fixture.expectExact(Array(flights[..<2]))
        try await flights[2].announced()
        try await waitUntil("the third's beginning") { @LoopActor in flights[2].written == 1000 }
        #expect(!flights[2].isComplete && flights[3].written == 0 && flights[3].outcome == nil)
        #expect(try await fixture.requests().map(\.state) == ["paused"])
        try await fixture.origin.release()
        try await fixture.expectExact(flights)
        #expect(fixture.rendition.isWhole)
        #expect(try await fixture.requests().map(\.state) == ["done"])
    }

    @Test func partsLargerThanAnyBufferAreExact() async throws {
        let fixture = try await ConvoyFixture(count: 16, size: 262_144)
        try await fixture.expectExact(try fixture.flights(0..<16))
        #expect(try await fixture.ranges() == ["bytes=0-4194303"])
    }

    @Test func partsOfAFewBytesAreExact() async throws {
        let fixture = try await ConvoyFixture(count: 16, size: 7)
        try await fixture.expectExact(try fixture.flights(0..<16))
        #expect(try await fixture.ranges() == ["bytes=0-111"])
    }

    @Test func theConnectionIsUsedAgain() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.expectExact(try fixture.flights(0..<3))
        try await fixture.expectExact(try fixture.flights(3..<6))
        let requests = try await fixture.requests()
        #expect(requests.count == 2 && requests[0].connection == requests[1].connection)
    }

    @Test func acceptsTheWholeFileInsteadOfAllParts() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { $0.noRanges = true })
        try await fixture.expectExact(try fixture.flights(0..<6))
        #expect(try await fixture.requests().map(\.status) == [200])
    }

    @Test func nonAdjacentRangesAreSeparateRequests() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.expectExact(try fixture.flights([0, 1, 3, 5]))
        let ranges = try await fixture.ranges()
        #expect(try Set(ranges) == [fixture.field(0...1), fixture.field(3...3), fixture.field(5...5)])
        #expect(ranges.count == 3)
    }

    @Test func anotherOrderIsNotMerged() async throws {
        let fixture = try await ConvoyFixture()
        let flights = try fixture.flights([2, 1, 0])
        #expect(flights.map(\.resource.name.description) == ["2.ts", "1.ts", "0.ts"])
        try await fixture.expectExact(flights)
        #expect(try await fixture.ranges().count == 3)
    }

    @Test func separateFilesAreFetchedSeparately() async throws {
        let fixture = try await LibraryFixture()
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let resources = try (0..<3).map { try fixture.resource($0, of: rendition) }
        let flights = try fixture.library.flights(resources, in: rendition.folder, of: asset)
        for flight in flights { try await flight.end() }
        #expect(try await Set(fixture.mediaRequests()) == ["/ts/90p/0.ts", "/ts/90p/1.ts", "/ts/90p/2.ts"])
        #expect(flights.allSatisfy { $0.isPiece })
    }

    @Test func anEmptyRequestFetchesNothing() async throws {
        let fixture = try await ConvoyFixture()
        #expect(try fixture.flights([]).isEmpty)
    }

    @Test func anUnusedFinishedFetchClosesItsDescriptor() async throws {
        let fixture = try await ConvoyFixture()
        weak var gone: Flight?
        weak var convoy: Convoy?
        do {
            let flights = try fixture.flights(0..<6)
            (gone, convoy) = (flights[1], flights[1].convoy)
            #expect(convoy != nil)
            try await fixture.expectExact(flights)
            for flight in flights { flight.release() }
        }
        try await waitUntil("its end") { @LoopActor in gone == nil && convoy == nil }
    }

    // MARK: Joining

    @Test func joinsAFetchInProgressAndFetchesTheOthers() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        let player = try fixture.player(2)
        try await fixture.waitForRequests(1)
        let flights = try fixture.flights(0..<6)
        #expect(flights[2] === player)
        try await fixture.expectExact([0, 1, 3, 4, 5].map { flights[$0] })
        try await fixture.origin.release()
        try await fixture.expectExact(flights)
        #expect(try await fixture.ranges().sorted() == [2...2, 0...1, 3...5].map { try fixture.field($0) }.sorted())
    }

    @Test func joinsAMergedFetchInProgress() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        let first = try fixture.flights(0..<4)
        let second = try fixture.flights(2..<6)
        #expect(second[0] === first[2] && second[1] === first[3])
        for flight in first { flight.release() }
        #expect(first.map { $0.outcome == nil } == [true, true, true, true])
        try await fixture.waitForRequests(2)
        try await fixture.origin.release()
        try await fixture.expectExact(second + first)
        #expect(try await Set(fixture.ranges()) == [fixture.field(0...3), fixture.field(4...5)])
    }

    @Test func equalRequestsShareOneFetch() async throws {
        let fixture = try await ConvoyFixture()
        let flights = try fixture.flights([0, 1, 1, 0])
        #expect(flights[1] === flights[2] && flights[0] === flights[3])
        try await fixture.expectExact(flights)
        #expect(try await fixture.ranges() == [fixture.field(0...1)])
    }

    @Test func aParkedBeginningIsResumedSeparately() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.cutAfter, $0.times) = (5000, 1) },
            OriginRule("*.ts") { ($0.status, $0.times) = (503, 3) })
        let cut = try fixture.player(1)
        #expect(await cut.result().code != nil)
        cut.release()
        try await fixture.origin.clearRules()
        try await fixture.origin.clearRequests()

        let flights = try fixture.flights(0..<4)
        #expect(flights[1] === cut)
        try await fixture.expectExact(flights)
        let range = try fixture.range(1...1)
        let rest = "bytes=\(range.lowerBound + 5000)-\(range.upperBound - 1)"
        #expect(try await Set(fixture.ranges()) == [fixture.field(0...0), rest, fixture.field(2...3)])
        #expect(try await fixture.requests().first { $0.range == rest }?.headers["if-range"] != nil)
    }
}
