import Foundation
import TestSupport
import Testing

@Suite("A download over a slow link")
struct SlowLinkTests {
    /// Bytes per second of the preset 3G.
    private static let rate = 97_500.0

    @Test(
        "has its first segment early, shows the link's rate, and leaves the link after a pause",
        .timeLimit(.minutes(4)))
    func usesTheLinkWithCare() async throws {
        try await Scene.with { scene in
            let link = try await LinkConditioner(to: scene.origin.url(""), preset: "3G", state: scene.weir.state)
            // 3 s for each segment.
            let film = link.url("/_vod/16x300000/media.m3u8")
            let get = try scene.weir.begin(["get", film, "--name", "film", "--json"])
            try await waitUntil("the first segment", within: .seconds(60)) { !scene.pieces().isEmpty }
            // Six transfers side by side would have brought 1.8 MB by then.
            #expect(try await link.traffic().bytesDown < 520_000)

            try await waitUntil("17 s of the link", within: .seconds(90)) {
                try await link.traffic().bytesDown > 1_650_000
            }
            let shown = try #require(Self.values("rate", get.standardOutput).last)
            #expect(abs(shown - Self.rate) < 0.2 * Self.rate, "\(shown)")

            #expect(try await scene.weir.run(["pause", "film"]).exit == .code(0))
            let clock = ContinuousClock()
            let paused = clock.now
            try await waitUntil("a second") { clock.now - paused > .milliseconds(1200) }
            let before = try await link.traffic().bytesDown
            try await waitUntil("four more seconds") { clock.now - paused > .milliseconds(5200) }
            #expect(try await link.traffic().bytesDown - before < 20_000)

            try await link.set("LTE")
            #expect(try await scene.weir.run(["resume", "film"]).exit == .code(0))
            #expect(try await get.end(within: .seconds(60)) == .code(0), "\(get.standardError)")
            // The received bytes are kept, and the rest is requested by Range.
            #expect(try await scene.repetitions() == [:])
            #expect(try await scene.mediaRequests().contains { $0.range != nil })
        }
    }

    /// A segment takes about as long as a round trip: requests that begin and end together would leave the link idle for a third of
    /// the time.
    @Test("of small segments leaves no round trip unused", .timeLimit(.minutes(2)))
    func fillsTheLink() async throws {
        try await Scene.with { scene in
            let link = try await LinkConditioner(to: scene.origin.url(""), preset: "3G", state: scene.weir.state)
            let get = try scene.weir.begin(["get", link.url("/_vod/80x20000/media.m3u8"), "--json"])
            // By then it has found out how many requests pay.
            try await waitUntil("the first segments", within: .seconds(60)) { scene.pieces().count >= 25 }
            var start = ContinuousClock.now
            var before = try await link.traffic().bytesDown
            var rates = [Double]()
            for count in stride(from: 35, through: 75, by: 10) {
                try await waitUntil("ten more", within: .seconds(60)) { scene.pieces().count >= count }
                let now = ContinuousClock.now
                let bytes = try await link.traffic().bytesDown
                rates.append(Double(bytes - before) / ((now - start) / .seconds(1)))
                start = now
                before = bytes
            }
            // One may be high by chance, and some are less on a machine with other work.
            #expect(rates.sorted()[3] > 0.9 * Self.rate, "\(rates)")
            #expect(try await get.end(within: .seconds(60)) == .code(0), "\(get.standardError)")
        }
    }

    @Test("says within 15 s that nothing arrives any more", .timeLimit(.minutes(3)))
    func tellsSilence() async throws {
        try await Scene.with { scene in
            let link = try await LinkConditioner(to: scene.origin.url(""), preset: "3G", state: scene.weir.state)
            let get = try scene.weir.begin(["get", link.url("/_vod/16x300000/media.m3u8"), "--json"])
            try await waitUntil("a rate", within: .seconds(60)) { Self.values("rate", get.standardOutput).count > 3 }
            try await link.set(down: 0, up: 0)
            try await waitUntil("the silence", within: .seconds(15)) {
                Self.values("silence", get.standardOutput).last ?? 0 >= 10
            }
            #expect(Self.values("rate", get.standardOutput).last == 0)
            get.send(SIGINT)
            _ = try await get.end()
        }
    }

    /// Three readers of a film that the link just carries, each with two requests under way, and a download. With each pause the
    /// later segment was broken off and requested again, although it had been sent.
    @Test(
        "brings each byte once for readers side by side", .timeLimit(.minutes(3)),
        arguments: [(hasRanges: true, downloads: false), (true, true), (false, false), (false, true)])
    func readersSideBySide(hasRanges: Bool, downloads: Bool) async throws {
        let count = 12
        let size = 300_000
        try await Scene.with { scene in
            if !hasRanges {
                try await scene.origin.add(OriginRule("/_vod/*.ts") { $0.noRanges = true })
            }
            let link = try await LinkConditioner(to: scene.origin.url(""), preset: "DSL", state: scene.weir.state)
            let film = link.url("/_vod/\(count)x\(size)/media.m3u8")
            let segments = try await PlaylistWalk.segments(await scene.weir.url("/" + film))
            let get = downloads ? try scene.weir.begin(["get", film, "--json"]) : nil
            try await withThrowingTaskGroup(of: Void.self) { group in
                for reader in 0..<3 {
                    group.addTask {
                        var next = try await SegmentReader(segments[reader])
                        for number in reader..<count {
                            let present = next
                            if number + 1 < count {
                                next = try await SegmentReader(segments[number + 1])
                            }
                            _ = try await present.head(within: .seconds(30))
                            #expect(try await present.bytes(size, within: .seconds(60)).count == size)
                        }
                    }
                }
                try await group.waitForAll()
            }
            if let get {
                #expect(try await get.end(within: .seconds(60)) == .code(0), "\(get.standardError)")
            }
            let requests = try await scene.mediaRequests().filter { $0.range != "bytes=0-4095" }
            #expect(requests.allSatisfy { $0.range == nil } && requests.count == count, "\(requests.map(\.resource))")
        }
    }

    @Test("gives a fast link to the segment at which a player arrives", .timeLimit(.minutes(2)))
    func theFirstSegmentAfterASeek() async throws {
        try await Scene.with { scene in
            let link = try await LinkConditioner(to: scene.origin.url(""), preset: "Wi-Fi", state: scene.weir.state)
            let film = await scene.weir.url("/" + link.url("/_vod/16x1200000/media.m3u8"))
            let segments = try await PlaylistWalk.segments(film)
            // The last bytes of the first one are held back: the second has to wait until then, however late the test looks at it.
            let held = 1000
            let size = 1_200_000
            try await scene.origin.add(
                OriginRule("/_vod/16x\(size)/4.ts") {
                    $0.pauseAfter = size - held
                    // Not of a comparison.
                    $0.range = ""
                })
            // As libavformat asks for them: the second on a connection of its own, from which it reads nothing before it has the first.
            let first = try await SegmentReader(segments[4])
            let second = try await SegmentReader(segments[5])
            for reader in [first, second] {
                #expect(try await reader.head(within: .seconds(30)).hasPrefix("HTTP/1.1 200"))
            }
            #expect(try await first.bytes(size - held, within: .seconds(30)).count == size - held)
            let early = try await second.bytes(size, within: .milliseconds(100)).count
            #expect(early < 700_000)
            try await waitUntil("the held segment") { try await scene.origin.load().paused == 1 }
            try await scene.origin.release()
            #expect(try await first.bytes(held, within: .seconds(30)).count == held)
            #expect(try await second.bytes(size - early, within: .seconds(30)).count == size - early)

            let before = try await link.traffic().bytesDown
            do {
                let left = try await SegmentReader(segments[8])
                _ = try await left.head(within: .seconds(30))
                _ = try await left.bytes(600_000, within: .seconds(30))
            }
            let reader = try await SegmentReader(segments[12])
            _ = try await reader.head(within: .seconds(30))
            #expect(try await reader.bytes(size, within: .seconds(30)).count == size)
            // The rest of the segment that the player has left would have come at the same time.
            #expect(try await link.traffic().bytesDown - before < 2_200_000)
        }
    }

    /// mpv and ffplay open all variants before the first picture, and show one.
    @Test(
        "does not delay the stored variant that a player shows", .timeLimit(.minutes(2)),
        arguments: [(Player.mpv, "libmpv"), (.ffplay, "Lavf/59.27.100")])
    func theStoredVariantIsAlone(player: Player, agent: String) async throws {
        try await Scene.with { scene in
            let result = try await scene.get("ts", ["-q", "best"])
            #expect(result.exit == .code(0), "\(result.errors)")
            // Other players may choose.
            let all = try await HTTPProbe.fetch(scene.weir.url("/" + scene.origin.master("ts"))).text
            #expect(all.components(separatedBy: "#EXT-X-STREAM-INF").count > 2, "\(all)")
            try await scene.weir.terminate()
            try await scene.weir.start()
            try await scene.origin.clearRequests()
            try await scene.origin.add(OriginRule("*") { $0.hold = true })
            let entry = await scene.weir.url("/" + scene.origin.master("ts"))
            let shown = try await HTTPProbe.fetch(entry, fields: ["User-Agent": agent]).text
            #expect(shown.components(separatedBy: "#EXT-X-STREAM-INF").count == 2, "\(shown)")
            let report = try await player.play(entry)
            #expect(PlayerBaseline(player, "ts").shortcoming(of: report) == nil, "\(report)")
            // The origin is looked at meanwhile.
            #expect(Set(try await scene.origin.requests().map(\.path)) == ["/ts/master.m3u8"])
        }
    }

    /// The values of a key in lines of JSON.
    private static func values(_ key: String, _ output: String) -> [Double] {
        output.split(separator: "\n").compactMap { line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return (object?[key] as? NSNumber)?.doubleValue
        }
    }
}
