import Foundation
import TestSupport
import Testing

/// Playlists near the limits of what Weir accepts, one after the other, while another client asks for small things all the time.
@Suite("During large playlists")
struct LoopLagTests {
    /// Seconds of processor time that a turn of the loop stays below, in a debug build too; one of the bounds of the metric.
    private static let most = 0.05
    /// For single steps over all of 10,000 variants. A debug build takes several times as long for them as a release build.
    private static let mostOfMany = 0.2

    private static func media(_ count: Int, _ line: (Int) -> String = { "\($0).ts" }) -> Data {
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        return Data((head + (0..<count).map { "#EXTINF:2,\n\(line($0))\n" }.joined() + "#EXT-X-ENDLIST\n").utf8)
    }

    private static func master(_ count: Int, _ uri: (Int) -> String) -> Data {
        let lines = (0..<count).map { number in
            "#EXT-X-STREAM-INF:BANDWIDTH=\(100_000 + number),CODECS=\"avc1.42c00a,mp4a.40.2\",RESOLUTION=160x90\n"
                + "\(uri(number))\n"
        }
        return Data(("#EXTM3U\n" + lines.joined()).utf8)
    }

    /// A low-latency playlist with all parts, hints and reports that are accepted, and a section and a key every now and then.
    private static func live(_ count: Int) -> Data {
        let head =
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-PART-INF:PART-TARGET=0.1\n"
            + "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=6,PART-HOLD-BACK=1\n"
        let segments = (0..<count).map { number in
            (number % 100 == 0 ? "#EXT-X-KEY:METHOD=AES-128,URI=\"k\(number)\"\n" : "")
                + (number % 1000 == 0 ? "#EXT-X-MAP:URI=\"m\(number)\"\n" : "") + "#EXTINF:1,\n\(number).m4s\n"
        }
        let parts = (0..<1800).map { "#EXT-X-PART:DURATION=0.1,URI=\"p\($0)\"\n" }
        let reports = (0..<100).map { "#EXT-X-RENDITION-REPORT:URI=\"r\($0).m3u8\",LAST-MSN=1\n" }
        return Data((head + segments.joined() + parts.joined() + reports.joined()).utf8)
    }

    private static let head = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n"
    private static let end = "#EXT-X-ENDLIST\n"

    private static func many(_ count: Int, _ line: (Int) -> String) -> String { (0..<count).map(line).joined() }

    /// Variables whose values would double at each step, if they were replaced within each other.
    private static func nestedVariables() -> String {
        let first = "#EXT-X-DEFINE:NAME=\"v0\",VALUE=\"aaaaaaaaaaaaaaaa\"\n"
        let rest = (1..<60).map { "#EXT-X-DEFINE:NAME=\"v\($0)\",VALUE=\"{$v\($0 - 1)}{$v\($0 - 1)}\"\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + first + rest + "#EXTINF:2,\n{$v59}.ts\n" + end
    }

    /// Playlists with as much as possible of one thing: each may be refused or played.
    private static let limits: [String: @Sendable () -> String] = [
        "keys": { head + many(20_000) { "#EXT-X-KEY:METHOD=AES-128,URI=\"k\($0)\"\n#EXTINF:2,\na.ts\n" } + end },
        "sections": { head + many(20_000) { "#EXT-X-MAP:URI=\"m\($0)\"\n#EXTINF:2,\na.mp4\n" } + end },
        "dates": {
            head
                + many(10_000) {
                    "#EXT-X-DATERANGE:ID=\"d\($0)\",START-DATE=\"2026-01-01T00:00:00Z\",X-ASSET-URI=\"a.m3u8\"\n"
                } + end
        },
        "discontinuities": { head + many(50_000) { "#EXT-X-DISCONTINUITY\n#EXTINF:2,\n\($0).ts\n" } + end },
        "renditions": {
            "#EXTM3U\n"
                + many(50_000) { "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\($0)\",URI=\"a\($0).m3u8\"\n" }
                + "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"g\"\nv.m3u8\n"
        },
        "groups": {
            "#EXTM3U\n"
                + many(1_000) {
                    "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\($0)\",LANGUAGE=\"x\($0)\",URI=\"a\($0).m3u8\"\n"
                } + many(300) { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1),AUDIO=\"g\"\nv\($0).m3u8\n" }
        },
        "variables": nestedVariables,
        "line": { head + "#EXTINF:2," + String(repeating: "a", count: 2 << 20) + "\na.ts\n" + end },
        "attributes": { head + "#EXT-X-MAP:URI=\"a\"" + many(100_000) { ",A\($0)=1" } + "\n#EXTINF:2,\na.mp4\n" + end },
        "quotes": { head + String(repeating: "#EXT-X-MAP:URI=\"", count: 20_000) + "\n" + end },
        "commas": { head + "#EXT-X-KEY:" + String(repeating: ",", count: 500_000) + "\n#EXTINF:2,\na.ts\n" + end },
        "itself": { "#EXTM3U\n" + many(50) { "#EXT-X-STREAM-INF:BANDWIDTH=\(1000 + $0)\nitself.m3u8\n" } },
        "comments": { head + many(1_150_000) { _ in "# " + String(repeating: "a", count: 60) + "\n" } + end },
        "returns": {
            head.replacing("\n", with: "\r") + many(50_000) { "#EXTINF:2,\r\($0).ts\r" } + "#EXT-X-ENDLIST\r"
        },
        "zeros": { head + many(20_000) { "#EXTINF:2,\0\n\($0).ts\n" } + end },
        "blanks": { head + String(repeating: " \t", count: 1_000_000) + "\n#EXTINF:2,\na.ts\n" + end },
        "skip": {
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-SKIP:SKIPPED-SEGMENTS=9223372036854775807\n#EXTINF:2,\na.ts\n"
        },
        "names": { "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + many(200_000) { _ in "#EXTINF:1,\na.ts\n" } },
        "parts": {
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PART-INF:PART-TARGET=0.1\n"
                + many(50_000) { _ in "#EXT-X-PART:DURATION=0.1,URI=\"p.ts\"\n" }
        },
    ]

    /// Writes the playlists: a debug build needs seconds for their text.
    private static func write(to path: String) throws {
        let playlists = [
            "wide": master(10_000) { "short.m3u8?\($0)" },
            "ladder": master(96) { "4000.m3u8?\($0)" },
            "offline": master(40) { "2000.m3u8?\($0)" },
            "short": media(20),
            "4000": media(4000),
            "2000": media(2000) { "segment.ts?\($0)" },
            "long": media(150_000),
            "live": live(60_000),
        ]
        for (name, text) in playlists.merging(limits.mapValues { Data($0().utf8) }, uniquingKeysWith: { $1 }) {
            try text.write(to: URL(filePath: "\(path)/\(name).m3u8"))
        }
        try Repository.fixture("/ts/90p/0.ts").write(to: URL(filePath: path + "/segment.ts"))
    }

    /// Requests of a client for little, each on a connection of its own, until it is stopped.
    private actor Client {
        private(set) var answers = 0
        private var isStopped = false

        func stop() { isStopped = true }

        func run(_ url: String) async throws {
            while !isStopped {
                _ = try await HTTPProbe.fetch(url)
                answers += 1
                // The client's own pause; nothing is awaited. Without it the client would be the load.
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    private func playlists(_ scene: Scene, _ entry: String, _ count: Int) async throws -> [String] {
        let answer = try await HTTPProbe.fetch(await scene.weir.url(entry), within: .seconds(60))
        #expect(answer.status == 200, "\(entry): \(answer.text.prefix(300))")
        return answer.text.split(separator: "\n").filter { $0.hasPrefix("/") }.prefix(count).map(String.init)
    }

    private func get(_ scene: Scene, _ path: String) async throws -> HTTPAnswer {
        try await HTTPProbe.fetch(await scene.weir.url(path), within: .seconds(60))
    }

    /// Cumulated counts of the loop's turns by the bound of their processor time, in seconds. The length of a turn by the clock
    /// depends on what else the machine does.
    private func turns(_ scene: Scene) async throws -> [Double: Double] {
        let text = try await get(scene, "/metrics").text
        return text.split(separator: "\n").reduce(into: [:]) { turns, line in
            let prefix = "weir_loop_turn_cpu_seconds_bucket{le=\""
            guard line.hasPrefix(prefix) else { return }
            let parts = line.dropFirst(prefix.count).split(separator: "\"} ")
            turns[parts[0] == "+Inf" ? .infinity : Double(parts[0]) ?? 0] = Double(parts[1]) ?? 0
        }
    }

    private struct Step: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var most = LoopLagTests.most
        let run: @Sendable (LoopLagTests, Scene) async throws -> Void
    }

    private static let steps = [
        Step(testDescription: "as much as possible of one thing", most: mostOfMany) { tests, scene in
            for name in limits.keys.sorted() {
                try await tests.openAtItsLimit(name, scene)
            }
        },
        Step(testDescription: "10,000 variants", most: mostOfMany) { tests, scene in
            let url = scene.origin.url("/wide.m3u8")
            for entry in ["/\(url)", "/auto/\(url)", "/\(url)"] {
                _ = try await tests.playlists(scene, entry, 1)
            }
        },
        Step(testDescription: "96 variants of 4,000 segments") { tests, scene in
            let url = scene.origin.url("/ladder.m3u8")
            for _ in 0..<2 {
                for path in try await tests.playlists(scene, "/auto/\(url)", 1) {
                    _ = try await tests.get(scene, path)
                }
            }
        },
        Step(testDescription: "150,000 segments") { tests, scene in
            for _ in 0..<2 {
                _ = try await tests.get(scene, "/" + scene.origin.url("/long.m3u8"))
            }
        },
        Step(testDescription: "60,000 segments of a low-latency stream") { tests, scene in
            let url = scene.origin.url("/live.m3u8")
            for _ in 0..<6 {
                let answer = try await tests.get(scene, "/\(url)")
                #expect(answer.status == 200 && answer.text.contains("#EXT-X-PART:"), "\(answer.text.prefix(300))")
            }
        },
        Step(testDescription: "40 renditions of 2,000 segments, of which some are stored") { tests, scene in
            let url = scene.origin.url("/offline.m3u8")
            for path in try await tests.playlists(scene, "/\(url)", 40) {
                let text = try await tests.get(scene, path).text
                let segments = PlaylistWalk.segments(text, at: await scene.weir.url(path))
                for segment in segments.dropFirst(200).prefix(2) {
                    let answer = try await HTTPProbe.fetch(segment, within: .seconds(60))
                    #expect(answer.status == 200, "\(segment)")
                }
            }
            for mode in ["offline", "auto", "offline"] {
                let answer = try await tests.get(scene, "/\(mode)/\(url)")
                #expect(answer.status == 200, "\(mode): \(answer.text.prefix(300))")
            }
        },
    ]

    /// Opens a playlist as players do, and the first and last that it names; then its asset is listed and removed.
    private func openAtItsLimit(_ name: String, _ scene: Scene) async throws {
        let url = scene.origin.url("/\(name).m3u8")
        for entry in ["/\(url)", "/auto/\(url)"] {
            let answer = try await get(scene, entry)
            #expect(answer.isComplete, "\(entry)")
            let paths = PlaylistWalk.references(in: answer.text).filter { $0.hasPrefix("/") }
            for path in [paths.first, paths.last].compactMap(\.self)
            where answer.status == 200 && entry.hasPrefix("/http") {
                _ = try await get(scene, path)
            }
        }
        _ = try await scene.weir.run(["list"])
        _ = try await scene.weir.run(["remove", name, "--yes"])
    }

    /// The kinds that a URL shows in turn, with other names or numbers each time.
    private static func changing(_ number: Int) -> [String] {
        let short = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n"
        return [
            String(decoding: media(3), as: UTF8.self), String(decoding: master(3) { "v\($0).m3u8" }, as: UTF8.self),
            "<html>",
            short + many(2_000) { "#EXTINF:1,\n\(number)-\($0).ts\n" },
            short + "#EXT-X-MEDIA-SEQUENCE:\(number * 1_000_000)\n"
                + many(2_000) { "#EXTINF:1,\ns\($0).ts?\(number)\n" },
        ]
    }

    @Test(
        "a URL that shows something else at each load costs little memory, and is always answered",
        arguments: [0..<5, 3..<4, 4..<5])
    func changingURL(forms: Range<Int>) async throws {
        try await Scene.with { scene in
            func most() async throws -> Int {
                let status = try String(
                    contentsOfFile: "/proc/\(try #require(await scene.weir.pid))/status", encoding: .utf8)
                return try #require(status.firstMatch(of: /VmHWM:\s+(\d+) kB/).flatMap { Int($0.1) })
            }
            let before = try await most()
            for number in 0..<60 {
                let body = Self.changing(number)[forms.lowerBound + number % forms.count]
                try await scene.origin.replaceRules(
                    with: OriginRule("/changing.m3u8") { ($0.status, $0.body) = (200, body) })
                let answer = try await get(scene, "/" + scene.origin.url("/changing.m3u8"))
                #expect(answer.isComplete)
                if let last = PlaylistWalk.references(in: answer.text).last, answer.status == 200, last.hasPrefix("/a/")
                {
                    _ = try await get(scene, last)
                }
            }
            #expect(try await most() - before < 64 << 10)
        }
    }

    @Test("no turn of the loop computes for long, and another client is served between them", arguments: steps)
    private func keepsTheLoopFree(step: Step) async throws {
        let folder = try TemporaryFolder()
        let root = folder.path("playlists")
        try await OncePerRun.makeFolder("long playlists", at: root, Self.write)
        try await Scene.with(root: root) { scene in
            let address = await scene.weir.url("/a/none/aabcde/none/0.ts")
            let client = Client()
            let running = Task { try await client.run(address) }
            let before = try await turns(scene)
            try await step.run(self, scene)
            let after = try await turns(scene)
            await client.stop()
            try await running.value

            let counts = after.merging(before) { $0 - $1 }
            let all = try #require(counts[.infinity])
            let short = try #require(counts[step.most])
            let answers = await client.answers
            let lengths = counts.sorted { $0.key < $1.key }.map { "\($0.key): \(Int($0.value))" }
            let facts = "\(answers) answers, turns \(lengths)"
            #expect(short == all, "\(facts)")
            #expect(answers > 10, "\(facts)")
        }
    }
}
