import Assets
import EventLoop
import Fetching
import Foundation
import HLS
import Orders
import Playheads
import Retention
import SafeText
import Store
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// Downloads of playlists with tens of thousands of segments leave the loop to others. Bounds are those of a debug build, which needs
/// about eight times as long as a release build.
@Suite(.serialized) @LoopActor struct LongDownloadTests {
    private static let count = 40_000

    @Test("A range of a long playlist is planned, followed and found complete beside the loop")
    func range() async throws {
        let fixture = try await TestHouse(.downloader())
        let asset = try await fixture.open("/_vod/\(Self.count)x1880/media.m3u8")
        let end = asset.renditions[0].source?.playlist.duration.seconds ?? 0
        let order = DownloadOrder(
            Selection(), range: MediaRange(start: Seconds(clamping: end - 40), end: Seconds(clamping: end)))
        let longest = try await LoopStopwatch.longest {
            let download = try await fixture.downloader.start(asset, order)
            try await waitUntil("the end", within: .seconds(60)) {
                _ = download.progress
                return download.state == .complete
            }
        }
        #expect(longest < 0.1)
    }

    @Test("A download of one of 10,000 variants is chosen and begun beside the loop")
    func variant() async throws {
        let root = try TemporaryFolder()
        let lines = (0..<10_000).map { number in
            "#EXT-X-STREAM-INF:BANDWIDTH=\(100_000 + number),CODECS=\"avc1.42c00a,mp4a.40.2\"\n\(number).m3u8\n"
        }
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n"
        try root.write(Data("#EXTM3U\n\(lines.joined())".utf8), to: "wide.m3u8")
        try root.write(Data(media.utf8), to: "9999.m3u8")
        try root.write(Data([0x47] + [UInt8](repeating: 0, count: 187)), to: "0.ts")
        let fixture = try await TestHouse(.downloader(), .origin(root))
        let asset = try await fixture.open("/wide.m3u8")
        let longest = try await LoopStopwatch.longest {
            let download = try await fixture.downloader.start(asset, DownloadOrder(Selection()))
            try await waitUntil("the end", within: .seconds(60)) { download.state == .complete }
            #expect(download.ids == ["\(asset.renditions[9_999].name.id)"])
        }
        #expect(longest < 0.16)
    }

    @Test("A segment that is still missing shows without a look at the others")
    func missing() async throws {
        let stored = try StoredAsset(text: Self.text)
        let rendition = stored.asset.renditions[0]
        let meter = ProgressMeter()
        let wanted = WantedTime.parts([0..<1e6])
        await meter.measureCompleteness(of: rendition, wanted)
        let longest = await LoopStopwatch.longest {
            for _ in 0..<10 {
                rendition.folder.recordChange()
                #expect(!meter.isComplete(rendition, wanted))
                await withCheckedContinuation { continuation in Task { @LoopActor in continuation.resume() } }
            }
        }
        #expect(longest < 0.01)
    }

    private static let text =
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + (0..<count).map { "#EXTINF:2,\n\($0).ts\n" }.joined()
        + "#EXT-X-ENDLIST\n"

    @Test("A scan finds the holes, the keys and the sections of what is wanted, as a plain reading does")
    func scan() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-KEY:METHOD=AES-128,URI="a.key"
            #EXTINF:2,
            0.ts
            #EXT-X-KEY:METHOD=AES-128,URI="b.key"
            #EXTINF:2,
            #EXT-X-BYTERANGE:10@0
            f.ts
            #EXTINF:2,
            #EXT-X-BYTERANGE:10@10
            f.ts
            #EXT-X-GAP
            #EXTINF:2,
            3.ts
            #EXT-X-ENDLIST
            """
        let stored = try StoredAsset(text: text)
        let rendition = stored.asset.renditions[0]
        let rows: [(wanted: WantedTime, holes: [Int], keys: [String], isAll: Bool)] = [
            (.all, [0, 1, 2], [], true), (.parts([0..<9]), [0, 1, 2], ["a.key", "b.key"], true),
            (.parts([2..<3]), [1], ["b.key"], false), (.parts([0..<1, 5..<6]), [0, 2], ["a.key", "b.key"], false),
            (.parts([6..<8]), [], ["b.key"], false),
        ]
        for row in rows {
            let scan = HoleScan(try #require(HoleScan.Input(rendition, row.wanted)))
            #expect(scan.holes.map(\.item) == row.holes.map { .segment($0) }, "\(row)")
            #expect(scan.keys.map(\.uri) == row.keys && scan.isOfEverything == row.isAll, "\(row)")
        }
        let scan = HoleScan(try #require(HoleScan.Input(rendition, .all)))
        #expect(scan.holes.map(\.part?.bytes) == [nil, 0..<10, 10..<20])
        #expect(scan.holes[1].part?.file == scan.holes[2].part?.file)
    }
}
