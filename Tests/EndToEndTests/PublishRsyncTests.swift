import Foundation
import TestSupport
import Testing

@Suite("A publication by rsync")
struct PublishRsyncTests {
    /// An rsync daemon with a module "films" for a folder.
    private struct Module: Sendable {
        let folder: TemporaryFolder
        private let process: ChildProcess
        let port: Int

        var films: String { folder.path("films") }

        init() async throws {
            folder = try TemporaryFolder()
            port = try PlainServer.freePort()
            let text =
                "\(geteuid() == 0 ? "uid = 0\ngid = 0\n" : "")use chroot = no\nmunge symlinks = no\n[films]\npath = \(folder.path("films"))\nread only = no\n"
                + "[locked]\npath = \(folder.path("films"))\nread only = yes\n"
            #expect(mkdir(folder.path("films"), 0o755) == 0)
            let configuration = try folder.write(Data(text.utf8), to: "rsyncd.conf")
            process = try ChildProcess(
                "rsync",
                ["--daemon", "--no-detach", "--address=127.0.0.1", "--port=\(port)", "--config=\(configuration)"])
            try await waitUntil("rsync's daemon") { [port] in (try? RawConnection(port: port)) != nil }
        }

        func place(_ path: String) -> String { "rsync://127.0.0.1:\(port)/\(path)" }
    }

    @Test("equals a published folder, sends nothing twice, and deletes obsolete files")
    func publishesToModule() async throws {
        let module = try await Module()
        let out = try TemporaryFolder()
        try await Scene.with { scene in
            try await scene.store("ts", ["-q", "90p", "--also", "-q 180p"])
            let place = module.place("films/ts")
            expectLine(
                try await scene.weir.run(["publish", "ts", place]),
                "published ts to \(place): 18 of 18 files sent, 322 KB")
            #expect(try await scene.weir.run(["publish", "ts", out.path("ts")]).exit == .code(0))
            let diff = try await ProcessRunner.run("diff", ["-r", out.path("ts"), module.films + "/ts"])
            #expect(diff.exit == .code(0), "\(diff.output)")
            expectLine(
                try await scene.weir.run(["publish", "ts", place]), "published ts to \(place): 0 of 18 files sent, 0 B")
            let nginx = try await PlainServer(root: module.films)
            let frames = try await FrameHashes.of(nginx.url("/ts/master.m3u8"))
            #expect(frames.streams.count == 4)
            #expect(try await frames.firstDifference(fromPartOf: PlainFrames.of("ts")) == nil)

            try Data("mine".utf8).write(to: URL(filePath: module.films + "/ts/mine.txt"))
            try FileManager.default.removeItem(atPath: module.films + "/ts/video-90p/2.ts")
            let piece = try #require(scene.pieces().first { $0.hasSuffix("video-180p/5.ts") })
            try await scene.origin.stop()
            try await scene.weir.kill()
            try FileManager.default.removeItem(atPath: piece)
            try await scene.weir.start()
            let result = try await scene.weir.run(["publish", "ts", place])
            #expect(
                result.exit == .code(0) && result.output.contains(": 2 of 10 files sent")
                    && result.output.hasSuffix(", 8 deleted\n"), "\(result.output)\(result.errors)")
            let left = try FileManager.default.contentsOfDirectory(atPath: module.films + "/ts").sorted()
            let expected = ["asset.json", "master.m3u8", "mine.txt", "video-180p", "video-90p", "weir-published.txt"]
            #expect(left == expected)
            #expect(try FileManager.default.contentsOfDirectory(atPath: module.films + "/ts/video-180p") == [])
            #expect(FileManager.default.fileExists(atPath: module.films + "/ts/video-90p/2.ts"))
        }
    }

    @Test("is refused with the reason: foreign files, no module, no daemon, no rsync, ssh options in the URL")
    func refusesBadTargets() async throws {
        let module = try await Module()
        try await Scene.with { scene in
            try await scene.store("ts")
            try module.folder.write(Data("mine".utf8), to: "films/mine/film.txt")
            let cases: [(target: String, exit: Int32, words: String)] = [
                (module.place("films/mine"), 73, "something that Weir did not put there"),
                (module.place("none/ts"), 73, "nknown module"), (module.place("locked/ts"), 73, "read only"),
                ("rsync://127.0.0.1:9/films/ts", 75, "Connection refused"),
                ("user:password@host:/film", 73, "no password"),
                ("rsync://user:password@host/m/film", 73, "no password"),
                ("host:", 73, "has no path"), ("a@-oProxyCommand=touch:/film", 73, "HOST:PATH"),
            ]
            for refused in cases {
                let result = try await scene.weir.run(["publish", "ts", refused.target])
                #expect(result.exit == .code(refused.exit), "\(refused.target): \(result.exit) \(result.errors)")
                #expect(result.errors.contains(refused.words), "\(refused.target): \(result.errors)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: module.films) == ["mine"])
            try await scene.weir.kill()
            try await scene.weir.start(wrapper: ["env", "PATH=/nowhere"])
            let none = try await scene.weir.run(["publish", "ts", module.place("films/ts")])
            #expect(none.exit == .code(69) && none.errors.contains("install rsync"), "\(none.errors)")
            try await scene.weir.kill()
            try await scene.weir.start(options: ["--offline"])
            let offline = try await scene.weir.run(["publish", "ts", module.place("films/ts")])
            #expect(offline.exit == .code(75) && offline.errors.contains("offline"), "\(offline.errors)")
        }
    }
}
