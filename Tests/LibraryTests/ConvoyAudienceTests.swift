import EventLoop
import Foundation
import HTTPMessage
import Origin
import Store
import TestSupport
import Testing

@testable import Library

/// Merged fetches of parts of one file, of which players need some or none.
@Suite @LoopActor struct ConvoyAudienceTests {
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
        // It goes before unstarted parts, and is followed by the parts that the player needs next.
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

    @Test func aPlayerOfTheLastPartKeepsTheOthersMerged() async throws {
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

    @Test func severalPlayersGoFirst() async throws {
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

    // MARK: Without a reader

    @Test func unneededUnstartedPartsShortenTheRequest() async throws {
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

    @Test func unneededPartsAreNotFetched() async throws {
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

    @Test func anAlmostCompletePartIsCompletedAndNoOther() async throws {
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

    @Test func anEarlyAbandonedPartIsParkedAndResumed() async throws {
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

    @Test func anUnneededPartInTheMiddleDoesNotAffectOthers() async throws {
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

    @Test func aPartNeededAgainStays() async throws {
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

    @Test func unneededPartsBeforeThePlayheadAreNotFetched() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        let flights = try fixture.flights(0..<6)
        try await fixture.waitForRequests(1)
        for number in [0, 1, 4] { flights[number].release() }
        // 0 and 1 come with 2 and 3; when the player takes 2, the parts before it have no reader.
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
