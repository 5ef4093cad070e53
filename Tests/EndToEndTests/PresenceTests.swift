import Foundation
import TestSupport
import Testing

/// An origin that becomes absent and returns while Weir runs.
@Suite("An origin that")
struct PresenceTests {
    /// The connections to a port in a system call trace.
    private func connections(_ trace: String, to port: Int) throws -> Int {
        try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
            .count { $0.contains("connect(") && $0.contains("htons(\(port))") }
    }

    private func listed(_ url: String) async throws -> [String] {
        try await HTTPProbe.fetch(url).text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { String($0.split(separator: "/")[3]) }
    }

    @Test("is absent costs one connection per probe, and its return is detected without a request")
    func probesAbsentOrigin() async throws {
        try await Scene.with(isStarted: false) { scene in
            let folder = try TemporaryFolder()
            let trace = folder.path("calls")
            try await scene.weir.start(wrapper: ["strace", "-f", "-qq", "-o", trace, "-e", "trace=connect"])
            let result = try await scene.get("ts", ["-q", "270p"])
            #expect(result.exit == .code(0), "\(result.errors)")
            let url = await scene.master("ts")
            #expect(try await listed(url) == ["video-270p", "video-90p", "video-180p"])
            try await scene.origin.stop()
            let before = try connections(trace, to: scene.origin.port)
            try await waitUntil("the view without the origin", within: .seconds(20)) {
                try await listed(url) == ["video-270p"]
            }
            let began = ContinuousClock.now
            // mpv loads each entry twice, and ffmpeg opens all listed renditions.
            for player in [Player.ffmpeg, .mpv] {
                let report = try await player.play(url)
                #expect(PlayerBaseline(player, "ts").shortcoming(of: report) == nil)
            }
            for _ in 0..<20 {
                #expect(try await listed(url) == ["video-270p"])
            }
            // The failed load, and a probe after each pause of five, ten, then twenty seconds.
            let probes = (ContinuousClock.now - began) / .seconds(5) + 1
            let made = try connections(trace, to: scene.origin.port) - before
            #expect((1...(1 + Int(probes))).contains(made), "\(made) connections")
            try await scene.origin.restart()
            try await waitUntil("a probe", within: .seconds(60)) { try await !scene.origin.requests().isEmpty }
            let probe = try #require(try await scene.origin.requests().first)
            #expect(probe.path == "/ts/master.m3u8" && probe.range == "bytes=0-0")
            #expect(try await scene.origin.requests().count == 1)
            #expect(try await listed(url).count == 3)
        }
    }

    @Test("becomes absent during playback does not affect stored segments; others arrive when it is back")
    func playsStoredSegmentsMeanwhile() async throws {
        try await Scene.with { scene in
            // Of six segments of two seconds, the player has three; the others are held.
            try await scene.origin.add(OriginRule("*/270p/3.ts") { $0.hold = true })
            let segments = try await PlaylistWalk.segments(
                PlaylistWalk.segments(await scene.master("ts"))[2])
            for segment in segments.prefix(3) {
                #expect(try await HTTPProbe.fetch(segment).status == 200)
            }
            try await scene.origin.stop()
            // Stored segments of the session's rendition are served; others wait.
            #expect(try await HTTPProbe.fetch(segments[0]).status == 200)
            let waiting = try await SegmentReader(segments[3])
            // A playlist loaded now lists only stored segments.
            let url = await scene.master("ts")
            try await waitUntil("the part", within: .seconds(20)) { try await listed(url) == ["video-270p"] }
            let part = try await PlaylistWalk.segments(PlaylistWalk.segments(url)[0])
            #expect(part.count == 3)
            let frames = try await FrameHashes.of(url)
            #expect(frames.streams.map(\.frames.count).contains(60))
            try await scene.origin.restart()
            // The earlier session continues.
            #expect(try await waiting.head().hasPrefix("HTTP/1.1 200 "))
            #expect(try await waiting.rest().end == .closed)
            #expect(try await HTTPProbe.fetch(segments[3])["cache-status"] == "Weir; hit")
            try await waitUntil("the whole view", within: .seconds(30)) { try await listed(url).count == 3 }
            try await expectFrames(url, of: "ts")
        }
    }

    @Test("is unused after \"weir mode offline\" and used again after \"weir mode auto\"")
    func switchesMode() async throws {
        try await Scene.with { scene in
            _ = try await scene.get("ts", ["-q", "270p"])
            let url = await scene.master("ts")
            try await scene.origin.clearRequests()
            #expect(try await scene.weir.run(["mode", "offline"]).output == "offline\n")
            #expect(try await listed(url) == ["video-270p"])
            #expect(try await HTTPProbe.fetch(scene.master("aes")).status == 404)
            #expect(try await scene.get("aes").exit == .code(75))
            #expect(try await scene.origin.requests().isEmpty)
            let shown = try await scene.weir.run(["show", "ts"]).output
            #expect(shown.contains("playable offline: yes: 270p complete\n"), "\(shown)")
            #expect(try await scene.weir.run(["mode", "auto"]).output == "auto\n")
            #expect(try await listed(url).count == 3)
        }
    }

    @Test("is absent leaves stored assets playable by name in Chromium")
    func playsByNameInChromium() async throws {
        try await Scene.with { scene in
            _ = try await scene.get("cmaf", ["-q", "270p"])
            try await scene.origin.stop()
            let report = try await Player.chromium.play(scene.weir.url("/cmaf.m3u8"), seekingTo: [8, 2])
            let shortcoming = PlayerBaseline(.chromium, "cmaf").shortcoming(of: report, seekingTo: [8, 2])
            #expect(shortcoming == nil)
        }
    }
}
