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

    @Test func oneRequestBringsNeighboursEachAsItsOwnPiece() async throws {
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

    @Test func theWholeFileInPlaceOfAllItsPartsIsAsGood() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { $0.noRanges = true })
        try await fixture.expectExact(try fixture.flights(0..<6))
        #expect(try await fixture.requests().map(\.status) == [200])
    }

    @Test func whatIsNoNeighbourAsksForItself() async throws {
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

    @Test func filesOfTheirOwnAreFetchedAsEver() async throws {
        let fixture = try await LibraryFixture()
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let resources = try (0..<3).map { try fixture.resource($0, of: rendition) }
        let flights = try fixture.library.flights(resources, in: rendition.folder, of: asset)
        for flight in flights { try await flight.end() }
        #expect(try await Set(fixture.mediaRequests()) == ["/ts/90p/0.ts", "/ts/90p/1.ts", "/ts/90p/2.ts"])
        #expect(flights.allSatisfy { $0.isPiece })
    }

    @Test func nothingAskedForIsNothing() async throws {
        let fixture = try await ConvoyFixture()
        #expect(try fixture.flights([]).isEmpty)
    }

    @Test func whatIsOverAndUnusedIsGoneWithItsDescriptor() async throws {
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

    @Test func whatFliesIsJoinedAndTheOthersGoAroundIt() async throws {
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

    @Test func whatIsOnItsWayTogetherIsJoinedTogether() async throws {
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

    @Test func theSameTwiceIsOneFlight() async throws {
        let fixture = try await ConvoyFixture()
        let flights = try fixture.flights([0, 1, 1, 0])
        #expect(flights[1] === flights[2] && flights[0] === flights[3])
        try await fixture.expectExact(flights)
        #expect(try await fixture.ranges() == [fixture.field(0...1)])
    }

    @Test func whatHasABeginningGoesOnFromItByItself() async throws {
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

    // MARK: A player

    @Test func aPlayerInTheMiddleGoesFirstAndNothingComesTwice() async throws {
        let fixture = try await ConvoyFixture()
        let boundary = try fixture.range(0...2).count
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.hold, $0.pauseAfter, $0.times) = (true, boundary, 1) },
            OriginRule("*.ts") { ($0.hold, $0.skip, $0.times) = (true, 1, 1) })
        let flights = try fixture.flights(0..<6)
        try await fixture.waitForRequests(1)
        let player = try fixture.player(3)
        #expect(player === flights[3])
        // It is not behind the others, which have not even begun, nor in front of those that it will want next.
        try await fixture.expectExact([player])
        #expect(flights[0].written == 0 && flights[0].outcome == nil)
        try await fixture.waitForRequests(3)
        #expect(try await fixture.ranges() == [0...5, 3...3, 4...5].map { try fixture.field($0) })

        try await fixture.origin.release()
        try await fixture.expectExact(flights)
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        let requests = try await fixture.requests()
        #expect(requests.map(\.bytes) == [boundary, try fixture.range(3...3).count, try fixture.range(4...5).count])
        #expect(requests.map(\.bytes).reduce(0, +) == fixture.file.count)
    }

    @Test func aPlayerThatWantsTheLastLeavesTheOthersTogether() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (1000, 1) })
        let flights = try fixture.flights(0..<6)
        try await flights[0].announced()
        try await fixture.expectExact([try fixture.player(5)])
        #expect(try await fixture.ranges() == [fixture.field(0...5), fixture.field(5...5)])
        try await fixture.origin.release()
        try await fixture.expectExact(flights)
        #expect(try await fixture.requests().count == 2)
    }

    @Test func playersThatWantSeveralEachGoFirst() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        let flights = try fixture.flights(0..<6)
        try await fixture.waitForRequests(1)
        let players = try [4, 2, 3].map { try fixture.player($0) }
        try await fixture.expectExact(players)
        #expect(flights[0].outcome == nil && flights[1].outcome == nil)
        try await fixture.origin.release()
        try await fixture.expectExact(flights)
    }

    @Test func aPlayerWaitsForWhatIsComingWithoutAnotherRequest() async throws {
        let fixture = try await ConvoyFixture()
        let pause = try fixture.range(0...0).count + 1000
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = pause })
        let flights = try fixture.flights(0..<6)
        try await flights[1].announced()
        let player = try fixture.player(1)
        #expect(player === flights[1] && player.written > 0)
        try await fixture.origin.release()
        try await fixture.expectExact(flights)
        #expect(try await fixture.requests().count == 1)
    }

    @Test func aPlayerWaitsForWhatComesNextWithoutAnotherRequest() async throws {
        let fixture = try await ConvoyFixture()
        let pause = try fixture.range(0...0).count
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = pause })
        let flights = try fixture.flights(0..<6)
        try await fixture.expectExact([flights[0]])
        #expect(try fixture.player(1) === flights[1])
        #expect(flights[1].written == 0 && flights[1].convoy != nil)
        try await fixture.origin.release()
        try await fixture.expectExact(flights)
        #expect(try await fixture.requests().count == 1)
    }

    @Test func aPlayerLetsTheRequestForTheFirstPassDownloads() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        // Downloads have all places.
        let other = try await fixture.library.rendition("video-180p", of: fixture.asset)
        for number in 0..<6 {
            _ = try fixture.library.flight(number, of: other, in: fixture.asset, urgency: .background)
        }
        let flights = try fixture.flights(0..<6)
        try await waitUntil("six requests") { @LoopActor in try await fixture.library.mediaRequests().count == 6 }
        #expect(try await fixture.requests().isEmpty)
        #expect(try fixture.player(0) === flights[0])
        try await fixture.waitForRequests(1)
        #expect(try await fixture.ranges() == [fixture.field(0...5)])
        try await fixture.origin.release()
        try await fixture.expectExact(flights)
    }

    // MARK: Nobody waits

    @Test func whatNobodyWantsAndHasNotBegunCutsTheRequestShort() async throws {
        let fixture = try await ConvoyFixture()
        let boundary = try fixture.range(0...1).count
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.pauseAfter) = (true, boundary) })
        let flights = try fixture.flights(0..<6)
        try await fixture.waitForRequests(1)
        for flight in flights[2...] { flight.release() }
        for flight in flights[2...] { #expect(await flight.result().code == .cancelled) }
        try await fixture.origin.release()
        try await fixture.expectExact(Array(flights[..<2]))
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        #expect(try await fixture.requests().map(\.bytes) == [boundary])
        #expect(fixture.rendition.folder.sizes.count == 2)
    }

    @Test func whatNobodyWantsAtAllIsNotFetched() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        do {
            let flights = try fixture.flights(0..<6)
            try await fixture.waitForRequests(1)
            for flight in flights { flight.release() }
            for flight in flights { #expect(await flight.result().code == .cancelled) }
        }
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        #expect(!fixture.library.folder.files().contains { $0.hasPrefix("tmp/") })
        try await fixture.expectExact(try fixture.flights(0..<6))
    }

    @Test func whatIsNearlyDoneComesToItsEndAndNoMore() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 1000 })
        let flights = try fixture.flights(0..<6)
        try await waitUntil("a beginning") { @LoopActor in flights[0].written == 1000 }
        for flight in flights.reversed() { flight.release() }
        for flight in flights[1...] { #expect(await flight.result().code == .cancelled) }
        #expect(flights[0].outcome == nil)
        try await fixture.origin.release()
        try await fixture.expectExact([flights[0]])
        #expect(fixture.rendition.folder.sizes.count == 1)
    }

    @Test func whatIsFarFromDoneIsParkedAndGoneOnFrom() async throws {
        let fixture = try await ConvoyFixture(count: 2, size: 20_000_000)
        try await fixture.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (1_000_000, 1) })
        let flights = try fixture.flights(0..<2)
        try await waitUntil("a million bytes") { @LoopActor in flights[0].written == 1_000_000 }
        for flight in flights { flight.release() }
        for flight in flights { #expect(await flight.result().code == .cancelled) }
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        let again = try fixture.flights(0..<2)
        #expect(again[0] === flights[0])
        try await fixture.expectExact(again)
        #expect(try await Set(fixture.ranges().dropFirst()) == ["bytes=1000000-19999999", "bytes=20000000-39999999"])
    }

    @Test func oneInTheMiddleThatNobodyWantsDoesNotHurtTheOthers() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        let flights = try fixture.flights(0..<6)
        try await fixture.waitForRequests(1)
        flights[0].release()
        flights[2].release()
        #expect(flights[2].outcome == nil)
        try await fixture.origin.release()
        try await fixture.expectExact(flights)
        #expect(try await fixture.requests().count == 1)
    }

    @Test func whatIsWantedAgainStays() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        let flights = try fixture.flights(0..<6)
        try await fixture.waitForRequests(1)
        flights[4].release()
        #expect(try fixture.flights([4]).first === flights[4])
        flights[5].release()
        #expect(flights[4].outcome == nil && flights[5].outcome != nil)
        try await fixture.origin.release()
        try await fixture.expectExact(Array(flights[..<5]))
        #expect(try await fixture.requests().count == 1)
    }

    @Test func whatAPlayerLeavesBehindAndNobodyWantsIsNotFetched() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        let flights = try fixture.flights(0..<6)
        try await fixture.waitForRequests(1)
        for number in [0, 1, 4] { flights[number].release() }
        // 0 and 1 come with 2 and 3; when the player takes 2, nobody wants what is before it.
        try await fixture.expectExact([try fixture.player(2)])
        #expect(await flights[0].result().code == .cancelled)
        #expect(await flights[1].result().code == .cancelled)
        #expect(await flights[4].result().code == .cancelled)
        try await fixture.expectExact([flights[3], flights[5]])
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        let ranges = try await fixture.ranges()
        #expect(try ranges.prefix(2) == [fixture.field(0...5), fixture.field(2...2)])
        #expect(try Set(ranges.dropFirst(2)) == [fixture.field(3...3), fixture.field(5...5)])
    }
}
