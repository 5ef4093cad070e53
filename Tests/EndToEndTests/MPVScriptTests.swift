import Foundation
import Glibc
import TestSupport
import Testing

@Suite("mpv with Weir's script")
struct MPVScriptTests {
    /// Installs a program that the script finds as `weir`.
    private static func script(_ folder: TemporaryFolder, _ text: String) throws -> String {
        let path = try folder.write(Data("#!/bin/sh\n\(text)\n".utf8), to: "program")
        guard chmod(path, 0o755) == 0 else { throw SystemCallError("chmod") }
        return path
    }

    /// Plays a presentation to its end and returns mpv's output.
    private func play(
        _ url: String, _ weir: WeirProcess, _ options: [String: String] = [:], _ more: [String] = []
    ) async throws -> String {
        let mpv = try MPV([url, "--untimed", "--no-audio"] + more, weir, options)
        let exit = try await mpv.process.end(within: .seconds(60))
        #expect(exit == .code(0), "\(mpv.process.standardOutput)")
        #expect(mpv.process.standardOutput.contains("VO: [null] "))
        return mpv.process.standardOutput
    }

    @Test("plays a plain URL through Weir, which stores it, and keeps Weir's own URLs unchanged")
    func playsThroughWeir() async throws {
        try await Scene.with { scene in
            let words = try await play(scene.origin.master("ts"), scene.weir)
            let through = "through Weir: http://localhost:\(await scene.weir.port)/\(scene.origin.master("ts"))"
            #expect(words.contains(through), "\(words)")
            #expect(!scene.pieces().isEmpty)
            // All requests to the origin come from Weir, which sends no Icy-MetaData, under mpv's name.
            let requests = try await scene.origin.requests()
            #expect(requests.allSatisfy { $0.headers["icy-metadata"] == nil })
            #expect(Set(requests.map { $0.headers["user-agent"] }) == ["libmpv"])
            for host in ["localhost", "127.0.0.1"] {
                let url = "http://\(host):\(await scene.weir.port)/\(scene.origin.master("ts"))"
                #expect(try await !play(url, scene.weir).contains("through Weir"))
            }
            let assets = try await scene.weir.run(["list", "--json"]).output.split(separator: "\n")
            #expect(assets.count == 1)
        }
    }

    @Test("plays directly if Weir is down, does not answer, is another program, or is not installed")
    func failsOpen() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let silent = try Self.script(folder, "exec sleep 600")
            let url = scene.origin.master("ts")
            let cases: [[String: String]] = [
                ["program": silent, "patience": "0.2"], ["program": folder.path("nothing")],
                ["address": "127.0.0.1:\(scene.origin.port)"],
            ]
            try await withThrowingTaskGroup(of: String.self) { group in
                for options in cases {
                    group.addTask { try await play(url, scene.weir, options) }
                }
                for try await words in group {
                    #expect(!words.contains("through Weir"), "\(words)")
                }
            }
            try await scene.weir.kill()
            #expect(try await !play(url, scene.weir).contains("through Weir"))
            #expect(scene.pieces().isEmpty)
        }
    }

    @Test("hands over header fields, Referer, User-Agent and cookies, which the origin needs on everything")
    func handsFieldsOver() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let cookies = try folder.write(Data("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t1\n".utf8), to: "cookies.txt")
            let words = try await play(
                scene.origin.master("ts"), scene.weir, [:],
                [
                    "--http-header-fields=X-Ticket: 1,X-Api-Key: 2", "--referrer=https://site.example/",
                    "--user-agent=TV/1", "--cookies=yes", "--cookies-file=\(cookies)",
                ])
            #expect(words.contains("through Weir"), "\(words)")
            let wanted = [
                "x-ticket": "1", "x-api-key": "2", "referer": "https://site.example/", "user-agent": "TV/1",
                "cookie": "sid=1",
            ]
            for request in try await scene.origin.requests() {
                for (name, value) in wanted {
                    #expect(request.headers[name] == value, "\(request.path) \(name)")
                }
                #expect(request.headers["icy-metadata"] == nil, "it came from mpv")
            }
        }
    }

    /// A program that writes down the command line of `weir` and the modes of its files, and runs it.
    private static func observer(_ folder: TemporaryFolder) throws -> String {
        try script(
            folder,
            """
            echo "$@" >> \(folder.path("arguments"))
            for word; do case "$word" in @*) stat -c 'mode %a' "${word#@}" >> \(folder.path("arguments"));; esac; done
            exec \(Repository.builtProgram("weir")) "$@"
            """)
    }

    /// Lines of mpv's log with one of `secrets`, without those of mpv itself about the options and the URL that it was given.
    private static func leaks(_ log: String, _ secrets: [String]) throws -> [Substring] {
        let own = ["Command line options", "Setting option", "Playing: ", "playing=", "Run command: loadfile"]
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        try #require(lines.contains { $0.contains("through Weir") })
        return lines.filter { line in
            secrets.contains { line.contains($0) } && !own.contains { line.contains($0) }
        }
    }

    @Test("keeps what it hands over out of mpv's log, command lines and URLs, and deletes its files")
    func keepsSecrets() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let program = try Self.observer(folder)
            let cookie = "{cookies = \"sid=c0okie; path=/; domain=127.0.0.1;\\r\\n\"}"
            let hook = "mp.set_property_native(\"stream-lavf-o\", \(cookie))"
            let script = try folder.write(Data(hook.utf8), to: "hook.lua")
            let (url, log) = (
                scene.origin.master("ts").replacing("://", with: "://me:pass%21w0rd@"), folder.path("log")
            )
            let words = try await play(
                url, scene.weir, ["program": program],
                [
                    "--http-header-fields=X-Api-Key: s3cret", "--script=\(script)", "--log-file=\(log)", "-v", "-v",
                ])
            #expect(words.contains("through Weir"), "\(words)")
            for request in try await scene.origin.requests() {
                #expect(request.headers["x-api-key"] == "s3cret", "\(request.path)")
                #expect(request.headers["cookie"] == "sid=c0okie", "\(request.path)")
                #expect(request.headers["authorization"] == "Basic bWU6cGFzcyF3MHJk", "\(request.path)")
                #expect(request.headers["icy-metadata"] == nil, "it came from mpv")
            }
            let secrets = ["s3cret", "c0okie", "w0rd", "bWU6cGFz"]
            let leaks = try Self.leaks(log, secrets).filter { !$0.contains("Set property: stream-lavf-o") }
            #expect(leaks.isEmpty, "\(leaks)")
            let arguments = try String(contentsOfFile: folder.path("arguments"), encoding: .utf8)
            #expect(!secrets.contains { arguments.contains($0) }, "\(arguments)")
            #expect(arguments.contains("--header @") && arguments.contains("mode 600"), "\(arguments)")
            let file = try #require(arguments.split { $0 == " " || $0 == "\n" }.first { $0.hasPrefix("@") })
            #expect(!FileManager.default.fileExists(atPath: String(file.dropFirst())))
        }
    }

    @Test("keeps fields out of mpv's log where it is given a URL of Weir, and where a key starts a download")
    func keepsSecretsOfDownloads() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let log = folder.path("log")
            let program = try Self.observer(folder)
            let origin = scene.origin.master("ts")
            for url in ["http://localhost:\(await scene.weir.port)/\(origin)", origin] {
                let mpv = try MPV(
                    [
                        url, "--pause", "--keep-open=yes", "--http-header-fields=X-Api-Key: s3cret",
                        "--log-file=\(log)", "-v", "-v",
                    ], scene.weir,
                    ["program": program, "patience_with_fields": url == origin ? "0" : "20", "download": "-q 90p"])
                try await waitUntil("the first picture") { try await mpv.get("vo-configured") as? Bool == true }
                if url == origin {
                    try await scene.origin.clearRequests()
                    try await mpv.command(["keypress", "Ctrl+d"])
                    try await scene.waitForCompletion(of: "ts")
                    let requests = try await scene.origin.requests().filter { $0.headers["icy-metadata"] == nil }
                    #expect(requests.contains { $0.headers["x-api-key"] == "s3cret" })
                }
                // The log is whole when mpv has ended.
                try await mpv.command(["quit"])
                #expect(try await mpv.process.end(within: .seconds(30)) == .code(0))
                let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
                #expect(lines.contains { $0.contains(url == origin ? ",add," : "CMCD-Session") })
                let own = ["Command line options", "Setting option"]
                let leaks = lines.filter { line in line.contains("s3cret") && !own.contains { line.contains($0) } }
                #expect(leaks.isEmpty, "\(leaks)")
            }
            let arguments = try String(contentsOfFile: folder.path("arguments"), encoding: .utf8)
            #expect(arguments.contains("add ") && arguments.contains("mode 600") && !arguments.contains("s3cret"))
        }
    }

    @Test("loads what ytdl_hook finds through Weir, with the fields that it sets")
    func followsYTDLHook() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let hook = """
                mp.add_hook("on_load", 10, function()
                    if not mp.get_property("stream-open-filename"):find("/watch") then return end
                    mp.set_property("stream-open-filename", "\(scene.origin.master("ts"))")
                    mp.set_property("file-local-options/user-agent", "Mozilla/5.0 Page")
                    mp.set_property_native("file-local-options/http-header-fields", {"Referer: https://page.example/"})
                    mp.set_property_native("file-local-options/stream-lavf-o",
                        {cookies = "a=b; path=/; domain=127.0.0.1;\\r\\nc=d; path=/; domain=other.example;\\r\\n"})
                end)
                """
            let script = try folder.write(Data(hook.utf8), to: "hook.lua")
            let words = try await play(scene.origin.url("/watch"), scene.weir, [:], ["--script=\(script)"])
            #expect(words.contains("through Weir"), "\(words)")
            let requests = try await scene.origin.requests()
            #expect(!requests.isEmpty)
            for request in requests {
                #expect(request.headers["referer"] == "https://page.example/", "\(request.path)")
                #expect(request.headers["user-agent"] == "Mozilla/5.0 Page", "\(request.path)")
                #expect(request.headers["cookie"] == "a=b", "\(request.path)")
            }
        }
    }

    /// Tracks of an `edl://` as ytdl_hook of mpv 0.35 writes them.
    private static func edl(_ urls: [String], _ heads: [String] = ["", ""]) -> String {
        let tracks = zip(urls, heads).map { "!new_stream;!no_clip;!no_chapters;\($1)%\($0.utf8.count)%\($0)" }
        return "edl://\(tracks.joined(separator: ";"));!global_tags,uploader=%1%x,channel_url=%12%https://h/c/x"
    }

    @Test(
        "loads the video and the audio playlist of an edl:// as one master, in whatever order it has them",
        arguments: [("cmaf", false), ("ts", true)])
    func composesPlaylists(kind: String, isVideoFirst: Bool) async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let video = scene.origin.url(kind == "ts" ? "/ts/90p/media.m3u8" : "/cmaf/video-90p/media.m3u8")
            let audio = scene.origin.url(kind == "ts" ? "/audio/low/media.m3u8" : "/cmaf/audio-en/media.m3u8")
            let edl = Self.edl(isVideoFirst ? [video, audio] : [audio, video])
            let hook = """
                mp.add_hook("on_load", 10, function() mp.set_property("stream-open-filename", "\(edl)") end)
                """
            let script = try folder.write(Data(hook.utf8), to: "hook.lua")
            let words = try await play(scene.origin.url("/watch"), scene.weir, [:], ["--script=\(script)"])
            #expect(words.contains("through Weir: "), "\(words)")
            #expect(words.contains("Video --vid=1") && words.contains("Audio --aid=1"), "\(words)")
            #expect(try await scene.origin.requests().allSatisfy { $0.headers["icy-metadata"] == nil })
            // The presentation is the same after a restart of Weir, and is saved with both.
            let url = isVideoFirst ? audio : video
            let name = try await scene.weir.run(["list", "--json"]).output
            #expect(name.split(separator: "\n").count == 1 && name.contains(url), "\(name)")
            #expect(try await scene.weir.run(["get", url]).exit == .code(0))
            let shown = try await scene.weir.run(["show", url, "--json"]).output
            #expect(shown.contains("\"audio\":[{"), "\(shown)")
        }
    }

    /// By default mpv hands to ytdl_hook only what it has failed to open itself.
    @Test(
        "loads the two playlists that ytdl_hook itself finds, and takes the pictures first where an edl:// says so",
        arguments: ["yes", "no"])
    func followsTheRealYTDLHook(isFirst: String) async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let formats = [("video-90p", "avc1", "none"), ("audio-en", "none", "mp4a")].map { name, video, sound in
                """
                {"format_id": "\(name)", "url": "\(scene.origin.url("/cmaf/\(name)/media.m3u8"))", \
                "protocol": "m3u8_native", "vcodec": "\(video)", "acodec": "\(sound)", "ext": "mp4", \
                "http_headers": {"User-Agent": "Page/1", "Referer": "https://page.example/"}}
                """
            }
            let json = """
                {"id": "x", "title": "A clip!", "extractor": "some", "extractor_key": "Some", "duration": 12, \
                "channel_url": "https://page.example/c", "webpage_url": "\(scene.origin.url("/watch"))", \
                "requested_formats": [\(formats.joined(separator: ", "))]}
                """
            let finder = try Self.script(folder, "cat <<'END'\n\(json)\nEND")
            let mpv = try MPV(
                [
                    scene.origin.url("/watch"), "--untimed", "--ao-null-untimed=yes", "--ytdl=yes",
                    "--script-opts-append=ytdl_hook-ytdl_path=\(finder)",
                    "--script-opts-append=ytdl_hook-try_ytdl_first=\(isFirst)",
                ], scene.weir)
            #expect(try await mpv.process.end(within: .seconds(60)) == .code(0), "\(mpv.process.standardOutput)")
            let words = mpv.process.standardOutput
            let video = scene.origin.url("/cmaf/video-90p/media.m3u8")
            for word in [
                "through Weir: http://localhost:\(await scene.weir.port)/\(video)", "AO: [null] ", "VO: [null] ",
            ] {
                #expect(words.contains(word), "\(words)")
            }
            for request in try await scene.origin.requests() where request.path != "/watch" {
                #expect(request.headers["referer"] == "https://page.example/", "\(request.path)")
                #expect(request.headers["user-agent"] == "Page/1" && request.headers["icy-metadata"] == nil)
            }
            let urls = [video, scene.origin.url("/cmaf/audio-en/media.m3u8")]
            let edl = Self.edl(urls, ["video", "audio"].map { "!delay_open,media_type=\($0),codec=null;" })
            let hook = "mp.add_hook('on_load', 10, function() mp.set_property('stream-open-filename', '\(edl)') end)"
            let script = try folder.write(Data(hook.utf8), to: "hook.lua")
            let named = try await play(scene.origin.url("/watch"), scene.weir, [:], ["--script=\(script)"])
            #expect(named.contains("through Weir: ") && named.contains("/\(video)"), "\(named)")
        }
    }

    @Test("ignores URLs that do not look like HLS, unless configured for all")
    func ignoresOtherURLs() async throws {
        try await Scene.with { scene in
            let segment = scene.origin.url("/ts/270p/0.ts")
            #expect(try await !play(segment, scene.weir).contains("through Weir"))
            let all = try MPV([segment], scene.weir, ["all": "yes"])
            try await waitUntil("the URL of Weir") {
                all.process.standardOutput.contains("through Weir: ") || all.process.exit != nil
            }
            #expect(all.process.standardOutput.contains("/\(segment)"))
        }
    }

    @Test("downloads the playing asset, by a key without another function in mpv")
    func downloadsByKey() async throws {
        try await Scene.with { scene in
            let bare = try MPV(["--idle=yes"], scene.weir, hasScript: false)
            #expect(try await bare.keys().contains("Ctrl+s"))
            #expect(try await !bare.keys().contains("Ctrl+d"))
            let url = scene.origin.master("cmaf")
            let mpv = try MPV([url, "--pause", "--idle=yes", "--keep-open=yes"], scene.weir, ["download": "-q 90p"])
            try await waitUntil("the script's key") { try await mpv.keys().contains("Ctrl+d") }
            try await waitUntil("the first picture") { try await mpv.get("vo-configured") as? Bool == true }
            try await mpv.command(["keypress", "Ctrl+d"])
            try await waitUntil("a word about it") {
                mpv.process.standardOutput.contains("[weir] downloading cmaf")
                    || mpv.process.standardOutput.contains("[weir] cmaf is saved")
            }
            try await scene.waitForCompletion(of: "cmaf")
            let assets = try await scene.weir.run(["list", "--json"]).output
            #expect(assets.split(separator: "\n").count == 1)
            // Weir's own URL means the same asset.
            try await mpv.command(["loadfile", "http://localhost:\(await scene.weir.port)/offline/cmaf.m3u8"])
            try await waitUntil("the other URL") {
                let path = try await mpv.get("path") as? String
                let isShown = try await mpv.get("vo-configured") as? Bool
                return isShown == true && path?.hasSuffix("/offline/cmaf.m3u8") == true
            }
            try await mpv.command(["keypress", "Ctrl+d"])
            // A busy daemon may still look whether everything is stored.
            try await waitUntil("a word about that") {
                let words = mpv.process.standardOutput.components(separatedBy: "[weir] ").dropFirst()
                return words.count { $0.hasPrefix("downloading cmaf") || $0.hasPrefix("cmaf is saved") } == 2
            }
            #expect(try await scene.weir.run(["list", "--json"]).output.split(separator: "\n").count == 1)
        }
    }

    /// Player events in the access log.
    private func log(_ weir: WeirProcess) async throws -> [[String: Any]] {
        try await weir.run(["log", "--format", "json"]).output.split(separator: "\n").compactMap {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    private func sum(_ key: String, _ events: [[String: Any]]) -> Double {
        events.reduce(0) { $0 + ($1[key] as? Double ?? 0) }
    }

    @Test(
        "reports mpv's own data: stalls, their number, dropped frames, startup time")
    func reportsPlayerData() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*/2.ts") { $0.pauseAfter = 1000 })
            let mpv = try MPV([scene.origin.master("ts"), "--no-audio", "--end=6"], scene.weir)
            try await waitUntil("word of the stall", within: .seconds(60)) {
                let events = try await log(scene.weir)
                return sum("stalls", events) == 1 && sum("stallTime", events) > 0
            }
            #expect(try await mpv.get("paused-for-cache") as? Bool == true)
            let position = try #require(try await mpv.get("time-pos") as? Double)
            try await scene.origin.clearRules()
            try await scene.origin.release()
            #expect(try await mpv.process.end(within: .seconds(60)) == .code(0), "\(mpv.process.standardOutput)")
            // The last report arrives after mpv has quit.
            try await waitUntil("the end") { try await sum("watched", log(scene.weir)) > 5 }
            let events = try await log(scene.weir)
            #expect(sum("stalls", events) == 1 && sum("stallTime", events) > 0.2, "\(events)")
            #expect(sum("watched", events) < 6.5 && position > 2 && position < 5, "\(position) \(events)")
            #expect(events.allSatisfy { $0["framesDropped"] as? Int != nil })
            #expect(events[0]["startup"] as? Double ?? 0 > 0)
            let inferred = events.compactMap { $0["inferred"] as? [String] }
            #expect(inferred.allSatisfy { $0 == ["startOffset", "uri"] }, "\(inferred)")
            let kpis = try await scene.weir.run(["log", "--kpi", "--wide"]).output
            #expect(kpis.contains("DROPPED") && !kpis.contains("error"))
            let told = try await scene.origin.requests().flatMap(\.headers.keys).filter { $0.hasPrefix("cmcd") }
            #expect(told.isEmpty)
        }
    }

    @Test("writes nothing into the terminal after mpv, whatever becomes of its last report")
    func isSilentAtTheEnd() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let mark = folder.path("reported")
            let refusal = "if [ \"$1\" = report ]; then echo refused >&2; echo 1 >'\(mark)'; exit 66; fi"
            let program = try Self.script(folder, "\(refusal)\nexec '\(Repository.builtProgram("weir"))' \"$@\"")
            let mpv = try MPV([scene.origin.master("ts"), "--untimed", "--no-audio"], scene.weir, ["program": program])
            #expect(try await mpv.process.end(within: .seconds(60)) == .code(0))
            try await waitUntil("the last report") { FileManager.default.fileExists(atPath: mark) }
            #expect(!(mpv.process.standardOutput + mpv.process.standardError).contains("refused"))
        }
    }

    @Test("shows why a download is refused")
    func showsRefusal() async throws {
        try await Scene.with { scene in
            let mpv = try MPV([scene.origin.master("ts"), "--pause", "--idle=yes", "--keep-open=yes"], scene.weir)
            try await waitUntil("the first picture") { try await mpv.get("vo-configured") as? Bool == true }
            try await scene.weir.kill()
            try await mpv.command(["keypress", "Ctrl+d"])
            try await waitUntil("the reason") { mpv.process.standardOutput.contains("[weir] no daemon answers at ") }
            try await mpv.command(["stop"])
            // mpv is idle before the script has sent its last report.
            try await waitUntil("nothing") { try await mpv.get("stream-open-filename") == nil }
            try await mpv.command(["keypress", "Ctrl+d"])
            try await waitUntil("the answer") {
                mpv.process.standardOutput.contains("[weir] this is not a stream that can be downloaded")
            }
        }
    }
}
