import Foundation
import Glibc
import TestSupport
import Testing

@Suite("W2: the permissions of bundles")
struct BundleModeTests {
    @Test(
        "are private by default; a key opens media, and another one keys, to a web server of another user",
        .enabled(if: OtherUser.exists))
    func opensBundles() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("aes").exit == .code(0))
            let bundles = try FileManager.default.contentsOfDirectory(atPath: scene.weir.store + "/assets")
            let bundle = scene.weir.store + "/assets/" + (try #require(bundles.first))
            let files = try FileManager.default.subpathsOfDirectory(atPath: bundle)
            // The temporary folder of the test is its own.
            #expect(chmod((scene.weir.store as NSString).deletingLastPathComponent, 0o711) == 0)
            #expect(try await readable(files, in: bundle) == [])
            try await scene.weir.terminate()

            try await scene.weir.start(options: ["--bundle-mode", "0644"])
            let media = Set(files.filter { !$0.hasPrefix("keys") })
            try await waitUntil("open media") { try await readable(files, in: bundle) == media }
            #expect(try await scene.get("ts").exit == .code(0))
            let others = try FileManager.default.contentsOfDirectory(atPath: scene.weir.store + "/assets")
            let new = scene.weir.store + "/assets/" + (try #require(others.first { $0.hasPrefix("ts") }))
            let all = try Set(FileManager.default.subpathsOfDirectory(atPath: new))
            try await waitUntil("new media") { try await readable(Array(all), in: new) == all }
            for secret in ["catalogue-1.sqlite", "records", "tmp"] {
                #expect(try await readable([secret], in: scene.weir.store) == [], "\(secret)")
            }
            try await scene.weir.terminate()

            try await scene.weir.start(options: ["--bundle-mode", "0644", "--bundle-keys-mode", "0644"])
            try await waitUntil("open keys") { try await readable(files, in: bundle) == Set(files) }
            try await scene.weir.terminate()
            try await scene.weir.start()
            try await waitUntil("closed bundles") { try await readable(files, in: bundle) == [] }
            #expect(try await scene.weir.run(["serve", "--bundle-mode", "0777"]).exit == .code(64))
        }
    }

    /// The paths that another user can read.
    private func readable(_ paths: [String], in folder: String) async throws -> Set<String> {
        let script =
            "import os,sys; print(chr(10).join(p for p in sys.argv[2:] if os.access(sys.argv[1] + '/' + p, os.R_OK)))"
        let line = OtherUser.wrapper + ["python3", "-I", "-c", script, folder] + paths
        let result = try await ProcessRunner.run(line[0], Array(line.dropFirst()))
        #expect(result.exit == .code(0), "\(result.errors)")
        return Set(result.output.split(separator: "\n").map(String.init))
    }
}
