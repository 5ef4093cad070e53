import Assets
import EventLoop
import Fetching
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Segments that libavformat asks for before it has the ones before them. The origin holds each back in its middle.
@Suite @LoopActor struct AwaitedSegmentsTests {
    private let fixture: TestHouse
    private let asset: Asset
    private let awaited = AwaitedSegments()

    init() async throws {
        fixture = try await TestHouse(.playback())
        asset = try await fixture.open("/ts/master.m3u8")
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 1000 })
    }

    /// A fetch that a player waits for, of which the first bytes have arrived.
    private func request(
        _ number: Int, _ id: String = "video-90p", urgency: Fetch.Urgency = .playback
    ) async throws -> Fetch {
        let rendition = try await fixture.rendition(id, of: asset)
        let fetch = try fixture.fetch(number, of: rendition, in: asset, urgency: urgency)
        awaited.add(fetch, number, in: rendition.folder)
        try await fetch.announced()
        return fetch
    }

    private func finish(_ fetches: [Fetch]) async throws {
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        for fetch in fetches {
            try await fetch.end()
            fetch.release(.playback)
        }
        let requests = try await fixture.mediaPaths()
        #expect(Set(requests).count == requests.count, "each is requested once")
    }

    @Test func eachYieldsUntilTheOneBeforeItHasArrived() async throws {
        var fetches: [Fetch] = []
        for number in 0..<3 {
            fetches.append(try await request(number))
        }
        #expect(fetches.map(\.isTrailing) == [false, true, true])
        try await fixture.origin.release("/ts/90p/0.ts")
        try await fetches[0].end()
        #expect(fetches.map(\.isTrailing) == [false, false, true])
        try await finish(fetches)
    }

    /// libavformat begins with two segments of each rendition.
    @Test func theFirstOnesOfAllRenditionsDoNotYield() async throws {
        var fetches: [Fetch] = []
        for id in ["video-90p", "video-180p", "video-270p"] {
            for number in 0..<2 {
                fetches.append(try await request(number, id))
            }
        }
        #expect(fetches.map(\.isTrailing) == [false, true, false, true, false, true])
        try await finish(fetches)
    }

    @Test func anEarlierSegmentDoesNotYieldToALaterOne() async throws {
        let later = try await request(4)
        let earlier = try await request(1)
        #expect(!later.isTrailing && !earlier.isTrailing)
        try await finish([later, earlier])
    }

    @Test func nothingYieldsToASegmentThatNoPlayerWaitsFor() async throws {
        let left = try await request(0)
        let second = try await request(1)
        #expect(second.isTrailing)
        left.release(.playback)
        #expect(!second.isTrailing)

        let downloaded = try await request(3, urgency: .background)
        let third = try await request(4)
        #expect(!third.isTrailing)
        downloaded.release()
        try await finish([second, third])
    }
}
