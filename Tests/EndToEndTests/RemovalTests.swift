import Foundation
import TestSupport
import Testing

@Suite("A removal")
struct RemovalTests {
    @Test("that is killed midway completes: the name is free, and no file remains")
    func completesAfterKill() async throws {
        try await Scene.with(isStarted: false) { scene in
            let folder = try TemporaryFolder()
            // Each deletion is delayed, so that a kill comes between two.
            try await scene.weir.start(wrapper: [
                "strace", "-f", "-qq", "-o", folder.path("calls"), "-e",
                "trace=unlinkat", "-e", "inject=unlinkat:delay_enter=20000",
            ])
            let playlist = scene.origin.url("/_vod/200x1000/media.m3u8")
            #expect(try await scene.weir.run(["get", playlist, "--name", "film"]).exit == .code(0))
            #expect(try await scene.get("ts", ["--name", "other"]).exit == .code(0))
            let others = scene.pieces().filter { $0.contains("/other-") }
            #expect(scene.pieces().count == 200 + others.count)
            #expect(try await scene.weir.run(["remove", "--yes", "film"]).exit == .code(0))
            try await waitUntil("the first to go") { try left(scene).count < 200 }
            try await scene.weir.kill()
            #expect(try !left(scene).isEmpty)

            try await scene.weir.start()
            #expect(try await names(scene) == ["other"])
            try await waitUntil("the rest to go") {
                try FileManager.default.contentsOfDirectory(atPath: scene.weir.store + "/tmp") == []
            }
            #expect(scene.pieces() == others)
            let bundles = try FileManager.default.contentsOfDirectory(atPath: scene.weir.store + "/assets")
            #expect(bundles.count == 1)
            let again = try await scene.weir.run(["import", Repository.path("fixtures/media/cmaf"), "--name", "film"])
            #expect(again.exit == .code(0), "\(again.errors)")
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/other.m3u8"), ofBestOf: "ts")
        }
    }

    @Test(
        "that is waited for leaves nothing in the log files; another one leaves nothing that is shown",
        arguments: [true, false])
    func leavesTheLogs(waits: Bool) async throws {
        try await Scene.with { scene in
            for (name, fixture) in [("secret", "ts"), ("other", "cmaf")] {
                #expect(try await scene.get(fixture, ["--name", name]).exit == .code(0))
                _ = try await FrameHashes.of(scene.weir.url("/offline/\(name).m3u8"))
            }
            // The sessions end with the daemon, and are in the log files then.
            try await scene.weir.terminate()
            try await scene.weir.start()
            let logs = scene.weir.state + "/log"
            func mentions(_ name: String) throws -> Bool {
                try FileManager.default.contentsOfDirectory(atPath: logs).contains { file in
                    try String(contentsOfFile: "\(logs)/\(file)", encoding: .utf8).contains("\"\(name)\"")
                }
            }
            #expect(try mentions("secret") && mentions("other"))
            let removed = try await scene.weir.run(["remove", "--yes", "secret"] + (waits ? ["--wait"] : []))
            #expect(removed.exit == .code(0), "\(removed.errors)")
            #expect(try await scene.weir.run(["log", "--format", "json"]).output.contains("other"))
            #expect(try await !scene.weir.run(["log", "--format", "json"]).output.contains("secret"))
            if !waits {
                // Before its end at the latest.
                try await scene.weir.terminate()
            }
            #expect(try !mentions("secret") && mentions("other"))
        }
    }

    @Test("says what a paused player still holds, which reads it to the end")
    func tellsOfHeldSpace() async throws {
        try await Scene.with { scene in
            let size = 24_000_000
            let list = await scene.url("/_vod/1x\(size)/media.m3u8")
            let segment = try #require(try await PlaylistWalk.segments(list).first)
            let whole = try await HTTPProbe.fetch(segment)
            let reader = try await SegmentReader(segment, receiveBuffer: 4096)
            #expect(try await reader.head().contains("\r\nContent-Length: \(size)\r\n"))
            let name = try #require(try await names(scene).first)
            let before = try await scene.weir.run(["status"])
            #expect(!before.output.contains("removed files"), "\(before.output)")

            let removed = try await scene.weir.run(["remove", "--yes", name])
            #expect(removed.exit == .code(0) && removed.output.contains("stay in use until the players"), "\(removed)")
            try await waitUntil("the space in the status") {
                try await scene.weir.run(["status"]).output.contains("of removed files, until the players")
            }
            #expect(try await reader.bytes(size) == whole.body)
            try await waitUntil("the end of it") {
                try await !scene.weir.run(["status"]).output.contains("of removed files")
            }
        }
    }

    @Test("S29: leaves no title, id or secret in any file of the store and the state folder")
    func leavesNoTrace() async throws {
        try await Scene.with { scene in
            let url = scene.origin.master("aes") + "?token=s29-secret"
            let options = ["--name", "s29-name", "--title", "S29 Title", "--header", "X-Pass: s29-pass"]
            #expect(try await scene.get("ts", ["--name", "other"]).exit == .code(0))
            #expect(try await scene.weir.run(["get", url] + options).exit == .code(0))
            #expect(try await !PlaylistWalk.load(scene.weir.url("/s29-name.m3u8")).isEmpty)
            let bundles = try FileManager.default.contentsOfDirectory(atPath: scene.weir.store + "/assets")
            let id = try #require(bundles.first { $0.hasPrefix("s29-name") })
            let traces = [id, "s29-name", "S29 Title", "s29-secret", "s29-pass"]
            try await waitUntil("the record") { try Self.traces(traces, scene.weir).count == traces.count }

            #expect(try await scene.weir.run(["remove", "--yes", "--wait", "s29-name"]).exit == .code(0))
            try await waitUntil("the end of the files") {
                try FileManager.default.contentsOfDirectory(atPath: scene.weir.store + "/tmp").isEmpty
            }
            #expect(try Self.traces(traces, scene.weir) == [:])
            try await scene.weir.restart()
            #expect(try Self.traces(traces, scene.weir) == [:])
            #expect(try await names(scene) == ["other"])
        }
    }

    /// The words that occur in a name or in the bytes of a file, with the first such file.
    private static func traces(_ words: [String], _ weir: WeirProcess) throws -> [String: String] {
        var found: [String: String] = [:]
        for folder in [weir.store, weir.state] {
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
                let bytes = FileManager.default.contents(atPath: "\(folder)/\(path)") ?? Data()
                for word in words where path.contains(word) || bytes.range(of: Data(word.utf8)) != nil {
                    found[word] = path
                }
            }
        }
        return found
    }

    /// The pieces still to be deleted.
    private func left(_ scene: Scene) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: scene.weir.store + "/tmp").filter { $0.hasSuffix(".ts") }
    }

    private func names(_ scene: Scene) async throws -> [String] {
        try await scene.weir.run(["list", "--json"]).output.split(separator: "\n").compactMap { line in
            (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["name"] as? String
        }
    }
}
