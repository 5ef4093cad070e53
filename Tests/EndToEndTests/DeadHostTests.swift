import Foundation
import TestSupport
import Testing

/// A host that refuses connections, or has no address, while the host of the playlists answers. A wait for it would take a minute.
@Suite("W11: a dead host")
struct DeadHostTests {
    /// A dead host's URL, with its slash: a closed port, and a name without an address.
    static let hosts = ["http://127.0.0.1:1/", "http://ads.invalid/"]
    private static let options = ["--allow-hosts", "127.0.0.1"]
    private static let bound = Duration.seconds(30)

    private static func fixture(_ path: String) throws -> String {
        String(decoding: try Repository.fixture(path), as: UTF8.self)
    }

    private static func rule(_ path: String, _ text: String) -> OriginRule {
        OriginRule(path) { ($0.status, $0.body) = (200, text) }
    }

    /// The playlist of the best variant of `ts`, with an advertisement of two segments on a host behind the second segment.
    private static func advertisement(on host: String) throws -> [OriginRule] {
        let third = "#EXTINF:2.000000,\n2.ts\n"
        let segments = ["4.ts", "5.ts"].map { "#EXTINF:2.000000,\n\(host)\($0)\n" }.joined()
        let inserted = "#EXT-X-DISCONTINUITY\n\(segments)#EXT-X-DISCONTINUITY\n\(third)"
        let text = try fixture("/ts/270p/media.m3u8").replacing(third, with: inserted)
        return [rule("/ts/270p/media.m3u8", text), try PlainFrames.onlyBest(of: "ts")]
    }

    private func with(_ rules: [OriginRule], _ body: (Scene) async throws -> Void) async throws {
        try await Scene.with(options: Self.options) { scene in
            for rule in rules { try await scene.origin.add(rule) }
            try await body(scene)
        }
    }

    /// Expects all frames of the best variant, in less time than a lost network is waited for.
    private func expectFilm(_ url: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let frames = try await FrameHashes.of(url, within: Self.bound)
        let difference = frames.firstDifference(from: try await PlainFrames.ofBest("ts"))
        #expect(difference == nil && frames.complaints == [], sourceLocation: sourceLocation)
    }

    @Test("that has an advertisement costs no frame of the film", arguments: hosts)
    func leavesTheAdvertisementOut(host: String) async throws {
        try await with(Self.advertisement(on: host)) { scene in
            for _ in 0..<2 { try await expectFilm(scene.master("ts")) }
            #expect(try await scene.repetitions() == [:])
            // A lone media playlist, which is the entry itself.
            try await expectFilm(scene.url("/ts/270p/media.m3u8"))
        }
    }

    @Test("that has an advertisement ends no player", arguments: [Player.ffmpeg, .mpv, .vlc, .chromium], hosts)
    func playersComeToTheEnd(player: Player, host: String) async throws {
        try await with(Self.advertisement(on: host)) { scene in
            let report = try await player.play(scene.master("ts"), within: Self.bound)
            #expect(PlayerBaseline(player, "ts").shortcoming(of: report) == nil)
        }
    }

    @Test(
        "that has the best variant costs nothing of the others", arguments: [Player.ffmpeg, .mpv, .vlc, .chromium],
        hosts)
    func leavesTheVariantOut(player: Player, host: String) async throws {
        let master = try Self.fixture("/ts/master.m3u8").replacing("\n270p/", with: "\n\(host)270p/")
        try await with([Self.rule("/ts/master.m3u8", master)]) { scene in
            let text = try await HTTPProbe.fetch(scene.master("ts")).text
            #expect(text.contains("video-180p") && !text.contains("video-270p"), "\(text)")
            let report = try await player.play(scene.master("ts"), within: Self.bound)
            #expect(PlayerBaseline(player, "ts").shortcoming(of: report) == nil)
        }
    }

    @Test("that has a variant's segments, but not its playlist, costs nothing of the others", arguments: hosts)
    func refusesAVariantWithoutSegments(host: String) async throws {
        let text = try Self.fixture("/ts/270p/media.m3u8")
        let dead = (0...5).reduce(text) { $0.replacing("\n\($1).ts", with: "\n\(host)\($1).ts") }
        try await with([Self.rule("/ts/270p/media.m3u8", dead)]) { scene in
            for player in [Player.ffmpeg, .mpv] {
                let report = try await player.play(scene.master("ts"), within: Self.bound)
                #expect(report.ended && report.position ?? 0 >= 8.5, "\(report)")
            }
            // It is known now.
            let master = try await HTTPProbe.fetch(scene.master("ts")).text
            #expect(!master.contains("video-270p"))
        }
    }

    @Test(
        "that has the sound in one language costs nothing of the rest",
        arguments: [Player.ffmpeg, .mpv, .vlc, .chromium], hosts)
    func leavesTheSoundOut(player: Player, host: String) async throws {
        let master = try Self.fixture("/cmaf/master.m3u8").replacing("\"audio-en/", with: "\"\(host)audio-en/")
        try await with([Self.rule("/cmaf/master.m3u8", master)]) { scene in
            let text = try await HTTPProbe.fetch(scene.master("cmaf")).text
            #expect(text.contains("audio-fr") && !text.contains("audio-en"), "\(text)")
            #expect(text.contains("NAME=\"Français\",LANGUAGE=\"fr\",DEFAULT=YES"), "\(text)")
            let report = try await player.play(scene.master("cmaf"), within: Self.bound)
            #expect(PlayerBaseline(player, "cmaf").shortcoming(of: report) == nil)
        }
    }

    @Test("that has all sound leaves the picture", arguments: hosts)
    func playsPictureAlone(host: String) async throws {
        let master = try Self.fixture("/cmaf/master.m3u8").replacing("\"audio-", with: "\"\(host)audio-")
        try await with([Self.rule("/cmaf/master.m3u8", master)]) { scene in
            let text = try await HTTPProbe.fetch(scene.master("cmaf")).text
            #expect(text.contains("video-270p") && !text.contains("AUDIO="), "\(text)")
            let frames = try await FrameHashes.of(scene.master("cmaf"), within: Self.bound)
            #expect(frames.streams.count == 3 && frames.complaints == [])
        }
    }

    @Test(
        "whose part a download lacks: all else is stored, and the command ends with exit 3 and says what",
        arguments: hosts)
    func downloadEndsWithoutIt(host: String) async throws {
        try await with(Self.advertisement(on: host)) { scene in
            let result = try await scene.weir.run(["get", scene.origin.master("ts")], within: Self.bound)
            #expect(result.exit == .code(3), "\(result.exit)")
            let isNamed = result.errors.contains("ts is not complete: \(host)4.ts could not be reached")
            #expect(isNamed && result.errors.contains("1 more piece is missing, too"), "\(result.errors)")
            #expect(scene.pieces().count == 6)
            // Nothing is fetched again, and what is stored plays.
            let requests = try await scene.mediaRequests().count
            #expect(try await scene.weir.run(["get", "ts"], within: Self.bound).exit == .code(3))
            #expect(try await scene.mediaRequests().count == requests)
            try await scene.origin.stop()
            try await expectFilm(scene.weir.url("/offline/ts.m3u8"))
        }
    }

    @Test("that has the best variant: a download takes the next best", arguments: hosts)
    func downloadTakesTheNextBest(host: String) async throws {
        let text = try Self.fixture("/ts/270p/media.m3u8")
        let dead = (0...5).reduce(text) { $0.replacing("\n\($1).ts", with: "\n\(host)\($1).ts") }
        let master = try Self.fixture("/ts/master.m3u8").replacing("\n270p/", with: "\n\(host)270p/")
        for rule in [Self.rule("/ts/270p/media.m3u8", dead), Self.rule("/ts/master.m3u8", master)] {
            try await with([rule]) { scene in
                let result = try await scene.weir.run(["get", scene.origin.master("ts")], within: Self.bound)
                #expect(result.exit == .code(3), "\(result.exit): \(result.errors)")
                #expect(scene.pieces().count == 6 && scene.pieces().allSatisfy { $0.contains("video-180p") })
            }
        }
    }

    @Test("that answers again is used again")
    func returns() async throws {
        try await Scene.with(options: Self.options) { scene in
            let other = try await TestOrigin()
            try await other.stop()
            for rule in try Self.advertisement(on: other.url("/ts/270p/")) { try await scene.origin.add(rule) }
            #expect(try await scene.weir.run(["get", scene.origin.master("ts")], within: Self.bound).exit == .code(3))
            try await other.restart()
            #expect(try await scene.weir.run(["get", "ts"], within: Self.bound).exit == .code(0))
            #expect(scene.pieces().count == 8)
        }
    }

    @Test("is no lost network: with all hosts away a player waits, and loses nothing")
    func waitsForALostNetwork() async throws {
        try await Scene.with(options: Self.options) { scene in
            let other = try await TestOrigin()
            for rule in try Self.advertisement(on: other.url("/ts/270p/")) { try await scene.origin.add(rule) }
            let segments = try await PlaylistWalk.segments(PlaylistWalk.segments(await scene.master("ts"))[0])
            #expect(segments.count == 8)
            #expect(try await HTTPProbe.fetch(segments[0]).status == 200)
            try await scene.origin.stop()
            try await other.stop()
            let waiting = [try await SegmentReader(segments[1]), try await SegmentReader(segments[2])]
            // The heads come when players would give up.
            for reader in waiting { #expect(try await reader.head().hasPrefix("HTTP/1.1 200 ")) }
            try await scene.origin.restart()
            try await other.restart()
            for reader in waiting { #expect(try await reader.rest().end == .closed) }
        }
    }
}
