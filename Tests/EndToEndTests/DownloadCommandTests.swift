import Foundation
import TestSupport
import Testing

@Suite("Download commands:")
struct DownloadCommandTests {
    private func objects(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// The asset's line of `weir list --json`.
    private func state(_ name: String, _ scene: Scene) async throws -> String? {
        let assets = try objects(try await scene.weir.run(["list", "--json"]).output)
        return assets.first { $0["name"] as? String == name }?["state"] as? String
    }

    private func waitFor(_ wanted: String, _ name: String, _ scene: Scene) async throws {
        try await waitUntil("\(name) \(wanted)") { try await state(name, scene) == wanted }
    }

    @Test("get takes the next best quality if the best one is gone, says so, and exits with 3")
    func takesNextBestQuality() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/ts/270p/media.m3u8") { $0.status = 404 })
            let get = try await scene.get("ts", ["-q", "best"])
            #expect(get.exit == .code(3), "\(get.errors)")
            #expect(get.errors.contains("/ts/270p/media.m3u8 was not found (404)"))
            #expect(get.errors.contains("the next best quality is downloaded\ntry: weir get ts"))
            #expect(try await state("ts", scene) == "saved")
            let again = try await scene.weir.run(["get", "ts", "-q", "best", "--json"])
            #expect(again.exit == .code(3) && again.output.contains(#""reasons":["quality"],"exit":3}"#), "\(again)")
            let offline = try await HTTPProbe.fetch(await scene.weir.url("/offline/ts.m3u8")).text
            #expect(offline.contains("/video-180p/") && !offline.contains("/video-270p/"))
        }
    }

    @Test("get names the host of a URL that is not answered at once, and add does", arguments: ["get", "add"])
    func namesWhatItWaitsFor(command: String) async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/ts/master.m3u8*") { $0.hold = true })
            let waiting = try scene.weir.begin([command, scene.origin.master("ts") + "?token=secret", "--name", "ts"])
            try await waitUntil("the notice") { waiting.standardError.contains("waiting for 127.0.0.1\n") }
            try await scene.origin.clearRules()
            try await scene.origin.release()
            #expect(try await waiting.end() == .code(0))
            #expect(!waiting.standardError.contains("secret"))
        }
    }

    @Test("a paused download stays paused after a kill, and resumes from its stored part")
    func keepsPauseAfterKill() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/ts/270p/[345].ts") { $0.hold = true })
            #expect(try await scene.weir.run(["add", scene.origin.master("ts")]).exit == .code(0))
            try await scene.waitForPieces(3)
            let pause = try await scene.weir.run(["pause", "ts"])
            #expect(pause.exit == .code(0) && pause.output == "ts  paused\n", "\(pause)")
            try await scene.weir.restart()
            #expect(try await state("ts", scene) == "paused")
            #expect(try await scene.weir.run(["list"]).output.contains("paused, "))
            try await scene.origin.clearRules()
            try await scene.origin.release()
            try await scene.origin.clearRequests()
            #expect(try await scene.weir.run(["resume", "--all"]).output.hasPrefix("ts  "))
            try await waitFor("saved", "ts", scene)
            let fetched = try await scene.mediaRequests().map(\.path).filter { $0.hasSuffix(".ts") }
            #expect(fetched.sorted() == ["/ts/270p/3.ts", "/ts/270p/4.ts", "/ts/270p/5.ts"])
            try await expectFrames(scene.weir.url("/offline/ts.m3u8"), ofBestOf: "ts")
        }
    }

    @Test("cancel keeps the stored part, and get continues it")
    func keepsPartOnCancel() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/ts/270p/[345].ts") { $0.hold = true })
            let get = try scene.weir.begin(["get", scene.origin.master("ts")])
            try await scene.waitForPieces(3)
            #expect(try await scene.weir.run(["cancel", "ts"]).output == "ts  cancelled\n")
            #expect(try await get.end() == .code(1))
            #expect(get.standardError.contains("the download of ts was cancelled"))
            #expect(scene.pieces().count == 3)
            // "all" does not include cancelled downloads.
            #expect(try await scene.weir.run(["resume", "--all"]).output == "")
            try await scene.origin.clearRules()
            try await scene.origin.release()
            #expect(try await scene.weir.run(["get", "ts"]).exit == .code(0))
            let fetched = try await scene.mediaRequests().map(\.path)
            for number in 0...2 {
                #expect(fetched.count { $0 == "/ts/270p/\(number).ts" } == 1)
            }
        }
    }

    @Test("five waiting downloads run by priority, one at a time")
    func runsByPriority() async throws {
        try await Scene.with(options: ["--max-downloads", "1"]) { scene in
            try await scene.origin.add(OriginRule("*.ts") { $0.hold = true }, OriginRule("*.m4s") { $0.hold = true })
            for (name, priority) in [
                ("a", "default"), ("b", "default"), ("c", "important"), ("d", "default"), ("e", "important"),
            ] {
                let url = scene.origin.master("ts") + "?\(name)"
                let add = try await scene.weir.run(["add", url, "--name", name, "--priority", priority, "-q", "worst"])
                #expect(add.exit == .code(0), "\(add.errors)")
            }
            #expect(try await state("a", scene) == "downloading")
            for name in ["b", "c", "d", "e"] {
                #expect(try await state(name, scene) == "queued")
            }
            let events = try scene.weir.begin(["events", "--json"])
            try await waitUntil("the snapshot") { !events.standardOutput.isEmpty }
            try await scene.origin.clearRules()
            try await waitUntil("all of them") {
                try await scene.origin.release()
                return events.standardOutput.components(separatedBy: #""t":"complete""#).count == 6
            }
            let order = try objects(events.standardOutput).filter { $0["t"] as? String == "complete" }
                .map { ($0["download"] as? [String: Any])?["asset"] as? String }
            #expect(order == ["a", "c", "e", "b", "d"])
        }
    }

    @Test("a range fetches only its segments, and is shown")
    func downloadsRange() async throws {
        try await Scene.with { scene in
            let get = try await scene.get("ts", ["--range", "4.5-0:07", "--description", "the middle"])
            #expect(get.exit == .code(0), "\(get.errors)")
            let fetched = try await scene.mediaRequests().map(\.path)
            #expect(fetched.sorted() == ["/ts/270p/2.ts", "/ts/270p/3.ts"])
            let show = try await scene.weir.run(["show", "ts"]).output
            #expect(show.contains("\nthe middle\n") && show.contains("download: saved  only 0:04-0:08"), "\(show)")
            #expect(show.contains("\nvideo-270p  100%  0:04 of 0:04"), "\(show)")
            let late = try await scene.get("ts", ["--range", "5:00-"])
            #expect(late.exit == .code(65) && late.errors.contains("12 s"), "\(late.errors)")
            // The rest is added to the stored range.
            #expect(try await scene.get("ts").exit == .code(0))
            #expect(try await scene.repetitions() == [:])
        }
    }

    @Test("without space a download is refused with advice, and with --anyway waits for space")
    func refusesWithoutSpace() async throws {
        try await Scene.with(options: ["--reserve", "100000000"]) { scene in
            let refused = try await scene.get("ts")
            #expect(refused.exit == .code(74) && refused.errors.contains("--anyway"), "\(refused.errors)")
            let get = try await scene.get("ts", ["--anyway"])
            #expect(get.exit == .code(74), "\(get.exit) \(get.errors)")
            #expect(get.errors.contains("ts is waiting for space, and continues by itself"), "\(get.errors)")
            #expect(try await scene.weir.run(["list"]).output.contains("waiting for space"))
        }
    }

    @Test("a download with a refused key waits, and a new link refetches no piece")
    func continuesWithNewLink() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*.key") { $0.status = 403 })
            let get = try await scene.get("aes")
            #expect(get.exit == .code(77), "\(get.exit) \(get.errors)")
            #expect(get.errors.contains("aes is waiting for a key") && get.errors.contains("--url NEW"))
            try await scene.origin.clearRules()
            try await scene.origin.clearRequests()
            let before = scene.pieces()
            let other = try await scene.weir.run(["resume", "aes", "--url", scene.origin.master("ts")])
            #expect(other.exit == .code(65), "\(other.errors)")
            let url = scene.origin.master("aes") + "?fresh"
            #expect(try await scene.weir.run(["resume", "aes", "--url", url]).exit == .code(0))
            try await waitFor("saved", "aes", scene)
            // The bundle's …/video-180p/0.ts is the origin's /aes/180p/0.ts.
            let stored = before.compactMap { $0.components(separatedBy: "/video-").last }.filter { $0.hasSuffix(".ts") }
            #expect(!stored.isEmpty)
            let fetched = try await scene.mediaRequests().map(\.path)
            #expect(fetched.filter { path in stored.contains { path.hasSuffix("/\($0)") } } == [])
        }
    }

    @Test("a store of a newer Weir is refused with 78, and not changed")
    func refusesNewerStore() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts").exit == .code(0))
            try await scene.weir.terminate()
            let path = scene.weir.store + "/catalogue-1.sqlite"
            let sql = "INSERT INTO grdb_migrations VALUES ('99'); PRAGMA wal_checkpoint(TRUNCATE)"
            let change = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])"
            #expect(try await ProcessRunner.run("python3", ["-c", change, path, sql]).exit == .code(0))
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let serve = try await scene.weir.run(["serve", "--listen", "127.0.0.1:0", "--store", scene.weir.store])
            #expect(serve.exit == .code(78), "\(serve.exit) \(serve.errors)")
            #expect(serve.errors.contains("a newer Weir") && serve.errors.contains("step 99"), "\(serve.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            let left = try FileManager.default.contentsOfDirectory(atPath: scene.weir.store)
            #expect(!left.contains { $0.contains("broken") })
        }
    }

    @Test("artwork from a file is stored with the asset, and other files are refused before the download")
    func storesArtwork() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            // Larger than the body limit of other requests.
            let image = Data(
                [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 7, count: 3_000_000))
            let (cover, text) = (
                try folder.write(image, to: "cover"), try folder.write(Data("hello".utf8), to: "text.png")
            )
            let refused = try await scene.get("ts", ["--artwork", text])
            #expect(refused.exit == .code(65) && refused.errors.contains("JPEG, PNG or WebP"), "\(refused.errors)")
            #expect(try await scene.get("ts", ["--artwork", folder.path("none")]).exit == .code(66))
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
            let get = try await scene.get("ts", ["--artwork", cover])
            #expect(get.exit == .code(0), "\(get.errors)")
            try await scene.weir.restart()
            let token = try String(contentsOfFile: scene.weir.state + "/token", encoding: .utf8)
            let fields = ["Authorization": "Bearer " + token.trimmingCharacters(in: .whitespacesAndNewlines)]
            let url = await scene.weir.url("/api/v1/assets/ts/artwork")
            let answer = try await HTTPProbe.fetch(url, fields: fields)
            #expect(answer.status == 200 && answer["content-type"] == "image/png" && answer.body == image)
            // A long body without authorization is refused before it is received.
            let stranger = try RawConnection(port: await scene.weir.port)
            let authority = await scene.weir.address.dropFirst("http://".count)
            try await stranger.send(
                "PUT /api/v1/assets/ts/artwork HTTP/1.1\r\nHost: \(authority)\r\nContent-Length: 3000000\r\n\r\n")
            let head = String(decoding: try await stranger.receiveHead().bytes, as: UTF8.self)
            #expect(head.hasPrefix("HTTP/1.1 413 "), "\(head)")
        }
    }

    @Test("header fields are sent to the origin and appear in no response")
    func sendsHeadersToOriginOnly() async throws {
        try await Scene.with { scene in
            let get = try await scene.get("ts", ["--header", "Cookie: hush=1", "--header", "X-Own: hush"])
            #expect(get.exit == .code(0) && !get.errors.contains("hush"))
            let requests = try await scene.origin.requests()
            #expect(requests.allSatisfy { $0.headers["cookie"] == "hush=1" && $0.headers["x-own"] == "hush" })
            for command in [["list", "--json"], ["show", "ts"], ["show", "ts", "--json"]] {
                #expect(try await !scene.weir.run(command).output.contains("hush"))
            }
            #expect(await !scene.weir.log.contains("hush"))
            let refused = try await scene.weir.run(["get", "ts", "--header", "Host: hush"])
            #expect(refused.exit == .code(64) && !refused.errors.contains("hush"), "\(refused.errors)")
        }
    }
}
