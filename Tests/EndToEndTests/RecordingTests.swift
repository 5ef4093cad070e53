import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A recording of a live stream")
struct RecordingTests {
    /// The segments in a recording's playlist; empty if it is not one.
    private func count(_ url: String) async throws -> Int {
        let answer = try await HTTPProbe.fetch(url)
        guard answer.status == 200, answer.text.contains("#EXT-X-PLAYLIST-TYPE:EVENT\n") else { return 0 }
        return answer.text.split(separator: "\n").count { !$0.hasPrefix("#") }
    }

    /// All that the origin showed, as one presentation from the start.
    private func showWhole(_ origin: TestOrigin, _ count: Int) async throws -> String {
        let segments = (0..<count).map { number in
            (number > 0 && number % 6 == 0 ? "#EXT-X-DISCONTINUITY\n" : "")
                + "#EXTINF:2.000,\n\(origin.url("/ts/90p/\(number % 6).ts"))\n"
        }
        let text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n" + segments.joined() + "#EXT-X-ENDLIST\n"
        try await origin.add(OriginRule("/whole.m3u8") { ($0.status, $0.body) = (200, text) })
        return origin.url("/whole.m3u8")
    }

    @Test(
        "continues after kill -9, and finally plays every frame that the origin showed, without origin", .namingCases)
    func continuesAfterKill() async {
        await sideBySide(["master", "media"]) { try await expectContinuation(of: $0) }
    }

    private func expectContinuation(of entry: String) async throws {
        try await Scene.with { scene in
            let url = scene.origin.url("/_live/show/\(entry).m3u8")
            let get = try scene.weir.begin(["get", "--record", "--name", "show", url])
            let media = { () async throws -> String in
                let entry = await scene.weir.url("/show.m3u8")
                let text = try await HTTPProbe.fetch(entry).text
                guard text.contains("STREAM-INF") else { return entry }
                return await scene.weir.url(PlaylistWalk.references(in: text).first ?? "/none.m3u8")
            }
            func records(_ wanted: Int) async throws {
                try await waitUntil("\(wanted) recorded segments", within: .seconds(30)) {
                    try await count(try await media()) >= wanted
                }
            }
            var shown = 4
            try await records(shown)
            for (step, isKilled) in [(1, true), (3, true), (2, false), (2, true)] {
                try await scene.origin.advance("show", by: step)
                shown += step
                if isKilled {
                    try await scene.weir.kill()
                    try await scene.weir.start()
                }
                try await records(shown)
            }
            try await scene.origin.end("show")
            // get follows the download through every restart, or exits because there is no daemon.
            _ = try await get.end()
            let again = try await scene.weir.run(["get", "show"], within: .seconds(60))
            #expect(again.exit == .code(0), "\(again.errors)")
            let expected = try await FrameHashes.of(showWhole(scene.origin, shown))
            try await scene.origin.stop()
            let frames = try await FrameHashes.of(scene.weir.url("/offline/show.m3u8"))
            #expect(frames.firstDifference(from: expected) == nil)
            #expect(frames.streams.first?.frames.isEmpty == false)
            let list = try await scene.weir.run(["list"])
            #expect(list.output.contains("show") && list.output.contains("saved"), "\(list.output)")
        }
    }

    @Test(
        "plays from its start while it grows, to the end of the broadcast, and fetches the live stream once",
        arguments: ["window", "ll", "event"])
    func playsWhileRecording(kind: String) async throws {
        let origin = try await LiveOrigin(seconds: 16)
        try await Scene.with { scene in
            let url = origin.master(kind, for: "weir")
            async let get = scene.weir.run(["get", "--record", "--name", "show", url], within: .seconds(60))
            try await waitUntil("the first segments", within: .seconds(30)) {
                let text = try await HTTPProbe.fetch(scene.weir.url("/show.m3u8")).text
                guard let media = PlaylistWalk.references(in: text).first else { return false }
                return try await HTTPProbe.fetch(scene.weir.url(media)).text.contains(":EVENT\n")
            }
            async let recorded = Player.mpv.play(scene.weir.url("/show.m3u8"))
            async let live = Player.ffmpeg.play(scene.weir.url("/" + url))
            async let plain = Player.mpv.play(origin.master(kind, for: "mpv"))
            let (report, other, usual, result) = try await (recorded, live, plain, get)
            #expect(result.exit == .code(0), "\(result.errors)")
            let problems = PlayerBaseline(.mpv, kind).newProblems(in: report)
            #expect(report.ended && Set(problems).isSubset(of: usual.problems), "\(report)")
            #expect(other.ended, "\(other)")
            let text = try await HTTPProbe.fetch(scene.weir.url("/offline/show.m3u8")).text
            let whole = try await HTTPProbe.fetch(scene.weir.url(PlaylistWalk.references(in: text)[0])).text
            #expect(
                whole.split(separator: "#EXT-X-MAP").count == (kind == "ll" ? 2 : 1) && !whole.contains("#EXT-X-PART"))
            // All segments of the initial window, and all later ones.
            let frames = try await FrameHashes.of(scene.weir.url("/offline/show.m3u8"))
            #expect(frames.errors == "")
            #expect((frames.streams.first { $0.mediaType == "video" }?.frames.count ?? 0) >= 200)
            let segments = try await origin.requests(for: "weir").map(\.resource).filter { $0.contains("/high/") }
            let media = segments.filter { !$0.hasSuffix(".m3u8") }
            #expect(Set(media).count == media.count, "\(media)")
        }
    }

    @Test("is a new one each time, and the channel stays live before, between and after", .namingCases)
    func twiceTheSameCommand() async {
        await sideBySide(["master", "media"]) { try await expectTwoRecordings(of: $0) }
    }

    private func expectTwoRecordings(of entry: String) async throws {
        try await Scene.with { scene in
            let url = scene.origin.url("/_live/news/\(entry).m3u8")
            func expectLive(_ path: String) async throws {
                var text = try await HTTPProbe.fetch(scene.weir.url(path)).text
                if text.contains("STREAM-INF") {
                    let media = try #require(PlaylistWalk.references(in: text).first)
                    text = try await HTTPProbe.fetch(scene.weir.url(media)).text
                }
                #expect(text.contains("#EXTINF") && !text.contains("ENDLIST") && !text.contains("TYPE:"), "\(text)")
            }
            try await expectLive("/" + url)
            for _ in 1...2 {
                let got = try await scene.weir.run(["get", "--record", "--for", "4s", url], within: .seconds(60))
                #expect(got.exit == .code(0), "\(got.errors)")
                try await expectLive("/" + url)
                try await expectLive("/news.m3u8")
            }
            let list = try await scene.weir.run(["list"]).output.split(separator: "\n")
            let names = list.filter { $0.hasPrefix("  news-") }.compactMap { $0.split(separator: " ").first }
            #expect(names.count == 2 && Set(names).count == 2, "\(list)")
            #expect(list.contains { $0.hasPrefix("news ") && $0.contains("not stored") }, "\(list)")
            #expect(list.count { $0.contains(" saved") && $0.hasPrefix("  news-") } == 2, "\(list)")
            let shown = try await scene.weir.run(["show", "news"]).output
            #expect(shown.contains("recordings: \(names.joined(separator: ", "))"), "\(shown)")
            let channels = try await HTTPProbe.fetch(scene.weir.url("/weir.m3u")).text
            #expect(channels.contains("/news.m3u8\n") && channels.contains("/\(names[0]).m3u8\n"), "\(channels)")
        }
    }

    @Test("that is planned begins at its time, after a kill of the daemon too")
    func begunAtItsTime() async throws {
        try await Scene.with { scene in
            let url = scene.origin.url("/_live/news/media.m3u8")
            // A time has no seconds: it begins earlier than the next minute, and some seconds from now.
            let now = Date()
            let minute = Date(timeIntervalSince1970: (now.timeIntervalSince1970 / 60).rounded(.up) * 60 + 60)
            let early = Int(minute.timeIntervalSince(now)) - 4
            let clock = Calendar.current.dateComponents([.hour, .minute], from: minute)
            let at = String(format: "%02d:%02d", clock.hour ?? 0, clock.minute ?? 0)
            let planned = try await scene.weir.run(
                ["record", url, "--at", at, "--for", "10m", "--pre", "\(early)s", "--every", "day"])
            #expect(planned.exit == .code(0), "\(planned.errors)")
            let name = "news-\(at.filter { $0 != ":" })"
            #expect(planned.output.contains(name) && planned.output.contains("every day"), "\(planned.output)")
            let list = try await scene.weir.run(["list"]).output
            #expect(list.contains("  \(name) ") && list.contains("scheduled: "), "\(list)")
            try await scene.weir.kill()
            try await scene.weir.start()
            try await waitUntil("the recording", within: .seconds(30)) {
                try await scene.weir.run(["list", "--state", "recording"]).output.contains("news-2")
            }
            let status = try await scene.weir.run(["status"]).output
            #expect(status.contains("records") && status.contains(name), "\(status)")
            let changed = try await scene.weir.run(["record", name, "--at", "03:00", "--for", "1h", "--every", "mon"])
            #expect(changed.output.contains("03:00 to ") && changed.output.contains("every mon"), "\(changed)")
            #expect(try await scene.weir.run(["record", name, "--cancel"]).exit == .code(0))
            let rest = try await scene.weir.run(["record"])
            #expect(rest.output == "" && rest.errors.hasPrefix("nothing is planned"), "\(rest)")
        }
    }

    @Test("that is planned is on the disk before the command ends: what cannot be synced is refused")
    func planIsSynced() async throws {
        try await Scene.with(isStarted: false) { scene in
            let trace = try TemporaryFolder()
            try await scene.weir.start(wrapper: [
                "strace", "-f", "-qq", "-o", trace.path("calls"), "-P", scene.weir.state + "/recordings.new", "-e",
                "trace=fsync", "-e", "inject=fsync:error=EIO",
            ])
            let words = ["record", scene.origin.url("/_live/news/media.m3u8"), "--at", "20:15", "--for", "10m"]
            let planned = try await scene.weir.run(words)
            #expect(planned.exit == .code(73) && planned.errors.contains("Input/output error"), "\(planned)")
            #expect(try await scene.weir.run(["record"]).output == "")
            try await scene.weir.kill()
        }
    }

    @Test("waits for the stream to begin, and ends after the given time, across a restart too", .namingCases)
    func waitsAndEnds() async {
        await sideBySide([false, true]) { try await expectWaitAndEnd(isRestarted: $0) }
    }

    private func expectWaitAndEnd(isRestarted: Bool) async throws {
        try await Scene.with { scene in
            let url = scene.origin.url("/_live/show/media.m3u8")
            try await scene.origin.add(OriginRule("/_live/show/media.m3u8") { $0.status = 404 })
            let get = try scene.weir.begin(["get", "--record", "--wait", "--for", "4s", "--name", "show", url])
            try await waitUntil("the wait") { get.standardError.contains("waiting for the stream to begin: ") }
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
            try await scene.origin.clearRules()
            try await waitUntil("a recorded segment", within: .seconds(30)) {
                try await count(await scene.weir.url("/show.m3u8")) > 0
            }
            if isRestarted {
                try await scene.weir.restart()
            }
            try await scene.waitForCompletion(of: "show")
            if !isRestarted {
                #expect(try await get.end() == .code(0), "\(get.standardError)")
            }
            let text = try await HTTPProbe.fetch(scene.weir.url("/offline/show.m3u8")).text
            #expect(text.contains("#EXT-X-ENDLIST"), "\(text)")
        }
    }

    @Test("that does not begin is waited for until Ctrl-C, which says so and leaves nothing behind")
    func endsTheWait() async throws {
        try await Scene.with { scene in
            let url = scene.origin.url("/nothing.m3u8")
            let get = try scene.weir.begin(["get", "--record", "--wait", "--for", "2s", url])
            let begun = ContinuousClock.now
            try await waitUntil("more time than --for", within: .seconds(10)) { .now - begun > .seconds(3) }
            #expect(get.exit == nil, "\(get.standardError)")
            get.send(SIGINT)
            #expect(try await get.end() == .code(130))
            let lines = get.standardError.split(separator: "\n")
            #expect(lines.first?.hasPrefix("waiting for the stream to begin: \(url) was not found (404)") == true)
            #expect(lines.dropFirst().first == "This may take any time; Ctrl-C ends the wait.")
            #expect(lines.dropFirst(2).first?.hasPrefix("weir: the stream has not begun in 0:0") == true, "\(lines)")
            #expect(lines.last == "try: repeat the command, to wait again" && lines.count == 4, "\(lines)")
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
        }
    }

    @Test(
        "has options that fit",
        arguments: [
            (["--wait"], "--wait needs --record"), (["--for", "2h"], "only a recording ends after a time"),
            (["--record", "--for", "soon"], "--for \"soon\" is not a duration"),
            (["--record", "--wait", "--play"], "--wait and --play exclude each other"),
        ])
    func options(words: [String], sentence: String) async throws {
        let result = try await ProcessRunner.run(Repository.builtProgram("weir"), ["get", "https://h/a"] + words)
        #expect(result.exit == .code(64) && result.errors.contains(sentence), "\(result)")
    }
}
