import Foundation
import TestSupport
import Testing

@Suite("A publication to a folder")
struct PublishFolderTests {
    @Test("plays from nginx with the configuration in conf/, with every frame, types, cache headers, CORS and ranges")
    func playsFromNginx() async throws {
        let out = try TemporaryFolder()
        let fixtures = ["cmaf", "aes", "ts"]
        try await publish(fixtures, in: out)
        #expect(chmod(out.path, 0o755) == 0)  // nginx's workers may run as another user.
        let recipe = try String(contentsOfFile: Repository.path("conf/nginx/weir-published.conf"), encoding: .utf8)
        let nginx = try await PlainServer(root: out.path, recipe: recipe)

        for fixture in fixtures {
            try await expectFrames(nginx.url("/\(fixture)/master.m3u8"), ofBestOf: fixture)
            try await expectSums(in: out.path(fixture))
        }
        try await expectTypesAndCaching(nginx, out)
        try await expectRangesAndPreflights(nginx)
        try await expectNothingElse(nginx)
    }

    private func publish(_ fixtures: [String], in out: TemporaryFolder) async throws {
        try await Scene.with { scene in
            for fixture in fixtures {
                try await scene.store(fixture)
                let result = try await scene.weir.run(["publish", fixture, out.path(fixture)])
                #expect(result.exit == .code(0), "\(result.errors)")
            }
        }
    }

    /// Expects that `sha256sum` finds every file of each rendition unchanged.
    private func expectSums(in folder: String) async throws {
        let script =
            "for f in */SHA256SUMS; do (cd ${f%/*} && sha256sum --check --strict --quiet SHA256SUMS) || exit 1; done"
        let sums = try await ProcessRunner.run("sh", ["-c", script], folder: folder)
        #expect(sums.exit == .code(0), "\(sums.errors)")
    }

    /// Expects media that browsers may keep for ever, playlists for ten seconds, and keys not at all, for pages of any origin.
    private func expectTypesAndCaching(_ nginx: PlainServer, _ out: TemporaryFolder) async throws {
        let forever = "public, max-age=31536000, immutable"
        let expected = [
            "/cmaf/video-270p/0.m4s": ("video/mp4", forever), "/ts/video-270p/0.ts": ("video/mp2t", forever),
            "/aes/keys/0.key": ("application/octet-stream", "no-store"),
            "/ts/master.m3u8": ("application/vnd.apple.mpegurl", "public, max-age=10"),
            "/ts/video-270p/media.m3u8": ("application/vnd.apple.mpegurl", "public, max-age=10"),
            "/ts/asset.json": ("application/json", "public, max-age=10"),
            "/ts/video-270p/SHA256SUMS": ("text/plain", "public, max-age=10"),
        ]
        for (path, (type, cache)) in expected {
            let answer = try await HTTPProbe.fetch(nginx.url(path), fields: ["origin": "https://elsewhere.example"])
            #expect(answer.status == 200 && answer["content-type"] == type, "\(path): \(answer.fields)")
            #expect(answer["cache-control"] == cache && answer["access-control-allow-origin"] == "*", "\(path)")
            #expect(try answer.body == Data(contentsOf: URL(filePath: out.path + path)))
        }
    }

    private func expectRangesAndPreflights(_ nginx: PlainServer) async throws {
        let url = nginx.url("/ts/video-270p/0.ts")
        let part = try await HTTPProbe.fetch(url, fields: ["range": "bytes=188-375"])
        #expect(part.status == 206 && part.body.count == 188)
        #expect(part["content-range"]?.hasPrefix("bytes 188-375/") == true)

        let preflight = try await HTTPProbe.fetch(
            url, method: "OPTIONS",
            fields: ["origin": "https://elsewhere.example", "access-control-request-headers": "range"])
        #expect(preflight.status == 204 && preflight["access-control-allow-headers"] == "Range")
    }

    /// Expects that unknown files and files of an unfinished publication are absent, and that no cache keeps this.
    private func expectNothingElse(_ nginx: PlainServer) async throws {
        for path in ["/ts/video-270p/99.ts", "/ts/.weir-part", "/ts/weir-part"] {
            let answer = try await HTTPProbe.fetch(nginx.url(path))
            #expect(answer.status == 404 && answer["cache-control"] == nil, "\(path)")
        }
    }

    @Test(
        "W2: is readable by a web server of another user, whatever umask the daemon has", .enabled(if: OtherUser.exists)
    )
    func isReadableByOthers() async throws {
        let out = try TemporaryFolder()
        #expect(chmod(out.path, 0o755) == 0)
        try await Scene.with(isStarted: false) { scene in
            // As the units set it.
            try await scene.weir.start(wrapper: ["sh", "-c", "umask 077; exec \"$@\"", "sh"])
            try await scene.store("aes")
            #expect(try await scene.weir.run(["publish", "aes", out.path("aes")]).exit == .code(0))
        }
        for file in try FileManager.default.subpathsOfDirectory(atPath: out.path("aes")) {
            let read = OtherUser.wrapper + ["test", "-r", out.path("aes/" + file)]
            #expect(try await ProcessRunner.run(read[0], Array(read.dropFirst())).exit == .code(0), "\(file)")
        }
    }

    @Test("rewrites only what differs, also after a kill, and weir import restores it")
    func writesOnlyDifferences() async throws {
        let out = try TemporaryFolder()
        let place = out.path("film")
        try await Scene.with { scene in
            try await scene.store("ts")
            try await scene.weir.kill()
            // Killed at the rename of the fourth piece.
            try await scene.weir.start(wrapper: [
                "strace", "-f", "-qq", "-o", out.path("calls"), "-e", "trace=renameat", "-P", place + "/video-270p",
                "-e", "inject=renameat:signal=KILL:when=4",
            ])
            let killed = try await scene.weir.run(["publish", "ts", place])
            #expect([.code(75), .code(69)].contains(killed.exit), "\(killed.errors)")
            try await scene.weir.restart()
            let there = publishedFiles(in: place).filter { $0.hasSuffix(".ts") }
            #expect(there.count == 3 && !publishedFiles(in: place).contains { $0.hasSuffix(".m3u8") })
            let before = try inodes(place, there)
            let again = try await scene.weir.run(["publish", "ts", place])
            #expect(
                again.exit == .code(0) && again.output.contains(": \(10 - there.count) of 10 files sent"),
                "\(again.output)")
            #expect(try inodes(place, there) == before)
            expectLine(
                try await scene.weir.run(["publish", "ts", place]), "published ts to \(place): 0 of 10 files sent, 0 B")

            let piece = place + "/" + there[0]
            let size = try Data(contentsOf: URL(filePath: piece)).count
            try FileManager.default.removeItem(atPath: piece)
            try Data("mine".utf8).write(to: URL(filePath: place + "/mine.txt"))
            // Its folder's checksums follow, which were invalid without the piece.
            let mended = try await scene.weir.run(["publish", "ts", place])
            #expect(mended.output.hasPrefix("published ts to \(place): 2 of 10 files sent, "), "\(mended.output)")
            #expect(try Data(contentsOf: URL(filePath: piece)).count == size)
            #expect(FileManager.default.fileExists(atPath: place + "/mine.txt"))
            #expect(publishedFiles(in: place).allSatisfy { !$0.contains("weir-part") })
        }
        try await Scene.with { scene in
            let taken = try await scene.weir.run(["import", place, "--name", "back"])
            #expect(taken.exit == .code(0), "\(taken.errors)")
            try await expectFrames(scene.weir.url("/back.m3u8"), ofBestOf: "ts")
        }
    }

    private func inodes(_ folder: String, _ files: [String]) throws -> [Int] {
        try files.map { file in
            try #require(
                try FileManager.default.attributesOfItem(atPath: folder + "/" + file)[.systemFileNumber] as? Int)
        }
    }

    @Test("is refused over foreign files, at an impossible place, and without complete renditions")
    func refusesBadTargets() async throws {
        let out = try TemporaryFolder()
        try await Scene.with { scene in
            try await scene.store("ts")
            try await scene.store("aes")
            try await expectRefusedFolders(scene, out)
            try await expectRefusalWithoutCompleteRendition(scene, out)
            try await expectDamagedPieceLeftOut(scene, out)
        }
    }

    /// Expects a refusal with reason and next step for each folder, and foreign files that stay as they are.
    private func expectRefusedFolders(_ scene: Scene, _ out: TemporaryFolder) async throws {
        try out.write(Data("mine".utf8), to: "mine/film.txt")
        try out.write(Data("mine".utf8), to: "file")
        #expect(try await scene.weir.run(["publish", "aes", out.path("aes")]).exit == .code(0))
        let cases: [(arguments: [String], exit: Int32, words: String)] = [
            (["ts", out.path("mine")], 73, "something that Weir did not put there"),
            (["ts", out.path("aes")], 73, "the publication of another asset, aes-"),
            (["ts", out.path("file")], 73, "Not a directory"),
            (["ts", out.path("no/film")], 73, "No such file or directory"),
            (["ts", "/proc/film"], 73, "/proc"),
            (["ts", scene.weir.store], 73, "is in the store itself"),
            (["ts", scene.weir.store + "/film"], 73, "is in the store itself"),
            (["ts", scene.weir.store + "/assets/film"], 73, "is in the store itself"),
            (["other", out.path("film")], 66, "no asset named other"),
        ]
        for refused in cases {
            let result = try await scene.weir.run(["publish"] + refused.arguments)
            #expect(result.exit == .code(refused.exit), "\(refused.arguments): \(result.errors)")
            #expect(result.errors.contains(refused.words) && result.errors.contains("try: "), "\(result.errors)")
        }
        #expect(try Data(contentsOf: URL(filePath: out.path("mine/film.txt"))) == Data("mine".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: out.path("mine")) == ["film.txt"])
    }

    private func expectRefusalWithoutCompleteRendition(_ scene: Scene, _ out: TemporaryFolder) async throws {
        _ = try await HTTPProbe.fetch(scene.master("cmaf"))
        let partly = try await scene.weir.run(["publish", "cmaf", out.path("film")])
        #expect(
            partly.exit == .code(65) && partly.errors.contains("no rendition of it is complete"), "\(partly.errors)"
        )
        #expect(!FileManager.default.fileExists(atPath: out.path("film")))
    }

    /// Expects that neither a damaged piece is published nor a playlist that names it.
    private func expectDamagedPieceLeftOut(_ scene: Scene, _ out: TemporaryFolder) async throws {
        let piece = try #require(scene.pieces().first { $0.hasSuffix("/3.ts") && $0.contains("/ts-") })
        let sums = piece.dropLast("3.ts".count) + "SHA256SUMS"
        try await waitUntil("the sum of what had come") {
            (try? String(contentsOfFile: String(sums), encoding: .utf8))?.contains("  3.ts\n") ?? false
        }
        var bytes = try Data(contentsOf: URL(filePath: piece))
        bytes[500] ^= 1
        try bytes.write(to: URL(filePath: piece))

        let damaged = try await scene.weir.run(["publish", "ts", out.path("damaged")])
        #expect(damaged.exit == .code(65) && damaged.errors.contains("weir verify ts --repair"), "\(damaged.errors)")
        #expect(!publishedFiles(in: out.path("damaged")).contains { $0.hasSuffix("3.ts") || $0.hasSuffix(".m3u8") })
    }

    @Test("exits with 74 on a full disk, keeps its files, and continues with free space")
    func continuesAfterFullDisk() async throws {
        let out = try TemporaryFolder()
        try await Scene.with(isStarted: false) { scene in
            let disk = out.path("disk")
            #expect(mkdir(disk, 0o755) == 0)
            // Only this test's mount namespace has the small file system.
            let script = "mount -t tmpfs -o size=96k none \"$0\" && exec \"$@\""
            try await scene.weir.start(wrapper: ["unshare", "-m", "sh", "-c", script, disk])
            try await scene.store("ts")
            let result = try await scene.weir.run(["publish", "ts", disk + "/film"])
            #expect(result.exit == .code(74) && result.errors.contains("No space left"), "\(result.errors)")
            let pid = try #require(await scene.weir.pid)
            let film = "/proc/\(pid)/root" + disk + "/film"
            let there = publishedFiles(in: film)
            #expect(there.contains { $0.hasSuffix(".ts") } && !there.contains { $0.hasSuffix(".m3u8") }, "\(there)")
            let grown = try await ProcessRunner.run(
                "nsenter", ["-t", String(pid), "-m", "mount", "-o", "remount,size=4m", disk])
            #expect(grown.exit == .code(0), "\(grown.errors)")
            let again = try await scene.weir.run(["publish", "ts", disk + "/film"])
            #expect(again.exit == .code(0), "\(again.errors)")
            #expect(publishedFiles(in: film).contains("master.m3u8"))
        }
    }
}
