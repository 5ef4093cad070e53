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

/// Merged fetches that are interrupted here: by a stop, by the removal of the asset, or by a full disk.
@Suite @LoopActor struct MergedFetchEndTests {
    @Test func offlineStopsAllPartsAndReceivedBytesAreResumed() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let end = try fixture.range(0...1).upperBound
        try await fixture.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (end + 5000, 1) })
        let fetches = try fixture.fetches(0..<6)
        try await waitUntil("the third's beginning") { @LoopActor in fetches[2].written == 5000 }
        fixture.house.client.isOffline = true
        #expect(
            fetches.map { $0.outcome.flatMap(\.code) } == [nil, nil]
                + [FetchError.Code](repeating: .notStored, count: 4))
        for fetch in fetches {
            fetch.release()
        }
        for fetch in try fixture.fetches(3..<6) {
            #expect(await fetch.result().code == .notStored)
        }

        fixture.house.client.isOffline = false
        let again = try fixture.fetches(2..<6)
        #expect(again[0] === fetches[2])
        try await fixture.expectExact(again)
        let rest = "bytes=\(end + 5000)-\(try fixture.range(2...2).upperBound - 1)"
        #expect(try await Set(fixture.ranges().dropFirst()) == [rest, fixture.field(3...5)])
    }

    @Test func aRemovedAssetStopsFetching() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let end = try fixture.range(0...0).upperBound
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = end + 1000 })
        let fetches = try fixture.fetches(0..<6)
        try await waitUntil("the second's beginning") { @LoopActor in fetches[1].written == 1000 }
        _ = try await fixture.house.library.remove(fixture.asset)
        // Reading continues until all readers are released.
        #expect(fetches[1].outcome == nil)
        for fetch in fetches {
            fetch.release()
        }
        for fetch in fetches[1...] {
            #expect(await fetch.result().code == .cancelled)
        }
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        #expect(!fixture.house.folder.files().contains { $0.hasPrefix("assets/") })
        #expect(throws: LibraryError.self) { try fixture.fetches(0..<2) }
    }

    @Test func readersOfARemovedAssetReadToTheEnd() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (1000, 1) })
        let fetches = try fixture.fetches(0..<6)
        try await waitUntil("a beginning") { @LoopActor in fetches[0].written == 1000 }
        for fetch in fetches[1..<3] + fetches[4...] {
            fetch.release()
        }
        _ = try await fixture.house.library.remove(fixture.asset)
        try await fixture.origin.release()
        for number in [0, 3] {
            try await fetches[number].end()
            #expect(fetches[number].bytes == Array(fixture.file[try fixture.range(number...number)]))
            #expect(!fetches[number].isPiece)
        }
        #expect(fetches[4].outcome?.code == .cancelled)
        #expect(!fixture.house.folder.files().contains { $0.hasPrefix("assets/") })
    }

    @Test func aFullDiskPassesPartsThroughAndReportsWhy() async throws {
        let fixture = try await RangedFilm(in: TestHouse(.reserve(.max)))
        let fetches = try fixture.fetches(0..<3)
        for (number, fetch) in fetches.enumerated() {
            try await fetch.end()
            #expect(fetch.bytes == Array(fixture.file[try fixture.range(number...number)]))
            #expect(fetch.keepFailure?.code == .diskFull && !fetch.isPiece)
        }
        #expect(try await fixture.requests().count == 1)
        #expect(!fixture.house.folder.files().contains { $0.hasPrefix("assets/") || $0.hasPrefix("tmp/") })
    }

    @Test func aGracefulStopEndsAllParts() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 1000 })
        let fetches = try fixture.fetches(0..<6)
        try await fetches[0].announced()
        fixture.house.client.stop()
        #expect(fetches.allSatisfy { $0.outcome?.code == .cancelled })
    }

    @Test func aRequestAfterTheFirstEndIsNotEndedWithTheOthers() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        let fetches = try fixture.fetches(0..<6)
        try await fixture.waitForRequests(1)
        var again: Fetch?
        fetches[0].whenEnded { _ in
            fixture.house.client.isOffline = false
            again = try? fixture.player(3)
        }
        fixture.house.client.isOffline = true
        #expect(fetches.map { $0.outcome == nil } == [false, false, false, true, false, false])
        #expect(again === fetches[3])
        try await fixture.expectExact([fetches[3]])
    }

    /// A listener reacts to an end by an immediate new request or release.
    @Test(arguments: [200, 404]) func aReactionToAnEndFindsTheOthersConsistent(_ status: Int) async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.hold, $0.times, $0.status) = (true, 1, status == 200 ? nil : 404) })
        if status == 404 {
            try await fixture.origin.add(OriginRule("*.ts") { $0.status = status })
        }
        let fetches = try fixture.fetches(0..<6)
        try await fixture.waitForRequests(1)
        var again: [Fetch] = []
        fetches[0].whenEnded { _ in
            fetches[5].release()
            fetches[4].release()
            again += (try? fixture.fetches(2..<6)) ?? []
            if let player = try? fixture.player(3) {
                again.append(player)
            }
        }
        try await fixture.origin.release()
        try await waitUntil("the first's end") { @LoopActor in again.count == 5 }
        if status == 200 {
            try await fixture.expectExact(again)
        }
        // A reader that joins a failing fetch gets its failure.
        for fetch in again {
            #expect(await fetch.result().code == (status == 200 ? nil : .missing))
        }
        #expect(await fetches[1].result().code == (status == 200 ? nil : .missing))
    }
}
