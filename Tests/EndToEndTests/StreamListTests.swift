import Foundation
import TestSupport
import Testing

/// Lists of URLs and channel lists, with the real program.
@Suite("Lists of streams")
struct StreamListTests {
    private func channels(_ scene: Scene) -> String {
        """
        #EXTM3U x-tvg-url="http://epg.example/"
        #EXTINF:-1 tvg-id="one.tv" tvg-logo="http://logo.example/1.png" group-title="News, world",One
        #EXTVLCOPT:http-user-agent=TV/1
        #EXTVLCOPT:http-referrer=https://site.example/
        \(scene.origin.master("ts"))
        #EXTINF:-1,Zwei
        \(scene.origin.master("cmaf"))|X-Key=k%201
        #EXTINF:-1,Zwei
        \(scene.origin.master("aes"))
        #EXTINF:-1,Новости
        \(scene.origin.url("/news/master.m3u8"))
        #EXTINF:-1,A film
        \(scene.origin.url("/film.mp4"))
        #EXTINF:-1,Another
        rtmp://host/live
        """
    }

    @Test("of channels become streams with titles, groups and header fields, which play by name, after a restart too")
    func channelList() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let file = try folder.write(Data(channels(scene).utf8), to: "channels.m3u")
            let added = try await scene.weir.run(["add", "-i", file])
            #expect(added.output == "4 streams added to the streams file, 2 streams left out\n", "\(added)")
            #expect(
                added.exit == .code(65)
                    && added.errors.contains("\(file):13: \"A film\" is left out: its URL is that of an MP4 file")
                    && added.errors.contains("\(file):15: \"Another\" is left out: "), "\(added.errors)")
            #expect(try await scene.origin.requests().isEmpty)
            let again = try await scene.weir.run(["add", "--input", file])
            #expect(again.output == "4 streams known already, 2 streams left out\n", "\(again)")
            for isRestarted in [false, true] {
                if isRestarted {
                    try await scene.weir.restart()
                }
                let list = try await HTTPProbe.fetch(scene.weir.url("/weir.m3u"))
                let base = "http://127.0.0.1:\(await scene.weir.port)"
                #expect(
                    list.status == 200
                        && list.text.contains(
                            "#EXTINF:-1 tvg-id=\"one.tv\" tvg-logo=\"http://logo.example/1.png\" group-title=\"News, world\",One\n\(base)/one.m3u8\n"
                        ), "\(list.text)")
                for name in ["zwei", "zwei-2", "%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8"] {
                    #expect(list.text.contains("\n\(base)/\(name).m3u8\n"))
                }
                let shown = try await scene.weir.run(["list", "--json"]).output
                #expect(shown.contains("\"group\":\"News, world\"") && !shown.contains("TV/1"), "\(shown)")
            }
            #expect(try await scene.weir.run(["get", "one", "-q", "worst"]).exit == .code(0))
            #expect(try await scene.weir.run(["get", "zwei", "-q", "worst"]).exit == .code(0))
            for request in try await scene.origin.requests() where request.path.hasPrefix("/ts/") {
                #expect(request.headers["user-agent"] == "TV/1", "\(request.path)")
                #expect(request.headers["referer"] == "https://site.example/", "\(request.path)")
            }
            // A field whose name looks secret stays with the playlist's host.
            #expect(
                try await scene.origin.requests().filter { $0.path.hasPrefix("/cmaf/") }
                    .allSatisfy { $0.headers["x-key"] == "k 1" })
            let list = try await HTTPProbe.fetch(scene.weir.url("/weir.m3u")).text
            #expect(list.contains(",One\n") && !list.contains("#EXTINF:-1 tvg-id=\"one"), "\(list)")
        }
    }

    @Test("of channels at a URL are added, found, hidden, and known after a restart")
    func listAtURL() async throws {
        try await Scene.with { scene in
            let text = channels(scene)
            try await scene.origin.add(OriginRule("/tv.m3u") { ($0.status, $0.body) = (200, text) })
            let url = scene.origin.url("/tv.m3u")
            let refused = try await scene.weir.run(["add", url, "-q", "720p"])
            #expect(refused.exit == .code(64) && refused.errors.contains("that of a channel list"), "\(refused)")
            let added = try await scene.weir.run(["add", url, "--name", "tv"])
            #expect(added.output.hasPrefix("tv: 4 channels, 2 left out, which are no HLS, read "), "\(added)")
            let found = try await scene.weir.run(["list", "--channels", "NEWS"])
            #expect(found.output.contains("one.tv") && found.output.hasSuffix("1 channel\n"), "\(found)")
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
            #expect(try await scene.weir.run(["remove", "zwei", "--yes"]).exit == .code(0))
            #expect(try await scene.weir.run(["get", "one", "-q", "worst"]).exit == .code(0))
            try await scene.weir.restart()
            let list = try await HTTPProbe.fetch(scene.weir.url("/weir.m3u")).text
            #expect(list.hasPrefix("#EXTM3U url-tvg=\"http://epg.example/\""))
            #expect(list.contains("tvg-id=\"one.tv\""), "\(list)")
            #expect(list.contains("/zwei-2.m3u8\n") && !list.contains("/zwei.m3u8\n"), "\(list)")
            try await scene.origin.clearRules()
            let failed = try await scene.weir.run(["add", url])
            #expect(failed.exit != .code(0), "\(failed)")
            let status = try await scene.weir.run(["status"]).output
            #expect(status.contains("tv  3 channels, 1 hidden, 2 left out"), "\(status)")
        }
    }

    @Test("of channels that take long to read do not delay a start: all else is served meanwhile")
    func slowList() async throws {
        try await Scene.with { scene in
            let text = channels(scene)
            try await scene.origin.add(OriginRule("/tv.m3u") { ($0.status, $0.body) = (200, text) })
            #expect(try await scene.weir.run(["add", scene.origin.url("/tv.m3u"), "--name", "tv"]).exit == .code(0))
            #expect(try await scene.weir.run(["get", "one", "-q", "worst"]).exit == .code(0))
            try await scene.weir.kill()
            // Whoever opens a named pipe waits for its writer.
            let file = scene.weir.state + "/lists/tv.m3u"
            let stored = try Data(contentsOf: URL(filePath: file))
            try FileManager.default.removeItem(atPath: file)
            #expect(mkfifo(file, 0o600) == 0)

            try await scene.weir.start()
            #expect(try await HTTPProbe.fetch(scene.weir.url("/one.m3u8")).status == 200)
            #expect(try await scene.weir.run(["list"]).output.contains("one"))
            async let channel = HTTPProbe.fetch(scene.weir.url("/zwei.m3u8"))
            async let shown = scene.weir.run(["show", "zwei-2"])
            try await Task.detached { try stored.write(to: URL(filePath: file)) }.value
            #expect(try await channel.status == 200)
            #expect(try await shown.exit == .code(0))
        }
    }

    @Test("of channels at a URL are removed by name, and their channels are hidden, each with words for what it is")
    func removal() async throws {
        try await Scene.with { scene in
            let text = channels(scene)
            try await scene.origin.add(OriginRule("/tv.m3u") { ($0.status, $0.body) = (200, text) })
            #expect(try await scene.weir.run(["add", scene.origin.url("/tv.m3u"), "--name", "tv"]).exit == .code(0))
            #expect(try await scene.weir.run(["get", "one", "-q", "worst"]).exit == .code(0))
            let hidden = try await scene.weir.run(["remove", "zwei", "--yes"])
            #expect(hidden.output == "zwei is hidden: the list tv shows it no more\n", "\(hidden)")
            let stored = try await scene.weir.run(["remove", "one", "--yes"])
            #expect(stored.output.hasPrefix("removed one, "), "\(stored)")
            #expect(stored.output.hasSuffix("; the list tv shows it no more\n"), "\(stored)")
            #expect(try await scene.weir.run(["remove", "one", "--yes"]).exit == .code(66))
            // A channel whose asset has another name.
            let url = scene.origin.master("aes")
            #expect(try await scene.weir.run(["get", url, "-q", "worst", "--name", "mine"]).exit == .code(0))
            let both = try await scene.weir.run(["remove", "zwei-2", "--yes"])
            #expect(both.output.hasPrefix("removed mine, "), "\(both)")

            let unsure = try await scene.weir.run(["remove", "tv"])
            #expect(unsure.exit == .code(64) && unsure.errors.contains("tv was not removed: nobody"), "\(unsure)")
            let removed = try await scene.weir.run(["remove", "tv", "--yes"])
            #expect(removed.output == "removed the channel list tv; assets of its channels stay\n", "\(removed)")
            #expect(try await scene.weir.run(["list", "--channels"]).output == "")
            let again = try await scene.weir.run(["remove", "tv", "--yes"])
            #expect(again.exit == .code(66) && again.errors.contains("there is no asset named tv"), "\(again)")
        }
    }

    @Test("of URLs have options behind them, and may come from standard input")
    func urls() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let text = """
                # mine
                \(scene.origin.master("ts")) --name 'first' --title "The \\"first\\"" -q 90p

                \(scene.origin.url("/nothing.m3u8"))
                \(scene.origin.master("cmaf"))
                \(scene.origin.master("aes")) --nmae x
                """
            let file = try folder.write(Data(text.utf8), to: "list")
            let added = try await scene.weir.run(["add", "-i", file, "-q", "worst", "--paused", "--header", "X-A: 1"])
            #expect(added.exit == .code(76), "\(added)")
            #expect(added.output.split(separator: "\n").count == 2 && added.output.contains("The \"first\""))
            #expect(added.errors.contains("weir: \(file):4: ") && added.errors.contains("404"), "\(added.errors)")
            #expect(
                added.errors.contains("weir: \(file):6: ") && added.errors.contains("--nmae"), "\(added.errors)")
            #expect(try await scene.origin.requests().allSatisfy { $0.headers["x-a"] == "1" })
            let list = try await scene.weir.run(["list"]).output
            #expect(list.contains("first") && list.contains("cmaf") && list.contains("paused"), "\(list)")
            // Adding a download again is no error.
            let two = try await scene.weir.run(["add", "first", scene.origin.master("cmaf")])
            #expect(two.exit == .code(0) && two.output.split(separator: "\n").count == 2, "\(two)")
            let words = [Repository.builtProgram("weir"), scene.weir.state, scene.origin.master("aes")]
            let piped = try await ProcessRunner.run(
                "sh", ["-c", "echo \"$2 -q worst --name piped\" | \"$0\" add - --state \"$1\""] + words)
            #expect(piped.exit == .code(0), "\(piped)")
            try await scene.waitForCompletion(of: "piped")
        }
    }

    @Test("that are an HLS playlist, missing or contradictory are refused")
    func refusals() async throws {
        try await Scene.with { scene in
            let playlist = Repository.path("fixtures/media/ts/master.m3u8")
            for (words, exit, text) in [
                (["-i", playlist], 65, "is the HLS playlist of one stream, and no list of streams"),
                (["-i", "/none.m3u"], 66, "/none.m3u cannot be read"), ([], 64, "Give a URL, a name, - for"),
                (["a", "b", "--name", "c"], 64, "--name is for one URL"),
                (["-", "-i", "-"], 64, "Standard input can be read only once"),
            ] {
                let result = try await scene.weir.run(["add"] + words)
                #expect(result.exit == .code(Int32(exit)) && result.errors.contains(text), "\(words): \(result)")
            }
        }
    }

    @Test(
        "do not hide what is no HLS",
        arguments: [
            (
                "/a/manifest", "<?xml version=\"1.0\"?><MPD type=\"static\"></MPD>", "an MPEG-DASH manifest",
                "Weir plays HLS only"
            ),
            (
                "/film.mp4", "\0\0\0\u{18}ftypmp42\0\0\0\0", "an MP4 file",
                "it is one file, which needs no HLS: mpv http"
            ),
            ("/watch", "<!DOCTYPE html><html><body>x</body></html>", "HTML", "this is a web page: with pages = "),
        ])
    func foreign(path: String, body: String, name: String, next: String) async throws {
        try await Scene.with { scene in
            try await scene.origin.add(
                OriginRule(path) { ($0.status, $0.body, $0.contentType) = (200, body, "text/plain") })
            for command in ["get", "add"] {
                let result = try await scene.weir.run([command, scene.origin.url(path)])
                #expect(result.exit == .code(76), "\(result)")
                #expect(result.errors.contains("gave \(name)") && result.errors.contains("\ntry: \(next)"), "\(result)")
            }
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
        }
    }
}
