import Assets
import EventLoop
import Fetching
import HLS
import Orders
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// The beginning of a recording in what its channel has.
@Suite @LoopActor struct RecordingStartTests {
    /// A house whose origin lists so many segments of a second.
    private func house(listing count: Int, _ type: String = "") async throws -> TestHouse {
        let house = try await TestHouse(.downloader())
        let lines = (0..<count).map {
            ($0 == 50 ? "#EXT-X-DISCONTINUITY\n" : "") + "#EXTINF:1,\n/ts/90p/\($0 % 6).ts\n"
        }
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:7\n\(type)"
        try await house.origin.add(
            OriginRule("/long/media.m3u8") { ($0.status, $0.body) = (200, head + lines.joined()) })
        return house
    }

    private nonisolated static let beginnings: [(start: RecordingStart?, first: Int, discontinuities: Int)] = [
        (nil, 7, 0), (.now, 47, 0), (.ago(20), 87, 1), (.ago(3_600), 7, 0), (.start, 7, 0),
    ]

    @Test(arguments: beginnings)
    func itIsAsFarBackAsOrdered(_ start: RecordingStart?, _ first: Int, _ discontinuities: Int) async throws {
        let scene = try await RecordingScene(try await house(listing: 100), "/long/media.m3u8", from: start)
        try await scene.records(107 - first)
        let recording = try #require(scene.asset.renditions[0].recording as? Recording)
        let playlist = try #require(recording.source?.playlist)
        #expect(playlist.segments.count == 107 - first && Int(playlist.mediaSequence) == first)
        #expect(Int(playlist.discontinuitySequence) == discontinuities)
        #expect(scene.names.first == "\(first).ts" && scene.names.last == "106.ts")
        // Nothing else was fetched.
        #expect(try await scene.fixture.mediaPaths().count == 107 - first)
        scene.recorder?.cancel()
    }

    @Test func anEventIsRecordedFromItsBeginning() async throws {
        let house = try await house(listing: 100, "#EXT-X-PLAYLIST-TYPE:EVENT\n")
        let scene = try await RecordingScene(house, "/long/media.m3u8", from: .start)
        try await scene.records(100)
        #expect(scene.names.first == "7.ts")
        scene.recorder?.cancel()
    }

    /// A player has watched the channel before: what it had is recorded, and not asked for again.
    @Test(arguments: [(RecordingStart.start, 0), (.ago(7), 1), (.now, 4)])
    func whatWasKeptOfTheChannelIsRecorded(_ start: RecordingStart, _ first: Int) async throws {
        let house = try await TestHouse(.downloader())
        let scene = try await RecordingScene(house, "/_live/show/media.m3u8", from: start) { channel in
            let rendition = channel.renditions[0]
            rendition.makeLive().timeShift = TimeShift(seconds: 600)
            for last in 3..<8 {
                try await waitUntil("segment \(last)", within: .seconds(30)) {
                    let source = try await house.library.playlists.nextSource(of: rendition, in: channel)
                    return Int(source.playlist.endSequenceNumber) == last + 1
                }
                try await fetchListed(of: rendition, in: channel, house)
                if last < 7 {
                    try await house.origin.advance("show")
                }
            }
            #expect(rendition.live?.timeShift?.source?.playlist.segments.count == 8)
        }
        try await scene.records(8 - first)
        #expect(scene.names.prefix(8 - first) == (first..<8).map { "\($0).ts" }[...])
        for name in scene.names.prefix(8 - first) {
            let number = try #require(Int(name.prefix { $0 != "." }))
            #expect(try scene.piece(name) == Repository.fixture("/ts/90p/\(number % 6).ts"))
        }
        let requests = try await house.mediaPaths()
        #expect(requests.sorted() == (0..<8).map { "/_live/show/\($0).ts" })
        scene.recorder?.cancel()
    }

    private func fetchListed(of rendition: Rendition, in channel: Asset, _ house: TestHouse) async throws {
        guard let source = rendition.source else { return }
        for segment in source.playlist.segments {
            guard let resource = rendition.resource(of: segment, in: source) else { continue }
            let fetch = try house.library.fetch(resource, in: rendition.folder, of: channel, urgency: .playback)
            try await fetch.end()
            fetch.release(.playback)
        }
    }
}
