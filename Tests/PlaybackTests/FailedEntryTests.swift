import EventLoop
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Half of a film is stored, and after a start its playlists do not come.
@Suite @LoopActor struct FailedEntryTests {
    /// An origin that is only slow has the rest; one that answers with an error has none.
    @Test(arguments: [(nil, 6), (403, 3), (404, 3), (500, 3)] as [(Int?, Int)])
    func aSessionBeginsWithWhatIsStored(_ status: Int?, _ listed: Int) async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("ts", [("video-90p", [0, 1, 2])])
        await fixture.flush()
        try await fixture.restart()
        try await fixture.origin.add(
            OriginRule("*.m3u8") { rule in
                rule.status = status ?? 200
                rule.hold = status == nil
            })
        for entry in [fixture.typed("/ts/master.m3u8"), "/ts.m3u8", "/local" + fixture.typed("/ts/master.m3u8")] {
            let paths = try await fixture.paths(entry, "video-90p")
            #expect(paths.count == listed, "\(entry): \(paths)")
            #expect(try await fixture.get(paths[1]).status == 200)
        }
        try await fixture.origin.release()
    }
}
