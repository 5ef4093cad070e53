import Foundation
import TestSupport
import Testing

@Suite("The session log")
struct SessionLogTests {
    private struct Event: Decodable {
        struct Bytes: Decodable { var store: Int, origin: Int, joined: Int }

        let asset: String
        let client: String?
        let number: Int
        let ended: Double?
        let startOffset: Double
        let watched: Double
        let downloaded: Double
        let stalls: Int
        let stallTime: Double
        let startup: Double?
        let bytes: Bytes
        let inferred: [String]
    }

    private func events(_ scene: Scene) async throws -> [Event] {
        let result = try await scene.weir.run(["log", "--format", "json"])
        #expect(result.exit == .code(0), "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        return try lines.map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }

    private func lines(_ scene: Scene, _ options: String...) async throws -> [String] {
        let result = try await scene.weir.run(["log"] + options)
        #expect(result.exit == .code(0), "\(result.errors)")
        return result.output.split(separator: "\n").map(String.init)
    }

    /// The paths of a rendition's segments in a new session.
    private func segments(_ scene: Scene, _ path: String) async throws -> [String] {
        let entry = try await HTTPProbe.fetch(scene.url(path)).text
        return entry.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }

    private func take(_ path: String, _ scene: Scene) async throws {
        #expect(try await HTTPProbe.fetch(scene.weir.url(path)).status == 200)
    }

    // MARK: Players

    @Test("has one session per playback with its bytes, and none for the entry that mpv loads a second time")
    func logsOneSessionPerPlayback() async throws {
        try await Scene.with { scene in
            _ = try await FrameHashes.of(scene.master("ts"))
            let first = try await events(scene)
            #expect(first.map(\.number) == [0] && first[0].asset == "ts" && first[0].client?.hasPrefix("Lavf") == true)
            let sent = try await scene.mediaRequests().reduce(0) { $0 + $1.bytes }
            #expect(first[0].bytes.origin == sent && first[0].bytes.store == 0)
            #expect(first[0].stalls == 0 && first[0].startup != nil)

            let report = try await Player.mpv.play(scene.weir.url("/ts.m3u8"))
            #expect(report.ended)
            let all = try await events(scene).filter { $0.client?.contains("mpv") == true }
            #expect(Set(all.map(\.number)) == [0] && all.count == 1)
            #expect(all[0].stalls == 0 && all[0].watched > 0 && all[0].bytes.joined == 0)
            let log = try ExtendedLog(try await lines(scene))
            #expect(log.entries.count == 2 && log.entries.allSatisfy { $0["s-playback-type"] == "VOD" })
            let table = try await lines(scene, "--kpi")
            #expect(table.count == 4 && table[3].hasPrefix("all ") && table[3].contains("2 sessions"))
        }
    }

    /// The second to last segment takes at least eight seconds, and the player buffers only the current segment. mpv plays the
    /// first block of it meanwhile, as its own clock shows, and stands before and after that. The expected time is the playing
    /// time minus the media duration.
    @Test("has the stalls on a link below the media's bit rate, with their duration to within a segment")
    func logsStall() async throws {
        try await Scene.with { scene in
            let link = try await LinkConditioner(to: scene.origin.url(""))
            let options = ["--vo=null", "--ao=null", "--no-config", "--cache=no", "--demuxer-readahead-secs=0"]
            let url = await scene.weir.url("/" + link.url("/ts/270p/media.m3u8"))
            let clock = ContinuousClock()
            let player = try ChildProcess("mpv", options + [url])
            // The program's own start is no playback.
            try await waitUntil("the first request") { try await !scene.origin.requests().isEmpty }
            let start = clock.now
            try await waitUntil("four segments") { scene.pieces().count >= 4 }
            try await link.set(down: 45_000, up: 1_000_000)
            let count = scene.pieces().count
            try await waitUntil("the slow segment", within: .seconds(60)) { scene.pieces().count > count }
            try await link.set("off")
            #expect(try await player.end() == .code(0))
            let played = start.duration(to: clock.now)
            let event = try #require(try await events(scene).last)
            #expect(event.stalls == 2)
            let delay = Double(played.components.seconds) + Double(played.components.attoseconds) * 1e-18 - 12
            #expect(abs(event.stallTime - (delay - (event.startup ?? 0))) < 2, "\(event.stallTime) s of \(delay) s")
            #expect(event.stallTime > 5 && event.inferred.contains("stalls"))
        }
    }

    @Test("ends a session soon after its player, with the time that it has played")
    func endsWithThePlayer() async throws {
        struct List: Decodable {
            struct Session: Decodable { var ended: Double?, watched: Double }
            var sessions: [Session]
        }
        try await Scene.with { scene in
            let player = try MPV([await scene.weir.url("/" + scene.origin.master("ts"))], scene.weir, hasScript: false)
            try await waitUntil("four seconds") { try await player.get("time-pos") as? Double ?? 0 >= 4 }
            let sessions = { () async throws -> [List.Session] in
                let token = try String(contentsOfFile: scene.weir.state + "/token", encoding: .utf8)
                let answer = try await HTTPProbe.fetch(
                    await scene.weir.url("/api/v1/sessions"),
                    fields: ["Authorization": "Bearer \(token.trimmingCharacters(in: .newlines))"])
                return try JSONDecoder().decode(List.self, from: Data(answer.text.utf8)).sessions
            }
            #expect(try await sessions().map(\.ended) == [nil])
            try await player.command(["quit"])
            try await waitUntil("the end", within: .seconds(15)) { try await sessions().allSatisfy { $0.ended != nil } }
            let watched = try await sessions().map(\.watched)
            #expect(watched.count == 1 && abs(watched[0] - 4) < 2, "\(watched)")
        }
    }

    // MARK: Files

    @Test("is written when an event ends and at a graceful stop, and a kill loses only open events")
    func writesEndedEvents() async throws {
        try await Scene.with { scene in
            let paths = try await segments(scene, "/ts/90p/media.m3u8")
            try await take(paths[0], scene)
            try await take(paths[5], scene)
            #expect(try await events(scene).map(\.startOffset) == [0, 10])
            try await scene.weir.restart()
            let kept = try await events(scene)
            #expect(kept.map(\.startOffset) == [0] && kept[0].ended != nil)

            try await take(paths[1], scene)
            #expect(try await events(scene).count == 2)
            #expect(try await scene.weir.terminate() == .code(0))
            let folder = scene.weir.state + "/log"
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(Set(files.map { $0.prefix { $0 != "-" } }) == ["access", "sessions"])
            for file in files {
                let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
                #expect(try ExtendedLog(text.split(separator: "\n").map(String.init)).entries.count > 0)
            }
            try await scene.weir.start()
            #expect(try await events(scene).allSatisfy { $0.ended != nil })
        }
    }

    @Test("that cannot be written does not affect players, and is reported once")
    func reportsUnwritableLogOnce() async throws {
        try await Scene.with(isStarted: false) { scene in
            try FileManager.default.createDirectory(atPath: scene.weir.state, withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: scene.weir.state + "/log"))
            try await scene.weir.start()
            let paths = try await segments(scene, "/ts/90p/media.m3u8")
            for path in [0, 5, 0, 5, 0].map({ paths[$0] }) {
                try await take(path, scene)
            }
            try await waitUntil("what is said") { await scene.weir.log.contains("cannot be logged") }
            #expect(try await events(scene).map(\.startOffset) == [0])
            #expect(await scene.weir.log.components(separatedBy: "cannot be logged").count == 2)
        }
    }

    // MARK: The command

    @Test("is shown in each format, by asset, with errors, and live")
    func showsLog() async throws {
        try await Scene.with { scene in
            let follower = try scene.weir.begin(["log", "--follow", "--format", "apple"])
            _ = try await follower.line(startingWith: "#Fields: ")
            let paths = try await segments(scene, "/ts/90p/media.m3u8")
            try await take(paths[0], scene)
            try await take(paths[5], scene)
            _ = try await follower.line(startingWith: "20")
            follower.send(SIGINT)
            #expect(try await follower.end() == .code(0))

            let name = try #require(try await events(scene).first).asset
            #expect(try ExtendedLog(try await lines(scene, name)).entries.count == 2)
            let apple = try await lines(scene, "--format", "apple")
            #expect(apple.last?.dropFirst(4).hasPrefix("/") == true)
            #expect(try ExtendedLog(try await lines(scene, "--errors")).entries.isEmpty)
            try await scene.origin.add(OriginRule("*/2.ts") { $0.status = 404 })
            #expect(try await HTTPProbe.fetch(scene.weir.url(paths[2])).status == 404)
            let errors = try ExtendedLog(try await lines(scene, "--errors", name))
            #expect(errors.entries.map { $0["status"] } == ["404"])
            #expect(errors.entries[0]["uri"] == scene.origin.url("/ts/90p/2.ts"))
            let unknown = try await scene.weir.run(["log", "nothing"])
            #expect(unknown.exit == .code(66) && unknown.errors.contains("nothing"))
        }
    }

    @Test("has a file per day, deletes old files, and is shown as JSON with indicators")
    func rotatesFiles() async throws {
        try await Scene.with(options: ["--log-days", "2"], isStarted: false) { scene in
            let folder = scene.weir.state + "/log/"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in ["access-2026-01-01.log", "errors-2026-01-01.log", "access-notes.log"] {
                try Data().write(to: URL(fileURLWithPath: folder + name))
            }
            try await scene.weir.start()
            let follower = try scene.weir.begin(["log", "--errors", "--follow", "--format", "json"])
            let paths = try await segments(scene, "/ts/90p/media.m3u8")
            try await take(paths[0], scene)
            try await scene.origin.add(OriginRule("*/2.ts") { $0.status = 404 })
            #expect(try await HTTPProbe.fetch(scene.weir.url(paths[2])).status == 404)
            let failure = try await follower.line(startingWith: "{")
            follower.send(SIGINT)
            #expect(failure.contains(#""t":"errors""#) && failure.contains(#""status":404"#))
            #expect(try await follower.end() == .code(0))
            #expect(try await lines(scene, "--errors", "--format", "json").count == 1)

            let sent = try Repository.fixture("/ts/90p/0.ts").count
            let indicators = try await lines(scene, "--kpi", "--format", "json").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
            #expect(indicators.map { $0["t"] as? String } == ["session", "total"])
            #expect(indicators[1]["bytes"] as? Int == sent && indicators[1]["stalls"] as? Int == 0)
            #expect(try await events(scene).map { Set($0.inferred).isSuperset(of: ["watched", "stalls"]) } == [true])

            let before = Date().formatted(.iso8601.year().month().day())
            #expect(try await scene.weir.terminate() == .code(0))
            let after = Date().formatted(.iso8601.year().month().day())
            let names = Set(try FileManager.default.contentsOfDirectory(atPath: folder))
            #expect(names.isDisjoint(with: ["access-2026-01-01.log", "errors-2026-01-01.log"]))
            #expect(names.contains("access-notes.log"))
            #expect(names.contains("access-\(before).log") || names.contains("access-\(after).log"))
            #expect(names.contains { $0.hasPrefix("errors-20") })
        }
    }

    @Test("has the player's CMCD data, which is not sent to the origin")
    func logsCMCD() async throws {
        try await Scene.with { scene in
            let query = "?CMCD=bl%3D2000%2Csid%3D%22secret%22"
            let paths = try await segments(scene, "/ts/90p/media.m3u8" + query)
            try await take(paths[0] + query, scene)
            let fields = ["CMCD-Status": "bs", "CMCD-Request": "bl=0,su", "CMCD-Session": "sid=\"secret\""]
            #expect(try await HTTPProbe.fetch(scene.weir.url(paths[1]), fields: fields).status == 200)
            let event = try #require(try await events(scene).last)
            #expect(event.stalls == 1 && !event.inferred.contains("stalls"))
            for request in try await scene.origin.requests() {
                #expect(!request.path.lowercased().contains("cmcd") && !request.path.contains("secret"))
                #expect(!request.headers.contains { $0.key.contains("cmcd") || $0.value.contains("secret") })
            }
        }
    }
}
