import Foundation
import TestSupport
import Testing

@Suite("The commands and a daemon:")
struct CommandTests {
    private func objects(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("get waits for completion and prints how to play; list and show include the asset")
    func getsListsAndShows() async throws {
        try await Scene.with { scene in
            // Held until the first message: the size of data stored by then is not an estimate.
            try await scene.origin.add(OriginRule("*.m4s") { $0.throttle = 100_000 })
            let get = try await scene.get("cmaf", ["--title", "A Title"])
            #expect(get.exit == .code(0) && get.output == "")
            let lines = get.errors.split(separator: "\n")
            let port = await scene.weir.port
            #expect(lines.first?.hasPrefix("A Title  0:12  270p avc1 173 kb/s + audio en   about ") == true, "\(lines)")
            #expect(lines.contains("play now:  mpv http://localhost:\(port)/cmaf.m3u8"))
            #expect(lines.contains { $0.hasPrefix("100%  0:12/0:12  ") })

            let list = try await scene.weir.run(["list"]).output.split(separator: "\n")
            #expect(list.count == 3 && list[0].hasPrefix("NAME"))
            #expect(
                list[1].hasPrefix("cmaf  0:12  270p") && list[2].hasPrefix("1 asset, ")
                    && list[2].hasSuffix(", 1 saved"))
            let show = try await scene.weir.run(["show", "cmaf"]).output
            #expect(show.hasPrefix("cmaf  A Title  0:12  saved, "))
            #expect(show.contains("270p 480x270") && show.contains("90p 160x90") && show.contains("audio fr"))
        }
    }

    @Test("get --json prints the selection, progress, then exactly one result")
    func printsJSONProgress() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*.ts") { $0.throttle = 100_000 })
            let get = try await scene.get("ts", ["--json"])
            #expect(get.exit == .code(0))
            let objects = try objects(get.output)
            #expect(objects.map { $0["t"] as? String ?? "" }.filter { $0 == "result" }.count == 1)
            #expect(objects.allSatisfy { $0["v"] as? Int == 1 })
            // Mission S10, S16 and A5.
            let kinds = objects.dropLast().compactMap { $0["t"] as? String }
            #expect(Array(kinds.prefix(3)) == ["selection-resolved", "selections-further", "progress"], "\(kinds)")
            // Between the end of the last selection and that of the download a segment is compared with the origin's.
            #expect(kinds.filter { $0 == "selection-complete" }.count == 1, "\(kinds)")
            #expect(Set(kinds.dropFirst(2)) == ["progress", "selection-complete"], "\(kinds)")
            #expect(kinds.count == objects.count - 1, "\(kinds)")
            let summary = objects.last?["summary"] as? [String: Any]
            #expect(summary?["requests"] as? Int == 6 && summary?["retries"] as? Int == 0, "\(summary ?? [:])")
            #expect(objects.count > 2)
            let bytes = objects.compactMap { $0["bytes"] as? Int }
            #expect(bytes == bytes.sorted())
            let result = try #require(objects.last)
            #expect(result["t"] as? String == "result" && result["state"] as? String == "complete")
            #expect(result["exit"] as? Int == 0 && result["id"] as? String == "ts")
            #expect((result["loaded"] as? [[Double]]) == [[0, 12]])
            #expect(await result["url"] as? String == "http://localhost:\(scene.weir.port)/ts.m3u8")
            let list = try self.objects(try await scene.weir.run(["list", "--json"]).output)
            #expect(list.map { $0["name"] as? String } == ["ts"] && list[0]["local"] as? String == "yes")
        }
    }

    @Test("Ctrl-C ends get with 130 and the download continues; a second get follows it")
    func detachesOnInterrupt() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*.ts") { $0.pauseAfter = 1000 })
            let first = try scene.weir.begin(["get", scene.origin.master("ts")])
            // The daemon may fetch segments before the command has its answer.
            try await waitUntil("segments under way, and the command's first line") {
                guard first.standardError.contains("play now") else { return false }
                return try await scene.origin.load().paused >= 3
            }
            first.send(SIGINT)
            #expect(try await first.end() == .code(130))
            #expect(first.standardError.contains("detached; the download of ts continues in the daemon"))
            #expect(first.standardError.contains("weir get ts"))

            let second = try scene.weir.begin(["get", "ts"])
            let third = try scene.weir.begin(["get", scene.origin.master("ts"), "--json"])
            try await waitUntil("their progress") {
                second.standardError.contains("play now") && third.standardOutput.contains("progress")
            }
            try await scene.origin.clearRules()
            try await waitUntil("the end") {
                try await scene.origin.release()
                return second.exit != nil && third.exit != nil
            }
            #expect(second.exit == .code(0) && third.exit == .code(0))
            #expect(try await scene.repetitions() == [:])
            #expect(try objects(third.standardOutput).filter { $0["t"] as? String == "result" }.count == 1)
        }
    }

    @Test("get waits for an absent origin, and finishes when it is back")
    func waitsForOrigin() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*.ts") { $0.pauseAfter = 1000 })
            let get = try scene.weir.begin(["get", scene.origin.master("ts")])
            try await waitUntil("segments under way") { try await scene.origin.load().paused >= 3 }
            try await scene.origin.stop()
            try await waitUntil("its waiting", within: .seconds(40)) {
                get.standardError.contains("waiting for the network: ")
            }
            try await scene.origin.restart()
            #expect(try await get.end() == .code(0))
            try await expectFrames(scene.weir.url("/offline/ts.m3u8"), ofBestOf: "ts")
        }
    }

    @Test("remove frees disk space and the name; a player gets a clean end")
    func removesWhilePlaying() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts").exit == .code(0))
            let segments = try await PlaylistWalk.segments(PlaylistWalk.segments(scene.weir.url("/ts.m3u8"))[0])
            let playing = try RawConnection(port: await scene.weir.port)
            let refused = try await scene.weir.run(["remove", "ts"])
            #expect(refused.exit == .code(64) && refused.errors.contains("weir remove ts --yes"))
            #expect(try await HTTPProbe.fetch(segments[0]).status == 200)

            let removal = try await scene.weir.run(["remove", "ts", "--yes"])
            #expect(removal.exit == .code(0) && removal.output.hasPrefix("removed ts, "))
            for segment in segments {
                let answer = try await HTTPProbe.fetch(segment)
                #expect(answer.status == 404 && answer.isComplete && answer.text.hasSuffix(".\n"))
            }
            #expect(try await HTTPProbe.fetch(scene.weir.url("/ts.m3u8")).status == 404)
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
            #expect(try FileManager.default.contentsOfDirectory(atPath: scene.weir.store + "/assets") == [])
            _ = playing
            try await scene.weir.restart()
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
            #expect(try await scene.get("ts").exit == .code(0))
            try await expectFrames(scene.weir.url("/ts.m3u8"), ofBestOf: "ts")
        }
    }

    @Test("remove during a download and a segment ends both cleanly, and leaves no file")
    func removesDuringDownload() async throws {
        try await Scene.with { scene in
            let file = try Repository.fixture("/ts/270p/0.ts")
            try await scene.origin.add(OriginRule("*.ts") { $0.pauseAfter = 10_000 })
            let get = try scene.weir.begin(["get", scene.origin.master("ts")])
            try await waitUntil("segments under way") { try await scene.origin.load().paused >= 3 }
            let player = try await SegmentReader(PlaylistWalk.firstSegment(ofLastVariant: scene.master("ts")))
            _ = try await player.head()
            #expect(try await player.bytes(10_000) == file.prefix(10_000))
            #expect(try await scene.weir.run(["remove", "ts", "--yes"]).exit == .code(0))
            #expect(try await get.end() == .code(66), "\(get.standardError)")
            try await scene.origin.release()
            // A reader of a stored piece can read it to the end.
            #expect(try await player.rest().bytes == file.dropFirst(10_000))
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
            let assets = scene.weir.store + "/assets", incoming = scene.weir.store + "/tmp"
            try await waitUntil("an empty store") {
                try FileManager.default.contentsOfDirectory(atPath: assets).isEmpty
                    && FileManager.default.contentsOfDirectory(atPath: incoming).isEmpty
            }
        }
    }

    @Test("names are derived, made unique, and refused if taken or invalid")
    func choosesNames() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts", ["--name", "my-film"]).exit == .code(0))
            #expect(try await HTTPProbe.fetch(scene.weir.url("/my-film.m3u8")).status == 200)
            let taken = try await scene.get("aes", ["--name", "my-film"])
            #expect(taken.exit == .code(65) && taken.errors.contains("my-film"), "\(taken.exit) \(taken.errors)")
            let none = try await scene.get("aes", ["--name", "../etc"])
            #expect([.code(64), .code(65)].contains(none.exit) && none.errors.contains("../etc"), "\(none.errors)")
            // A URL with another token leads to this asset; another path leads to another one.
            for fixture in ["ts", "aes"] {
                let query = scene.origin.master(fixture) + "?token=secret"
                #expect(try await scene.weir.run(["get", query]).exit == .code(0))
            }
            let list = try await scene.weir.run(["list", "--json"]).output
            #expect(try objects(list).map { $0["name"] as? String } == ["aes", "my-film"])
            #expect(!list.contains("secret"))
        }
    }

    @Test("url and play pass a playable URL to a player")
    func printsAndPlaysURL() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts").exit == .code(0))
            let base = "http://localhost:\(await scene.weir.port)"
            #expect(try await scene.weir.run(["url", "ts"]).output == base + "/ts.m3u8\n")
            #expect(try await scene.weir.run(["url", "ts", "--offline"]).output == base + "/offline/ts.m3u8\n")
            let master = scene.origin.master("ts")
            // Its best quality is stored. Of the other one nothing is.
            #expect(try await scene.weir.run(["url", master]).output == base + "/ts.m3u8\n")
            let other = scene.origin.master("aes")
            #expect(try await scene.weir.run(["url", other]).output == base + "/\(other)\n")
            let played = try await scene.weir.run(["play", "ts", "--player", "echo"])
            #expect(played.exit == .code(0) && played.output == base + "/ts.m3u8\n", "\(played)")
            try await expectFrames(
                base.replacingOccurrences(of: "localhost", with: "127.0.0.1") + "/ts.m3u8", ofBestOf: "ts")
        }
    }

    @Test("exits with 66 for an unknown name, 65 for an empty selection (with the choices), 69 without a daemon")
    func exitsWithCodes() async throws {
        try await Scene.with { scene in
            for command in [
                ["get", "no-such"], ["show", "no-such"], ["url", "no-such"], ["remove", "no-such", "--yes"],
                ["play", "no-such", "--player", "true"],
            ] {
                let result = try await scene.weir.run(command)
                #expect(result.exit == .code(66), "\(command): \(result.exit)")
                #expect(result.errors.hasPrefix("weir: ") && result.errors.contains("no-such"), "\(result.errors)")
                #expect(result.errors.contains("try: weir list"))
            }
            let quality = try await scene.get("ts", ["-q", "720p"])
            #expect(quality.exit == .code(65), "\(quality.exit)")
            #expect(["270p", "180p", "90p"].allSatisfy { quality.errors.contains($0) }, "\(quality.errors)")
            let language = try await scene.get("cmaf", ["--audio", "de"])
            #expect(language.exit == .code(65) && language.errors.contains("en, fr"), "\(language.errors)")
            #expect(scene.pieces() == [])

            try await scene.weir.kill()
            let orphan = try await scene.weir.run(["list"])
            #expect(orphan.exit == .code(69) && orphan.errors.contains("weir serve"), "\(orphan.errors)")
        }
    }

    @Test("serve exits with 64 for a bad option and 78 for an unknown key, and names it")
    func refusesBadConfiguration() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data("lisen = []\n".utf8), to: "weir.toml")
        let own = ["--listen", "127.0.0.1:0", "--store", folder.path("store"), "--state", folder.path("state")]
        let program = Repository.builtProgram("weir")
        let option = try await ProcessRunner.run(program, ["serve", "--ofline"] + own)
        #expect(option.exit == .code(64) && option.errors.contains("--ofline"), "\(option.exit) \(option.errors)")
        let key = try await ProcessRunner.run(program, ["serve", "--config", file] + own)
        #expect(key.exit == .code(78) && key.errors.contains("weir.toml:1"), "\(key.exit) \(key.errors)")
        #expect(key.errors.contains("did you mean \"listen\"?") && key.errors.contains("\ntry: "))
    }

    @Test("serve exits with 73 if the port or the store is in use, and says what to do")
    func refusesUsedPortOrStore() async throws {
        try await Scene.with { scene in
            let other = try TemporaryFolder()
            let address = "127.0.0.1:\(await scene.weir.port)"
            let program = Repository.builtProgram("weir")
            let port = try await ProcessRunner.run(
                program, ["serve", "--listen", address, "--store", other.path("store"), "--state", other.path("state")])
            #expect(port.exit == .code(73) && port.errors.contains("try: "), "\(port.exit) \(port.errors)")
            #expect(port.errors.contains("another program uses port \(address.split(separator: ":")[1]) of 127.0.0.1"))
            let store = try await ProcessRunner.run(
                program,
                ["serve", "--listen", "127.0.0.1:0", "--store", scene.weir.store, "--state", other.path("state")])
            #expect(store.exit == .code(73) && store.errors.contains("try: "), "\(store.exit) \(store.errors)")
            let state = try await ProcessRunner.run(
                program,
                ["serve", "--listen", "127.0.0.1:0", "--store", other.path("store"), "--state", scene.weir.state])
            #expect(state.exit == .code(73) && state.errors.contains("try: "), "\(state.exit) \(state.errors)")
            #expect(try await scene.weir.run(["list"]).exit == .code(0))
            #expect(try await scene.weir.terminate() == .code(0))
        }
    }
}
