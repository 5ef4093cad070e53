import Foundation
import Glibc
import TestSupport
import Testing

/// The user's handlers, from the configuration file to the player's frames.
@Suite("A handler")
struct HandlerTests {
    /// A daemon whose configuration has a table of handlers. Each program is a script that gets the URL as `$2`.
    private func scene(
        _ table: (TemporaryFolder, TestOrigin) throws -> String, _ body: (Scene, TemporaryFolder) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("weir.toml")
        try await Scene.with(options: ["--config", file, "--allow-hosts", "127.0.0.1"], isStarted: false) { scene in
            try folder.write(Data(("[handlers]\n" + table(folder, scene.origin)).utf8), to: "weir.toml")
            try await scene.weir.start()
            try await body(scene, folder)
        }
    }

    private func script(_ folder: TemporaryFolder, _ name: String, _ text: String) throws -> String {
        try folder.write(Data(("#!/bin/sh\n" + text).utf8), to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path(name))
        return folder.path(name)
    }

    @Test("plays and stores a scheme of the user's, by name and by URL")
    func scheme() async throws {
        try await scene { folder, origin in
            let path = try script(
                folder, "h", "printf '{\"url\":\"\(origin.url("/ts/90p/media.m3u8"))\",\"title\":\"The Film\"}'")
            return "myscheme = [\"\(path)\"]\n"
        } _: { scene, _ in
            let got = try await scene.weir.run(["get", "myscheme://playlist", "--name", "film"])
            #expect(got.exit == .code(0), "\(got.errors)")
            #expect(try await scene.weir.run(["show", "film"]).output.contains("myscheme://playlist"))
            #expect(try await scene.weir.run(["show", "film"]).output.contains("The Film"))
            let direct = try await FrameHashes.of(scene.origin.url("/ts/90p/media.m3u8"))
            for path in ["/offline/film.m3u8", "/myscheme://playlist"] {
                #expect(try await FrameHashes.of(scene.weir.url(path)).firstDifference(from: direct) == nil, "\(path)")
            }
        }
    }

    @Test("answers a local folder and its keys, if playlists may ask it")
    func folder() async throws {
        let media = Repository.path("fixtures/media/aes")
        try await scene { folder, _ in
            let path = try script(folder, "h", "exec cat \"\(media)/${2#local://films/}\"")
            return "local = { command = [\"\(path)\"], from-playlists = true }\n"
        } _: { scene, _ in
            let got = try await scene.weir.run(["get", "local://films/90p/media.m3u8", "--name", "film"])
            #expect(got.exit == .code(0), "\(got.errors)")
            let direct = try await FrameHashes.of(scene.origin.url("/aes/90p/media.m3u8"))
            #expect(try await FrameHashes.of(scene.weir.url("/offline/film.m3u8")).firstDifference(from: direct) == nil)
            #expect(try await scene.origin.requests().allSatisfy { !($0.headers["user-agent"] ?? "").contains("Weir") })
        }
    }

    @Test("answers no URL of a playlist without leave")
    func playlists() async throws {
        try await scene { folder, _ in
            "skd = [\"\(try script(folder, "h", "touch \(folder.path("ran")); printf 0123456789abcdef"))\"]\n"
        } _: { scene, folder in
            let text =
                "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=AES-128,URI=\"skd://key\"\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n"
            try await scene.origin.add(OriginRule("/ts/90p/k.m3u8") { ($0.status, $0.body) = (200, text) })
            let got = try await scene.weir.run(["get", scene.origin.url("/ts/90p/k.m3u8")])
            #expect(got.exit != .code(0) && got.errors.contains("skd"), "\(got.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.path("ran")))
        }
    }

    /// yt-dlp in PATH is a script that notes its arguments.
    @Test("for web pages is yt-dlp with the key pages, without a shell, for URLs of the user alone")
    func pages() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        try await Scene.with(options: ["--allow-hosts", "127.0.0.1"], isStarted: false) { scene in
            _ = try script(
                folder, "yt-dlp",
                "printf '%s\\n' \"$@\" >>\(folder.path("words"))\n"
                    + "printf '{\"manifest_url\":\"\(scene.origin.master("ts"))\",\"title\":\"The Film\"}\\n'")
            try await scene.origin.add(
                OriginRule("/watch*") { ($0.status, $0.body) = (200, "<!doctype html><p>Hi</p>") })
            let page = scene.origin.url("/watch?v=$(touch%20x)")
            let words = { (try? String(contentsOfFile: folder.path("words"), encoding: .utf8)) ?? "" }

            try await scene.weir.start(wrapper: ["env", "PATH=\(path)"])
            let refused = try await scene.weir.run(["get", page, "-q", "worst"])
            #expect(refused.exit == .code(76) && refused.errors.contains("pages = \"yt-dlp\""), "\(refused.errors)")
            #expect(words().isEmpty)
            try await scene.weir.terminate()

            try await scene.weir.start(wrapper: ["env", "PATH=\(path)"], options: ["--pages", "yt-dlp"])
            let got = try await scene.weir.run(["get", page, "-q", "worst", "--name", "film"])
            #expect(got.exit == .code(0), "\(got.errors)")
            #expect(words().hasSuffix("--\n\(page)\n") && words().contains("--no-exec\n"), "\(words())")
            #expect(try await scene.weir.run(["show", "film"]).output.contains("The Film"))
            let direct = try await FrameHashes.of(scene.origin.url("/ts/90p/media.m3u8"))
            #expect(try await FrameHashes.of(scene.weir.url("/offline/film.m3u8")).firstDifference(from: direct) == nil)
        }
    }

    @Test("for web pages is not run for a page that a playlist names, and its failure is said")
    func pagesOfPlaylists() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        try await Scene.with(options: ["--pages", "yt-dlp"], isStarted: false) { scene in
            _ = try script(folder, "yt-dlp", "touch \(folder.path("ran")); echo 'ERROR: no film here' >&2; exit 1")
            try await scene.origin.add(
                OriginRule("/page*") { ($0.status, $0.body) = (200, "<!doctype html><p>Hi</p>") })
            let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n/page.m3u8\n"
            try await scene.origin.add(OriginRule("/m.m3u8") { ($0.status, $0.body) = (200, master) })
            try await scene.weir.start(wrapper: ["env", "PATH=\(path)"])
            let named = try await scene.weir.run(["get", scene.origin.url("/m.m3u8")])
            #expect(
                named.exit != .code(0) && !FileManager.default.fileExists(atPath: folder.path("ran")), "\(named.errors)"
            )
            let own = try await scene.weir.run(["get", scene.origin.url("/page")])
            #expect(own.exit != .code(0) && own.errors.contains("ERROR: no film here"), "\(own.errors)")
        }
    }

    @Test("for a pattern answers what the user typed, with its header fields")
    func pattern() async throws {
        try await scene { folder, origin in
            let path = try script(
                folder, "h",
                "printf '{\"url\":\"\(origin.url("/ts/90p/media.m3u8"))\",\"headers\":{\"Referer\":\"https://page/\",\"X-Token\":\"t1\"}}'"
            )
            return "\"\(origin.url("/watch"))*\" = [\"\(path)\"]\n"
        } _: { scene, _ in
            let got = try await scene.weir.run(["get", scene.origin.url("/watch?v=1"), "--name", "film"])
            #expect(got.exit == .code(0), "\(got.errors)")
            let requests = try await scene.origin.requests()
            #expect(!requests.contains { $0.path.hasPrefix("/watch") } && requests.count >= 7)
            for request in requests where request.path.hasPrefix("/ts/") {
                #expect(
                    request.headers["referer"] == "https://page/" && request.headers["x-token"] == "t1",
                    "\(request.path)")
            }
        }
    }

    @Test("is not run again at each reload of a live playlist, but when the origin refuses its URL")
    func live() async throws {
        try await scene { folder, origin in
            let count = folder.path("count")
            let path = try script(
                folder, "h",
                "echo x >>\(count); printf '{\"url\":\"\(origin.url("/_live/show/media.m3u8"))?n=%s\"}' $(wc -l <\(count))"
            )
            return "live = [\"\(path)\"]\n"
        } _: { scene, folder in
            let runs = { (try? String(contentsOfFile: folder.path("count"), encoding: .utf8))?.count ?? 0 }
            let reloads = { (n: Int) in
                try await scene.origin.requests().count { $0.path.hasSuffix("media.m3u8?n=\(n)") }
            }
            try await waitUntil("three reloads", within: .seconds(40)) {
                #expect(try await HTTPProbe.fetch(scene.weir.url("/live://show")).status == 200)
                return try await reloads(1) >= 3
            }
            #expect(runs() == 2)
            try await scene.origin.add(OriginRule("*media.m3u8?n=1") { $0.status = 403 })
            try await waitUntil("the new URL", within: .seconds(40)) {
                _ = try await HTTPProbe.fetch(scene.weir.url("/live://show"))
                return try await reloads(2) >= 2
            }
            #expect(runs() == 4)
        }
    }

    @Test("gives keys that expire at its date")
    func keyExpiry() async throws {
        let media = Repository.path("fixtures/media/aes")
        try await scene { folder, _ in
            let path = try script(
                folder, "h",
                "printf '{\"content\":\"%s\",\"expires\":\"2999-01-02T03:04:05Z\"}' $(base64 -w0 \"\(media)/keys/${2##*/}\")"
            )
            return "skd = { command = [\"\(path)\"], from-playlists = true }\n"
        } _: { scene, _ in
            let fixture = String(decoding: try Repository.fixture("/aes/90p/media.m3u8"), as: UTF8.self)
            let text = fixture.replacingOccurrences(of: "../keys/", with: "skd://keys/")
            try await scene.origin.add(
                OriginRule("/aes/90p/k.m3u8") { ($0.status, $0.body) = (200, text) })
            let got = try await scene.weir.run(["get", scene.origin.url("/aes/90p/k.m3u8"), "--name", "film"])
            #expect(got.exit == .code(0), "\(got.errors)")
            let keys = try await scene.weir.run(["keys", "film"])
            #expect(keys.output.contains("2999-01-0"), "\(keys.output)")
        }
    }

    /// The page that the user typed is the playlist, but for its header fields.
    @Test("may answer with the same URL")
    func same() async throws {
        try await scene { folder, origin in
            let path = try script(folder, "h", "printf '{\"url\":\"%s\",\"headers\":{\"X-Token\":\"t1\"}}' \"$2\"")
            return "\"\(origin.url("/ts/90p/media"))*\" = [\"\(path)\"]\n"
        } _: { scene, _ in
            let got = try await scene.weir.run(["get", scene.origin.url("/ts/90p/media.m3u8"), "--name", "film"])
            #expect(got.exit == .code(0), "\(got.errors)")
            let requests = try await scene.origin.requests()
            #expect(requests.count >= 7 && requests.allSatisfy { $0.headers["x-token"] == "t1" })
        }
    }

    /// A secret field is for the host that the handler named, not for the one to which that redirects.
    @Test("gives its secret fields to the host of its URL alone")
    func secrets() async throws {
        let other = try await TestOrigin()
        try await scene { folder, origin in
            let path = try script(
                folder, "h",
                "printf '{\"url\":\"\(origin.url("/go"))\",\"headers\":{\"Referer\":\"https://page/\",\"X-Token\":\"t1\"}}'"
            )
            return "film = [\"\(path)\"]\n"
        } _: { scene, _ in
            let target = other.url("/ts/90p/media.m3u8")
            try await scene.origin.add(OriginRule("/go") { $0.redirect = target })
            let got = try await scene.weir.run(["get", "film://a", "--name", "film"])
            #expect(got.exit == .code(0), "\(got.errors)")
            #expect(try await scene.origin.requests().allSatisfy { $0.headers["x-token"] == "t1" })
            let requests = try await other.requests()
            #expect(requests.count >= 7)
            for request in requests {
                #expect(
                    request.headers["x-token"] == nil && request.headers["referer"] == "https://page/",
                    "\(request.path)")
            }
        }
    }

    @Test("that fails is explained, and a scheme without one")
    func failure() async throws {
        try await scene { folder, _ in
            "bad = [\"\(try script(folder, "h", "echo no such film >&2; exit 4"))\"]\n"
        } _: { scene, _ in
            let bad = try await scene.weir.run(["get", "bad://film"])
            #expect(
                bad.exit == .code(76) && bad.errors.contains("exit code 4: no such film"), "\(bad.exit) \(bad.errors)")
            let none = try await scene.weir.run(["get", "none://film"])
            #expect(none.exit != .code(0) && none.errors.contains("[handlers]"), "\(none.errors)")
            #expect(try await HTTPProbe.fetch(scene.weir.url("/none://film")).status == 403)
        }
    }

    /// True while a process runs: one that nobody has awaited is a zombie.
    private func runs(_ process: String) -> Bool {
        let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        return text.split(separator: ")").last.map { !$0.hasPrefix(" Z") && !$0.hasPrefix(" X") } ?? false
    }

    @Test("ends with its daemon, whose end is orderly or not", arguments: [SIGTERM, SIGKILL])
    func endsWithTheDaemon(signal: Int32) async throws {
        try await scene { folder, _ in
            let text =
                "sleep 300 & echo $! >\(folder.path("child")).new; echo $$ >\(folder.path("own"))\n"
                + "mv \(folder.path("child")).new \(folder.path("child")); wait"
            return "skd = [\"\(try script(folder, "h", text))\"]\n"
        } _: { scene, folder in
            let getting = try scene.weir.begin(["get", "skd://film", "--name", "film"])
            try await waitUntil("the program") { FileManager.default.fileExists(atPath: folder.path("child")) }
            let processes = try ["own", "child"].map { name in
                try String(contentsOfFile: folder.path(name), encoding: .utf8).trimmingCharacters(in: .newlines)
            }
            #expect(processes.allSatisfy(runs))
            if signal == SIGKILL {
                try await scene.weir.kill()
            } else {
                try await scene.weir.terminate()
            }
            try await waitUntil("the end of the program and of its child") { !processes.contains(where: runs) }
            getting.send(SIGKILL)
            _ = try await getting.end()
        }
    }
}
