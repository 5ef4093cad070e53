import Foundation
import TestSupport
import Testing

/// Live streams that `tools/lab/live` broadcasts in real time. `tools/check/live` plays them for longer, and in more players.
@Suite("A broadcast", .serialized)
struct LiveRelayTests {
    /// Media sequence numbers of the segments fetched completely for a player, by rendition.
    private static func segments(_ requests: [LiveOrigin.Request]) -> [String: [Int]] {
        requests.reduce(into: [:]) { found, request in
            let parts = request.resource.split(separator: "/")
            let words = parts[parts.count - 1].split(separator: ".")
            let isGood = request.status.map { $0 < 300 } ?? false
            guard isGood, words.count == 2, let number = Int(words[0]) else { return }
            found[String(parts[parts.count - 2]), default: []].append(number)
        }
    }

    /// Decodes a URL until the end of the broadcast, with the media's timestamps.
    private static func frames(_ url: String) async throws -> FrameHashes {
        // Sound is compared as it was sent: a decoder makes noise by all that it has decoded before, and the two may begin at
        // different segments.
        try await FrameHashes.of(url, options: ["-copyts"], outputOptions: ["-c:a", "copy"])
    }

    /// Expects equal frames where both have some, to the end.
    private static func difference(_ through: FrameHashes, _ direct: FrameHashes) -> String? {
        guard through.streams.count == direct.streams.count, !through.streams.isEmpty else { return "other streams" }
        for (ours, theirs) in zip(through.streams, direct.streams) {
            guard let first = ours.frames.first?.time, let other = theirs.frames.first?.time else { return "no frames" }
            let start = max(first, other)
            if ours.frames.filter({ $0.time >= start }) != theirs.frames.filter({ $0.time >= start }) {
                return "other \(ours.mediaType) frames than directly"
            }
        }
        return nil
    }

    @Test("plays through Weir as it does directly, and ten players cost the origin no more than one")
    func playsForTenPlayers() async throws {
        try await Scene.with { scene in
            let live = try await LiveOrigin(seconds: 14)
            let kinds = ["ll", "window", "event"]
            var pairs: [(through: FrameHashes, direct: FrameHashes)] = []
            try await withThrowingTaskGroup(of: (String, through: FrameHashes, direct: FrameHashes).self) { group in
                for kind in kinds {
                    let url = await scene.weir.url("/" + live.master(kind, for: "weir-\(kind)"))
                    group.addTask {
                        async let through = Self.frames(url)
                        async let direct = Self.frames(live.master(kind, for: "direct-\(kind)"))
                        return (kind, try await through, try await direct)
                    }
                }
                let crowd = await scene.weir.url("/" + live.master("window", for: "crowd"))
                async let players: Void = Self.follow(crowd, players: 10)
                for try await (_, through, direct) in group {
                    pairs.append((through, direct))
                }
                try await players
            }
            for pair in pairs {
                #expect(Self.difference(pair.through, pair.direct) == nil)
            }
            for kind in kinds {
                let through = Self.segments(try await live.requests(for: "weir-\(kind)"))
                let direct = Self.segments(try await live.requests(for: "direct-\(kind)"))
                for (rendition, numbers) in through {
                    let sorted = numbers.sorted()
                    #expect(sorted == Array(try #require(sorted.first)...(try #require(sorted.last))), "\(kind)")
                    #expect(sorted.last == direct[rendition]?.max(), "\(kind) \(rendition)")
                }
                #expect(through.count == 2)
            }
            try await expectOneReload(live.requests(for: "crowd"))
        }
    }

    /// Plays in several players at a time, which copy the streams.
    private static func follow(_ url: String, players: Int) async throws {
        try await withThrowingTaskGroup(of: ProcessResult.self) { group in
            for _ in 0..<players {
                group.addTask {
                    let arguments = ["-nostdin", "-v", "error", "-i", url, "-c", "copy", "-f", "null", "-"]
                    return try await ProcessRunner.run("ffmpeg", arguments, within: .seconds(90))
                }
            }
            for try await result in group {
                #expect(result.exit == .code(0) && result.errors == "", "\(result.errors)")
            }
        }
    }

    /// Expects requests as from one client: each media playlist once per target duration of 2 s, plus at most one for each
    /// unchanged response; each segment once.
    private func expectOneReload(_ requests: [LiveOrigin.Request]) throws {
        let reloads = Dictionary(grouping: requests.filter { $0.resource.hasSuffix("/media.m3u8") }, by: \.resource)
        #expect(reloads.count == 2)
        for (path, loads) in reloads {
            let span = try #require(loads.last).at - loads[0].at
            #expect(Double(loads.count) <= span / 2 + 3, "\(path): \(loads.map(\.at))")
            #expect(loads.count >= 5)
        }
        for (rendition, numbers) in Self.segments(requests) {
            #expect(Set(numbers).count == numbers.count, "\(rendition): \(numbers)")
            #expect(numbers.count >= 5)
        }
    }

    @Test("continues for the player after an absence of the origin")
    func continuesAfterOriginAbsence() async throws {
        try await Scene.with { scene in
            let live = try await LiveOrigin(seconds: 16)
            let url = await scene.weir.url("/" + live.master("window", for: "weir"))
            async let through = Self.frames(url)
            try await waitUntil("some reloads") { try await live.requests(for: "weir").count >= 12 }
            try await live.stayAway(seconds: 3)
            let frames = try await through
            let numbers = Self.segments(try await live.requests(for: "weir"))
            #expect(numbers.count == 2)
            for (rendition, numbers) in numbers {
                // Up to the last segment of the broadcast, without a gap.
                let sorted = numbers.sorted()
                #expect(sorted == Array(try #require(sorted.first)...(16 + 10) / 2 - 1), "\(rendition)")
            }
            for stream in frames.streams where stream.mediaType == "video" {
                let times = stream.frames.map(\.time)
                #expect(Set(zip(times, times.dropFirst()).map { $1 - $0 }).count == 1, "a frame is missing: \(times)")
            }
        }
    }

    @Test("with low latency delivers parts, with one origin request per playlist and part")
    func relaysPartsOnce() async throws {
        try await Scene.with { scene in
            let live = try await LiveOrigin(seconds: 12)
            let master = await scene.weir.url("/" + live.master("ll", for: "weir"))
            let media = try #require(try await PlaylistWalk.segments(master).last)
            let players = try await withThrowingTaskGroup(of: LowLatencyPlayer.self) { group in
                for skips in [true, true, false] {
                    group.addTask {
                        var player = LowLatencyPlayer(url: media, skips: skips)
                        try await player.play(parts: 14)
                        return player
                    }
                }
                return try await group.reduce(into: [LowLatencyPlayer]()) { $0.append($1) }
            }
            let requests = try await live.requests(for: "weir")
            for player in players {
                #expect(player.parts.count >= 14)
                #expect(player.updates > 0 || !player.skips, "\(player)")
                #expect(player.reports == [media.replacing("/video-180p/", with: "/video-90p/")])
                // The parts of a segment equal the origin's segment.
                for (number, bytes) in player.wholeSegments {
                    let whole = live.master("ll", for: "direct").replacing("master.m3u8", with: "high/\(number).m4s")
                    #expect(try await HTTPProbe.fetch(whole).body == bytes, "segment \(number)")
                }
                #expect(!player.wholeSegments.isEmpty)
            }
            #expect(requests.contains { $0.path.contains("_HLS_msn=") && $0.path.contains("_HLS_skip=YES") })
            let asked = requests.filter { $0.status == 200 && !$0.path.hasSuffix(".m3u8") }.map(\.path)
            #expect(Set(asked).count == asked.count, "\(asked)")
            #expect(requests.allSatisfy { $0.status.map { $0 < 300 } ?? true }, "\(requests)")
        }
    }
}
