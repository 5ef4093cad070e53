import TestSupport
import Testing

/// The origin lacks one segment of the sound, and there is no other group of it.
@Suite("A hole in the sound")
struct SoundHoleTests {
    private static let hole = OriginRule("/cmaf/audio-en/2.m4s") { $0.status = 404 }

    @Test("costs the players that skip it nothing else: they get what they get from the origin itself")
    func playsAsDirectly() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(Self.hole)
            let direct = try await FrameHashes.of(scene.origin.master("cmaf"), outputOptions: ["-sn"])
            let whole = try await PlainFrames.of("cmaf").streams.filter { $0.mediaType != "subtitle" }
            #expect(direct.streams.map(\.frames.count) != whole.map(\.frames.count))
            let frames = try await FrameHashes.of(scene.master("cmaf"), outputOptions: ["-sn"])
            #expect(frames.firstDifference(from: direct) == nil)
            let report = try await Player.mpv.play(scene.master("cmaf"))
            #expect(report.ended && report.position ?? 0 >= 8.5, "\(report)")
        }
    }

    @Test("is told by get, which keeps all else, and plays without the origin around it")
    func isSavedAroundIt() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(Self.hole)
            let result = try await scene.get("cmaf")
            #expect(result.exit == .code(76) && result.errors.contains("audio-en/2.m4s"), "\(result)")
            try await scene.origin.stop()
            let report = try await Player.mpv.play(scene.weir.url("/offline/cmaf.m3u8"))
            #expect(report.ended, "\(report)")
        }
    }
}
