import Foundation
import TestSupport
import Testing

/// A host that refuses connections, or has no address, while the host of the playlists answers. A wait for it would take a minute.
@Suite("W11: a dead host")
struct DeadHostTests {
    /// A dead host's URL, with its slash: a closed port, and a name without an address.
    static let hosts = ["http://127.0.0.1:1/", "http://ads.invalid/"]
    /// A host for each of up to four players: what players get does not depend on the cause, which the tests with ffmpeg compare.
    static let inTurn = hosts + hosts
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
            for rule in rules {
                try await scene.origin.add(rule)
            }
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
            for _ in 0..<2 {
                try await expectFilm(scene.master("ts"))
            }
            #expect(try await scene.repetitions() == [:])
            // A lone media playlist, which is the entry itself.
            try await expectFilm(scene.url("/ts/270p/media.m3u8"))
        }
    }

    @Test("that has an advertisement ends no player", arguments: zip([Player.ffmpeg, .mpv, .vlc, .chromium], inTurn))
    func playersComeToTheEnd(player: Player, host: String) async throws {
        try await with(Self.advertisement(on: host)) { scene in
            let report = try await player.play(scene.master("ts"), within: Self.bound)
            #expect(PlayerBaseline(player, "ts").shortcoming(of: report) == nil)
        }
    }

    @Test(
        "that has the best variant costs nothing of the others",
        arguments: zip([Player.ffmpeg, .mpv, .vlc, .chromium], inTurn))
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
        arguments: zip([Player.ffmpeg, .mpv, .vlc, .chromium], inTurn))
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

    // MARK: Redirects

    /// As `advertisement(on:)`, but the URLs are the film's host's, which redirects to the dead one.
    private static func redirectedAdvertisement(to host: String) throws -> [OriginRule] {
        let rules = ["4", "5"].map { number in
            OriginRule("/ads/\(number).ts") { $0.redirect = "\(host)\(number).ts" }
        }
        return try advertisement(on: "/ads/") + rules
    }

    @Test("to which an advertisement is redirected costs no frame of the film", arguments: hosts)
    func leavesTheRedirectedAdvertisementOut(host: String) async throws {
        try await with(Self.redirectedAdvertisement(to: host)) { scene in
            for _ in 0..<2 {
                try await expectFilm(scene.master("ts"))
            }
            // One look at the advertisement, and one at the film beside it.
            #expect(try await scene.origin.requests(for: "/ads/4.ts").count == 1)
        }
    }

    @Test(
        "to which an advertisement is redirected ends no player",
        arguments: zip([Player.ffmpeg, .mpv, .vlc, .chromium], inTurn))
    func playersComeToTheEndBehindARedirect(player: Player, host: String) async throws {
        try await with(Self.redirectedAdvertisement(to: host)) { scene in
            let report = try await player.play(scene.master("ts"), within: Self.bound)
            #expect(PlayerBaseline(player, "ts").shortcoming(of: report) == nil)
        }
    }

    @Test("to which a part is redirected: a download stores the rest, and ends with exit 3", arguments: hosts)
    func downloadEndsWithoutWhatIsRedirected(host: String) async throws {
        try await with(Self.redirectedAdvertisement(to: host)) { scene in
            let result = try await scene.weir.run(["get", scene.origin.master("ts")], within: Self.bound)
            #expect(result.exit == .code(3), "\(result.exit)")
            #expect(result.errors.contains("\(host)4.ts could not be reached"), "\(result.errors)")
            #expect(scene.pieces().count == 6)
        }
    }

    // MARK: Live

    /// A broadcast of the best variant of `ts`, with an advertisement of two segments on a host behind the second segment. It
    /// moves on by one segment with each request, and ends.
    private static func broadcast(on host: String, isEvent: Bool = false) throws -> [OriginRule] {
        let film = (0..<6).map { "#EXTINF:2.000000,\n\($0).ts\n" }
        let advertisement = ["4", "5"].map { "#EXTINF:2.000000,\n\(host)\($0).ts\n" }
        let mark = "#EXT-X-DISCONTINUITY\n"
        let all = Array(film[..<3]) + [mark + advertisement[0], advertisement[1], mark + film[3]] + film[4...]
        let counts = Array(3...all.count)
        var rules = counts.enumerated().map { place, count in
            let first = isEvent ? 0 : max(0, count - 4)
            let gone = all[..<first].count { $0.hasPrefix(mark) }
            let head = [
                "#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:2", "#EXT-X-MEDIA-SEQUENCE:\(first)",
                "#EXT-X-DISCONTINUITY-SEQUENCE:\(gone)", isEvent ? "#EXT-X-PLAYLIST-TYPE:EVENT" : "#",
            ]
            let end = count == all.count ? "#EXT-X-ENDLIST\n" : ""
            let text = head.map { $0 + "\n" }.joined() + all[first..<count].joined() + end
            return OriginRule("/ts/270p/media.m3u8") {
                ($0.status, $0.body) = (200, text)
                if count < all.count {
                    $0.times = 1
                }
            }
        }
        rules.append(try PlainFrames.onlyBest(of: "ts"))
        return rules
    }

    @Test(
        "that has an advertisement in a broadcast costs no frame of it", arguments: hosts, [false, true])
    func leavesTheAdvertisementOutOfABroadcast(host: String, isEvent: Bool) async throws {
        try await with(Self.broadcast(on: host, isEvent: isEvent)) { scene in
            let url = await scene.master("ts")
            let frames = try await FrameHashes.of(
                url, options: ["-live_start_index", "0"], within: Self.broadcastBound)
            let difference = frames.firstDifference(from: try await PlainFrames.ofBest("ts"))
            #expect(difference == nil && frames.complaints == [])
        }
    }

    /// The broadcast lasts 16 s.
    private static let broadcastBound = Duration.seconds(60)

    // Chromium does not play this broadcast from a plain origin either.
    @Test(
        "that has an advertisement in a broadcast ends no player", arguments: zip([Player.ffmpeg, .mpv, .vlc], inTurn))
    func playersComeToTheEndOfABroadcast(player: Player, host: String) async throws {
        try await with(Self.broadcast(on: host)) { scene in
            let report = try await player.play(scene.master("ts"), within: Self.broadcastBound)
            #expect(report.ended, "\(report)")
            // Each segment behind the advertisement was asked for, and once.
            for number in 3..<6 {
                #expect(try await scene.origin.requests(for: "/ts/270p/\(number).ts").count == 1)
            }
        }
    }

    // MARK: Other qualities

    @Test("that has two segments of the best variant: those of the next one stand in", arguments: hosts)
    func anotherVariantStandsIn(host: String) async throws {
        let text = try Self.fixture("/ts/270p/media.m3u8")
        let dead = (2...3).reduce(text) { $0.replacing("\n\($1).ts", with: "\n\(host)\($1).ts") }
        let master = try Self.fixture("/ts/master.m3u8")
        let lines = master.split(separator: "\n").filter { !$0.contains("160x90") && $0 != "90p/media.m3u8" }
        let rules = [
            Self.rule("/ts/270p/media.m3u8", dead),
            Self.rule("/ts/master.m3u8", lines.joined(separator: "\n") + "\n"),
        ]
        try await with(rules) { scene in
            let variants = try await PlaylistWalk.segments(scene.master("ts"))
            let best = try #require(variants.first { $0.contains("video-270p") })
            let frames = try await FrameHashes.of(best, within: Self.bound)
            let film = try await PlainFrames.ofBest("ts")
            #expect(frames.complaints == [])
            // Each moment has its picture.
            #expect(frames.streams.map(\.frames.count) == film.streams.map(\.frames.count))
            #expect(try await scene.repetitions() == [:])
        }
    }

    // MARK: Adaptive quality

    @Test(
        "that has an advertisement of all qualities ends no player whose quality Weir chooses",
        arguments: zip([Player.ffmpeg, .mpv, .vlc], inTurn))
    func leavesTheAdvertisementOutOfTheAdaptiveView(player: Player, host: String) async throws {
        let rules = try ["90p", "180p", "270p"].map { folder in
            let third = "#EXTINF:2.000000,\n2.ts\n"
            let segments = ["4.ts", "5.ts"].map { "#EXTINF:2.000000,\n\(host)\($0)\n" }.joined()
            let mark = "#EXT-X-DISCONTINUITY\n"
            let path = "/ts/\(folder)/media.m3u8"
            return Self.rule(path, try Self.fixture(path).replacing(third, with: mark + segments + mark + third))
        }
        try await with(rules) { scene in
            let url = await scene.weir.url("/auto/" + scene.origin.master("ts"))
            let report = try await player.play(url, within: Self.bound)
            #expect(PlayerBaseline(player, "ts").shortcoming(of: report) == nil)
            #expect(try await scene.repetitions() == [:])
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
            for rule in try Self.advertisement(on: other.url("/ts/270p/")) {
                try await scene.origin.add(rule)
            }
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
            for rule in try Self.advertisement(on: other.url("/ts/270p/")) {
                try await scene.origin.add(rule)
            }
            let segments = try await PlaylistWalk.segments(PlaylistWalk.segments(await scene.master("ts"))[0])
            #expect(segments.count == 8)
            #expect(try await HTTPProbe.fetch(segments[0]).status == 200)
            try await scene.origin.stop()
            try await other.stop()
            let waiting = [try await SegmentReader(segments[1]), try await SegmentReader(segments[2])]
            // The heads come when players would give up.
            for reader in waiting {
                #expect(try await reader.head().hasPrefix("HTTP/1.1 200 "))
            }
            try await scene.origin.restart()
            try await other.restart()
            for reader in waiting {
                #expect(try await reader.rest().end == .closed)
            }
        }
    }
}
