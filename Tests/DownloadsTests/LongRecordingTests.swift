import Assets
import EventLoop
import HLS
import HTTPMessage
import Testing

@testable import Downloads

/// A recording of a day, which grows while players read it.
@Suite @LoopActor struct LongRecordingTests {
    @LoopActor private final class Turns {
        var count = 0
        var isOver = false
    }

    @Test func itIsParsedBesideTheLoop() async throws {
        let stored = try StoredAsset(text: "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n")
        let lines = (0..<20_000).map { "#EXTINF:2.000,\n\($0).ts\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:EVENT\n" + lines
        let recording = Recording(
            of: stored.asset.renditions[0], base: stored.asset.origin, text: Array(text.utf8), report: { _ in })
        let turns = Turns()
        let others = Task { @LoopActor in
            while !turns.isOver {
                turns.count += 1
                await withCheckedContinuation { continuation in Task { @LoopActor in continuation.resume() } }
            }
        }
        async let first = recording.current()
        async let second = recording.current()
        let counts = await [first, second].map { $0?.playlist.segments.count }
        turns.isOver = true
        await others.value
        #expect(counts == [20_000, 20_000])
        #expect(turns.count > 20, "the loop went on")
        // The next answer contains a segment that is appended now.
        recording.text += Array("#EXTINF:2.000,\n20000.ts\n".utf8)
        recording.parsed = nil
        #expect(await recording.current()?.playlist.segments.count == 20_001)
    }
}
