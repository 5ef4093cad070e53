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

    /// The last bytes of a segment, which a rule holds back until the bytes of the segment behind it are counted: a segment that
    /// yields has to wait until then, however late that is on a busy machine.
    private static let held = 1000

    /// Holds the last bytes of a segment of `/_vod/` back.
    private static func hold(_ number: Int, of film: String, size: Int, at origin: TestOrigin) async throws {
        let rule = OriginRule("/_vod/\(film)/\(number).ts") {
            $0.pauseAfter = size - held
            // Not of a comparison.
            $0.range = ""
        }
        try await origin.add(rule)
    }

    /// Lets the last bytes of so many segments go.
    private static func release(_ count: Int, at origin: TestOrigin) async throws {
        try await waitUntil("\(count) held segments") { try await origin.load().paused == count }
        try await origin.release()
    }

    /// As libavformat asks for them: the second on a connection of its own, from which it reads nothing before it has the first.
    /// Returns how many bytes of the second there are when the first is complete, or all but complete.
    /// - Parameter origin: the origin that holds the first one's last bytes back; nil if none does.
    private static func pair(
        _ first: String, _ second: String, size: Int = 300_000, heldBy origin: TestOrigin? = nil
    ) async throws -> Int {
        let first = try await SegmentReader(first)
        let second = try await SegmentReader(second)
        for reader in [first, second] {
            #expect(try await reader.head(within: .seconds(30)).hasPrefix("HTTP/1.1 200"))
        }
        let free = origin == nil ? size : size - held
        #expect(try await first.bytes(free, within: .seconds(30)).count == free)
        let before = try await second.bytes(size, within: .milliseconds(100))
        if let origin {
            try await release(1, at: origin)
            #expect(try await first.bytes(held, within: .seconds(30)).count == held)
        }
        let rest = try await second.bytes(size - before.count, within: .seconds(30))
        #expect(before.count + rest.count == size)
        return before.count
    }

    @Test("brings the first of two segments that a player asks for together first", .timeLimit(.minutes(3)))
    func theLaterSegmentYields() async throws {
        try await Scene.with { scene in
            let link = try await LinkConditioner(to: scene.origin.url(""), preset: "3G", state: scene.weir.state)
            let film = await scene.weir.url("/" + link.url("/_vod/16x600000/media.m3u8"))
            let segments = try await PlaylistWalk.segments(film)
            try await Self.hold(8, of: "16x600000", size: 600_000, at: scene.origin)
            // The first pair shows that both share the link. Six seconds each: of three, the trial uses nearly all.
            _ = try await Self.pair(segments[4], segments[5], size: 600_000)
            // With an equal share it would have nearly as many bytes. What a window holds is on its way when it begins to wait.
            let count = try await Self.pair(segments[8], segments[9], size: 600_000, heldBy: scene.origin)
            #expect(count < 150_000)
            #expect(try await scene.repetitions() == [:])

            // Nobody waits any more for the segment to which another one yields.
            do {
                let third = try await SegmentReader(segments[12])
                _ = try await third.bytes(1000, within: .seconds(30))
            }
            let fourth = try await SegmentReader(segments[13])
            _ = try await fourth.head(within: .seconds(30))
            #expect(try await fourth.bytes(600_000, within: .seconds(30)).count == 600_000)
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

    /// libavformat looks at all renditions, and asks for two segments of each.
    @Test("leaves the second segments until the first ones of all renditions are there", .timeLimit(.minutes(3)))
    func theSecondSegmentsOfAllRenditionsYield() async throws {
        try await Scene.with { scene in
            let variants = [300_000, 301_000, 302_000]
            let entry = variants.map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\n/_vod/16x\($0)/media.m3u8\n" }.joined()
            try await scene.origin.add(OriginRule("/all.m3u8") { ($0.status, $0.body) = (200, "#EXTM3U\n" + entry) })
            let link = try await LinkConditioner(to: scene.origin.url(""), preset: "3G", state: scene.weir.state)
            for size in variants {
                try await Self.hold(0, of: "16x\(size)", size: size, at: scene.origin)
            }
            let film = await scene.weir.url("/" + link.url("/all.m3u8"))
            var firsts: [SegmentReader] = []
            var seconds: [SegmentReader] = []
            for rendition in try await PlaylistWalk.segments(film) {
                let segments = try await PlaylistWalk.segments(rendition)
                for number in 0..<2 {
                    let reader = try await SegmentReader(segments[number])
                    #expect(try await reader.head(within: .seconds(30)).hasPrefix("HTTP/1.1 200"))
                    if number == 0 {
                        firsts.append(reader)
                    } else {
                        seconds.append(reader)
                    }
                }
            }
            for (reader, size) in zip(firsts, variants) {
                let free = size - Self.held
                #expect(try await reader.bytes(free, within: .seconds(40)).count == free)
            }
            // Each second connection may bring what its first window allows, 64 KB and a quarter more, before it waits: 240 KB.
            // With an equal share they would have brought 900 KB.
            let received = try await link.traffic().bytesDown
            #expect(received < variants.reduce(0, +) + 400_000, "\(received)")
            try await Self.release(variants.count, at: scene.origin)
            for reader in firsts {
                #expect(try await reader.bytes(Self.held, within: .seconds(40)).count == Self.held)
            }
            for (reader, size) in zip(seconds, variants) {
                #expect(try await reader.bytes(size, within: .seconds(40)).count == size)
            }
        }
    }

    @Test("gives a fast link to the segment at which a player arrives", .timeLimit(.minutes(2)))
    func theFirstSegmentAfterASeek() async throws {
        try await Scene.with { scene in
            let link = try await LinkConditioner(to: scene.origin.url(""), preset: "Wi-Fi", state: scene.weir.state)
            let film = await scene.weir.url("/" + link.url("/_vod/16x1200000/media.m3u8"))
            let segments = try await PlaylistWalk.segments(film)
            // A quarter of a second each: nothing can be measured in that time.
            try await Self.hold(4, of: "16x1200000", size: 1_200_000, at: scene.origin)
            let count = try await Self.pair(segments[4], segments[5], size: 1_200_000, heldBy: scene.origin)
            #expect(count < 700_000)

            let before = try await link.traffic().bytesDown
            do {
                let left = try await SegmentReader(segments[8])
                _ = try await left.head(within: .seconds(30))
                _ = try await left.bytes(600_000, within: .seconds(30))
            }
            let reader = try await SegmentReader(segments[12])
            _ = try await reader.head(within: .seconds(30))
            #expect(try await reader.bytes(1_200_000, within: .seconds(30)).count == 1_200_000)
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

    @Test("brings both at once where the origin limits each connection", .timeLimit(.minutes(2)))
    func theLaterSegmentOfItsOwnLimit() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/_vod/*.ts") { $0.throttle = 50_000 })
            // Eight seconds each; the verdict takes between five and six.
            let film = await scene.weir.url("/" + scene.origin.url("/_vod/16x400000/media.m3u8"))
            let segments = try await PlaylistWalk.segments(film)
            let (first, next) = (
                try await Self.pair(segments[4], segments[5], size: 400_000),
                try await Self.pair(segments[8], segments[9], size: 400_000)
            )
            #expect(first > 70_000 && next > 340_000, "\(first), \(next)")
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
