import Foundation
import TestSupport
import Testing

/// The store of an earlier build, `fixtures/store`, which `tools/make/store-sample` made: saved, in part, paused with rules, with
/// keys, a policy, attached subtitles and artwork.
///
/// `WEIR_WRITE_GOLDEN=1` writes the golden file; look at the difference before it is committed.
@Suite("The store of an earlier build")
struct EarlierStoreTests {
    /// The commands whose JSON is in `fixtures/golden/store.jsonl`, in its order.
    private static let commands = [
        ["list"], ["show", "part"], ["show", "paused"], ["show", "saved"], ["show", "with-keys"],
        ["keys", "with-keys"], ["policy", "saved"],
    ]

    private func withStore(_ body: (Scene) async throws -> Void) async throws {
        try await Scene.with(isStarted: false) { scene in
            let files = FileManager.default
            try? files.removeItem(atPath: scene.weir.store)
            try files.copyItem(atPath: Repository.path("fixtures/store"), toPath: scene.weir.store)
            try await scene.weir.start()
            try await body(scene)
        }
    }

    /// A command's output without what depends on the copy: its folder, and the times of its files.
    private func comparable(_ output: String, _ scene: Scene) -> String {
        let plain = output.replacing(scene.weir.store, with: "STORE")
        return plain.replacing(/"fetched":\d+/, with: "\"fetched\":0")
    }

    @Test("is listed with everything in it")
    func isListed() async throws {
        let path = Repository.path("fixtures/golden/store.jsonl")
        try await withStore { scene in
            var lines: [Substring] = []
            for command in Self.commands {
                let result = try await scene.weir.run(command + ["--json"])
                #expect(result.exit == .code(0), "\(command): \(result.errors)")
                lines += comparable(result.output, scene).split(separator: "\n")
            }
            if ProcessInfo.processInfo.environment["WEIR_WRITE_GOLDEN"] == "1" {
                let text = lines.map { $0 + "\n" }.joined()
                try text.write(toFile: path, atomically: true, encoding: .utf8)
            }
            let expected = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == expected.count)
            for (line, expected) in zip(lines, expected) {
                #expect(line == expected)
            }
        }
    }

    @Test("is sound, and plays every frame without its origin", arguments: [("saved", "cmaf"), ("with-keys", "aes")])
    func plays(name: String, fixture: String) async throws {
        try await withStore { scene in
            #expect(try await scene.weir.run(["verify", name]).exit == .code(0))
            let variant = fixture == "cmaf" ? "video-90p" : "90p"
            let expected = try await FrameHashes.of(scene.origin.url("/\(fixture)/\(variant)/media.m3u8"))
            let played = try await FrameHashes.of(await scene.weir.url("/offline/\(name).m3u8"))
            #expect(expected.firstDifference(fromPartOf: played) == nil)
        }
    }

    @Test("keeps the attached subtitles and the artwork")
    func keepsExtras() async throws {
        try await withStore { scene in
            let master = try await HTTPProbe.fetch(await scene.weir.url("/offline/saved.m3u8")).text
            #expect(master.contains("LANGUAGE=\"de\""), "\(master)")
            let artwork = scene.weir.store + "/assets/saved-j7ji/artwork.png"
            #expect(FileManager.default.fileExists(atPath: artwork))
        }
    }
}
