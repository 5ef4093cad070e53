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

/// Merged fetches, some parts of which players need.
@Suite @LoopActor struct MergedFetchReaderTests {
    // MARK: A player

    @Test func aPlayerInTheMiddleGoesFirstWithoutRepeatedBytes() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let boundary = try fixture.range(0...2).count
        let last = try fixture.field(4...5)
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.hold, $0.pauseAfter, $0.times) = (true, boundary, 1) },
            OriginRule("*.ts") { ($0.hold, $0.range) = (true, last) })
        let fetches = try fixture.fetches(0..<6)
        try await fixture.waitForRequests(1)
        let player = try fixture.player(3)
        #expect(player === fetches[3])
        // The player's part goes before unstarted parts. The parts that the player needs next follow it.
        try await fixture.expectExact([player])
        #expect(fetches[0].written == 0 && fetches[0].outcome == nil)
        try await fixture.waitForRequests(3)
        #expect(try await Set(fixture.ranges()) == Set([0...5, 3...3, 4...5].map { try fixture.field($0) }))

        try await fixture.origin.release()
        try await fixture.expectExact(fetches)
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        let requests = try await fixture.requests()
        #expect(requests.first?.bytes == boundary)
        #expect(requests.map(\.bytes).reduce(0, +) == fixture.file.count)
    }

    @Test func aPlayerOfTheLastPartKeepsTheOthersMerged() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (1000, 1) })
        let fetches = try fixture.fetches(0..<6)
        try await fetches[0].announced()
        try await fixture.expectExact([try fixture.player(5)])
        #expect(try await fixture.ranges() == [fixture.field(0...5), fixture.field(5...5)])
        try await fixture.origin.release()
        try await fixture.expectExact(fetches)
        #expect(try await fixture.requests().count == 2)
    }

    @Test func severalPlayersGoFirst() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        let fetches = try fixture.fetches(0..<6)
        try await fixture.waitForRequests(1)
        let players = try [4, 2, 3].map { try fixture.player($0) }
        try await fixture.expectExact(players)
        #expect(fetches[0].outcome == nil && fetches[1].outcome == nil)
        try await fixture.origin.release()
        try await fixture.expectExact(fetches)
    }

    @Test func aPlayerJoinsThePartInTransfer() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let pause = try fixture.range(0...0).count + 1000
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = pause })
        let fetches = try fixture.fetches(0..<6)
        try await fetches[1].announced()
        let player = try fixture.player(1)
        #expect(player === fetches[1] && player.written > 0)
        try await fixture.origin.release()
        try await fixture.expectExact(fetches)
        #expect(try await fixture.requests().count == 1)
    }

    @Test func aPlayerJoinsTheNextPart() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let pause = try fixture.range(0...0).count
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = pause })
        let fetches = try fixture.fetches(0..<6)
        try await fixture.expectExact([fetches[0]])
        #expect(try fixture.player(1) === fetches[1])
        #expect(fetches[1].written == 0 && fetches[1].mergedFetch != nil)
        try await fixture.origin.release()
        try await fixture.expectExact(fetches)
        #expect(try await fixture.requests().count == 1)
    }

    @Test func aPlayerLetsTheRequestForTheFirstPassDownloads() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        // Downloads occupy all connections.
        let other = try await fixture.house.rendition("video-180p", of: fixture.asset)
        for number in 0..<6 {
            _ = try fixture.house.fetch(number, of: other, in: fixture.asset, urgency: .background)
        }
        let fetches = try fixture.fetches(0..<6)
        try await waitUntil("six requests") { @LoopActor in try await fixture.house.mediaRequests().count == 6 }
        #expect(try await fixture.requests().isEmpty)
        #expect(try fixture.player(0) === fetches[0])
        try await fixture.waitForRequests(1)
        #expect(try await fixture.ranges() == [fixture.field(0...5)])
        try await fixture.origin.release()
        try await fixture.expectExact(fetches)
    }

    // MARK: Without a reader

    @Test func unneededUnstartedPartsShortenTheRequest() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let boundary = try fixture.range(0...1).count
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.pauseAfter) = (true, boundary) })
        let fetches = try fixture.fetches(0..<6)
        try await fixture.waitForRequests(1)
        for fetch in fetches[2...] {
            fetch.release()
        }
        for fetch in fetches[2...] {
            #expect(await fetch.result().code == .cancelled)
        }
        try await fixture.origin.release()
        try await fixture.expectExact(Array(fetches[..<2]))
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        #expect(try await fixture.requests().map(\.bytes) == [boundary])
        #expect(fixture.rendition.folder.sizes.count == 2)
    }

    @Test func unneededPartsAreNotFetched() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        do {
            let fetches = try fixture.fetches(0..<6)
            try await fixture.waitForRequests(1)
            for fetch in fetches {
                fetch.release()
            }
            for fetch in fetches {
                #expect(await fetch.result().code == .cancelled)
            }
        }
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        #expect(!fixture.house.folder.files().contains { $0.hasPrefix("tmp/") })
        try await fixture.expectExact(try fixture.fetches(0..<6))
    }

    @Test func onlyAnAlmostCompletePartIsCompleted() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        let beginning = try fixture.range(0...0).count - 500
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = beginning })
        let fetches = try fixture.fetches(0..<6)
        try await waitUntil("a beginning") { @LoopActor in fetches[0].written == Int64(beginning) }
        for fetch in fetches.reversed() {
            fetch.release()
        }
        for fetch in fetches[1...] {
            #expect(await fetch.result().code == .cancelled)
        }
        #expect(fetches[0].outcome == nil)
        try await fixture.origin.release()
        try await fixture.expectExact([fetches[0]])
        #expect(fixture.rendition.folder.sizes.count == 1)
    }

    @Test func anEarlyAbandonedPartIsParkedAndResumed() async throws {
        let fixture = try await RangedFilm(count: 2, size: 20_000_000)
        try await fixture.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (1_000_000, 1) })
        let fetches = try fixture.fetches(0..<2)
        try await waitUntil("a million bytes") { @LoopActor in fetches[0].written == 1_000_000 }
        for fetch in fetches {
            fetch.release()
        }
        for fetch in fetches {
            #expect(await fetch.result().code == .cancelled)
        }
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        let again = try fixture.fetches(0..<2)
        #expect(again[0] === fetches[0])
        try await fixture.expectExact(again)
        #expect(try await Set(fixture.ranges().dropFirst()) == ["bytes=1000000-19999999", "bytes=20000000-39999999"])
    }

    @Test func anUnneededPartInTheMiddleDoesNotAffectOtherParts() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        let fetches = try fixture.fetches(0..<6)
        try await fixture.waitForRequests(1)
        fetches[0].release()
        fetches[2].release()
        #expect(fetches[2].outcome == nil)
        try await fixture.origin.release()
        try await fixture.expectExact(fetches)
        #expect(try await fixture.requests().count == 1)
    }

    @Test func aPartNeededAgainStays() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        let fetches = try fixture.fetches(0..<6)
        try await fixture.waitForRequests(1)
        fetches[4].release()
        #expect(try fixture.fetches([4]).first === fetches[4])
        fetches[5].release()
        #expect(fetches[4].outcome == nil && fetches[5].outcome != nil)
        try await fixture.origin.release()
        try await fixture.expectExact(Array(fetches[..<5]))
        #expect(try await fixture.requests().count == 1)
    }

    @Test func unneededPartsBeforeThePlayheadAreNotFetched() async throws {
        let fixture = try await RangedFilm(in: TestHouse())
        try await fixture.origin.add(OriginRule("*.ts") { ($0.hold, $0.times) = (true, 1) })
        let fetches = try fixture.fetches(0..<6)
        try await fixture.waitForRequests(1)
        for number in [0, 1, 4] {
            fetches[number].release()
        }
        // Parts 0 to 3 are one fetch. When the player requests part 2, parts 0 and 1 have no reader.
        try await fixture.expectExact([try fixture.player(2)])
        #expect(await fetches[0].result().code == .cancelled)
        #expect(await fetches[1].result().code == .cancelled)
        #expect(await fetches[4].result().code == .cancelled)
        try await fixture.expectExact([fetches[3], fetches[5]])
        try await waitUntil("the client gone") { @LoopActor in try await fixture.requests()[0].state == "gone" }
        let ranges = try await fixture.ranges()
        #expect(try ranges.first == fixture.field(0...5))
        #expect(try Set(ranges.dropFirst()) == Set([2...2, 3...3, 5...5].map { try fixture.field($0) }))
    }
}
