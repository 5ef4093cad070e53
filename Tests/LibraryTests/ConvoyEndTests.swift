import EventLoop
import Foundation
import HTTPMessage
import Origin
import Store
import TestSupport
import Testing

@testable import Library

/// Parts of one file fetched together, while the ground gives way here: it is ended, removed, or without room.
@Suite @LoopActor struct ConvoyEndTests {
    @Test func offlineEndsAllAndReceivedBytesAreResumed() async throws {
        let fixture = try await ConvoyFixture()
        let end = try fixture.range(0...1).upperBound
        try await fixture.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (end + 5000, 1) })
        let flights = try fixture.flights(0..<6)
        try await waitUntil("the third's beginning") { @LoopActor in flights[2].written == 5000 }
        fixture.library.client.isOffline = true
        #expect(
            flights.map { $0.outcome.flatMap(\.code) } == [nil, nil]
                + [LibraryError.Code](repeating: .notStored, count: 4))
        for flight in flights { flight.release() }
        for flight in try fixture.flights(3..<6) { #expect(await flight.result().code == .notStored) }

        fixture.library.client.isOffline = false
        let again = try fixture.flights(2..<6)
        #expect(again[0] === flights[2])
        try await fixture.expectExact(again)
        let rest = "bytes=\(end + 5000)-\(try fixture.range(2...2).upperBound - 1)"
        #expect(try await Set(fixture.ranges().dropFirst()) == [rest, fixture.field(3...5)])
    }

    @Test func aRemovedAssetStopsFetching() async throws {
        let fixture = try await ConvoyFixture()
        let end = try fixture.range(0...0).upperBound
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = end + 1000 })
        let flights = try fixture.flights(0..<6)
        try await waitUntil("the second's beginning") { @LoopActor in flights[1].written == 1000 }
        _ = try await fixture.library.library.remove(fixture.asset)
        // Reading continues until all readers are released.
        #expect(flights[1].outcome == nil)
        for flight in flights { flight.release() }
        for flight in flights[1...] { #expect(await flight.result().code == .cancelled) }
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        #expect(!fixture.library.folder.files().contains { $0.hasPrefix("assets/") })
        #expect(throws: LibraryError.self) { try fixture.flights(0..<2) }
    }

    @Test func readersOfARemovedAssetReadToTheEnd() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (1000, 1) })
        let flights = try fixture.flights(0..<6)
        try await waitUntil("a beginning") { @LoopActor in flights[0].written == 1000 }
        for flight in flights[1..<3] + flights[4...] { flight.release() }
        _ = try await fixture.library.library.remove(fixture.asset)
        try await fixture.origin.release()
        for number in [0, 3] {
            try await flights[number].end()
            #expect(flights[number].bytes == Array(fixture.file[try fixture.range(number...number)]))
            #expect(!flights[number].isPiece)
        }
        #expect(flights[4].outcome?.code == .cancelled)
        #expect(!fixture.library.folder.files().contains { $0.hasPrefix("assets/") })
    }

    @Test func withoutSpacePartsPassThroughWithTheReason() async throws {
        let fixture = try await ConvoyFixture(reserve: .max)
        let flights = try fixture.flights(0..<3)
        for (number, flight) in flights.enumerated() {
            try await flight.end()
            #expect(flight.bytes == Array(fixture.file[try fixture.range(number...number)]))
            #expect(flight.keepFailure?.code == .diskFull && !flight.isPiece)
        }
        #expect(try await fixture.requests().count == 1)
        #expect(!fixture.library.folder.files().contains { $0.hasPrefix("assets/") || $0.hasPrefix("tmp/") })
    }

    @Test func aGracefulStopEndsAll() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 1000 })
        let flights = try fixture.flights(0..<6)
        try await flights[0].announced()
        fixture.library.client.stop()
        #expect(flights.allSatisfy { $0.outcome?.code == .cancelled })
    }

    @Test func aRequestAfterTheFirstEndIsNotEndedWithTheOthers() async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        let flights = try fixture.flights(0..<6)
        try await fixture.waitForRequests(1)
        var again: Flight?
        flights[0].whenEnded { _ in
            fixture.library.client.isOffline = false
            again = try? fixture.player(3)
        }
        fixture.library.client.isOffline = true
        #expect(flights.map { $0.outcome == nil } == [false, false, false, true, false, false])
        #expect(again === flights[3])
        try await fixture.expectExact([flights[3]])
    }

    /// A listener reacts to an end by an immediate new request or release.
    @Test(arguments: [200, 404]) func aReactionToAnEndFindsTheOthersConsistent(_ status: Int) async throws {
        let fixture = try await ConvoyFixture()
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.hold, $0.times, $0.status) = (true, 1, status == 200 ? nil : 404) })
        let flights = try fixture.flights(0..<6)
        try await fixture.waitForRequests(1)
        var again: [Flight] = []
        flights[0].whenEnded { _ in
            flights[5].release()
            flights[4].release()
            again += (try? fixture.flights(2..<6)) ?? []
            if let player = try? fixture.player(3) { again.append(player) }
        }
        try await fixture.origin.release()
        try await waitUntil("the first's end") { @LoopActor in again.count == 5 }
        if status == 200 { try await fixture.expectExact(again) }
        // A reader that joins a failing fetch gets its failure.
        for flight in again { #expect(await flight.result().code == (status == 200 ? nil : .missing)) }
        #expect(await flights[1].result().code == (status == 200 ? nil : .missing))
    }
}
