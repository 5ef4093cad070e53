import Foundation
import TestSupport
import Testing

/// Presentations with segments of 100,000 bytes and two seconds, and a play cache of forty segments.
@Suite("The play cache")
struct PlayCacheTests {
    private static let limit = ["--play-cache", "3907KB"]
    private static func list(_ count: Int) -> String { "/_vod/\(count)x100000/media.m3u8" }

    /// Numbers of the stored segments, in order.
    private func numbers(_ scene: Scene) -> [Int] {
        scene.pieces().compactMap { path in
            path.split(separator: "/").last?.split(separator: ".").first.flatMap { Int($0) }
        }.sorted()
    }

    @Test("keeps its limit during long playback, and evicts the oldest segments")
    func evictsOldestSegments() async throws {
        try await Scene.with(options: Self.limit) { scene in
            let bodies = try await PlaylistWalk.load(scene.url(Self.list(200)))
            #expect(bodies.count == 200 && bodies.values.allSatisfy { $0.count == 100_000 })
            // The latest segments are stored without a hole; of the others, those around the playhead. The last ones may still be on
            // the way to the disk.
            try await waitUntil("the last segments, and no more than the limit") {
                let kept = numbers(scene)
                return kept.count <= 40 && Set(180..<200).isSubset(of: kept)
            }
            let kept = numbers(scene)
            #expect(kept.allSatisfy { $0 >= 160 || $0 <= 25 }, "\(kept)")
            #expect(try await scene.repetitions() == [:])

            // On replay, only evicted segments are refetched.
            try await scene.origin.clearRequests()
            let again = try await PlaylistWalk.load(scene.url(Self.list(200)))
            #expect(again.values.allSatisfy { $0.count == 100_000 })
            let asked = Set(try await scene.mediaRequests().map(\.path))
            #expect(asked.isSuperset(of: (26..<160).map { "/_vod/200x100000/\($0).ts" }))
            #expect(try await scene.repetitions() == [:])
        }
    }

    @Test("gives its segments to a download, which requests only the others, and then evicts none of them")
    func promotesSegmentsToDownload() async throws {
        try await Scene.with(options: Self.limit) { scene in
            _ = try await PlaylistWalk.load(scene.url(Self.list(80)))
            // The last segments may still be on the way to the disk, and files being deleted.
            try await waitUntil("the last segments, and no more than the limit") {
                let kept = numbers(scene)
                let bytes = try await scene.weir.run(["list", "--json"]).output.split(separator: "\n").compactMap {
                    line in
                    (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["bytes"] as? Int
                }
                return kept.count <= 40 && kept.last == 79 && bytes == [kept.count * 100_000]
            }
            try await scene.origin.clearRequests()
            let kept = numbers(scene)
            let get = try await scene.weir.run(["get", scene.origin.url(Self.list(80)), "--name", "film"])
            #expect(get.exit == .code(0), "\(get.errors)")
            let asked = try await scene.mediaRequests().map(\.path)
            // Segments being deleted when the download starts may be refetched, but none is fetched twice.
            #expect(Set(asked) == Set((0..<80).filter { !kept.contains($0) }.map { "/_vod/80x100000/\($0).ts" }))
            #expect(asked.count == Set(asked).count && scene.pieces().count == 80)

            try await scene.origin.clearRequests()
            _ = try await PlaylistWalk.load(scene.url(Self.list(120)))
            try await waitUntil("the other to be evicted") { scene.pieces().count <= 120 }
            let listed = try await scene.weir.run(["list", "--json"]).output.split(separator: "\n").map { line in
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            }
            let film = listed.first { $0?["bytes"] as? Int == 8_000_000 }
            let other = listed.count
            #expect(film??["cachedBytes"] as? Int == 0 && film??["local"] as? String == "yes" && other == 2)
            try await scene.origin.stop()
            let bodies = try await PlaylistWalk.load(scene.url(Self.list(80)))
            #expect(bodies.count == 80 && bodies.values.allSatisfy { $0.count == 100_000 })
        }
    }

    @Test("survives a kill before any file deletion: listed segments exist and play")
    func survivesKillDuringEviction() async throws {
        try await Scene.with { scene in
            // Complete assets are in their bundles' playlists.
            for count in [60, 61, 62] {
                _ = try await PlaylistWalk.load(scene.url(Self.list(count)))
            }
            try await scene.waitForPieces(183)
            // The playlists are written shortly after the last segment.
            try await waitUntil("the bundles' playlists") {
                try bundles(scene).allSatisfy { FileManager.default.fileExists(atPath: $0 + "/master.m3u8") }
            }
            try await scene.weir.terminate()
            for deletion in [1, 2, 3, 4, 9, 17, 60] {
                try await expectHonesty(scene, killedAt: deletion)
            }

            try await scene.origin.clearRequests()
            try await scene.weir.start()
            let before = scene.pieces().count
            #expect((60..<183).contains(before))
            for count in [60, 61, 62] {
                let bodies = try await PlaylistWalk.load(scene.url(Self.list(count)))
                #expect(bodies.count == count && bodies.values.allSatisfy { $0.count == 100_000 })
            }
            #expect(try await scene.mediaRequests().count == 183 - before)
            #expect(try await scene.repetitions() == [:])
        }
    }

    /// Evicts everything, with the process killed before it deletes its nth file.
    private func expectHonesty(_ scene: Scene, killedAt deletion: Int) async throws {
        let kill = "inject=unlinkat:signal=KILL:when=\(deletion)"
        // The kill may come before the server listens.
        try? await scene.weir.start(
            wrapper: ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=unlinkat", "-e", kill],
            options: ["--play-cache", "0"])
        let program = "/proc/\(await scene.weir.pid ?? 0)/exe"
        try await waitUntil("the kill at \(deletion)") {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: program)) == nil
        }
        try await scene.weir.kill()
        for bundle in try bundles(scene) {
            try expectHonest(bundle)
        }
    }

    private func bundles(_ scene: Scene) throws -> [String] {
        let assets = scene.weir.store + "/assets/"
        return try FileManager.default.contentsOfDirectory(atPath: assets).map { assets + $0 }
    }

    /// Checks that every file in a bundle's playlists exists.
    private func expectHonest(_ bundle: String) throws {
        guard let master = try? String(contentsOfFile: bundle + "/master.m3u8", encoding: .utf8) else { return }
        for list in master.split(separator: "\n") where !list.hasPrefix("#") {
            let text = try String(contentsOfFile: "\(bundle)/\(list)", encoding: .utf8)
            for segment in text.split(separator: "\n") where !segment.hasPrefix("#") {
                let path = "\(bundle)/\(list.split(separator: "/")[0])/\(segment)"
                #expect(FileManager.default.fileExists(atPath: path), "\(path)")
            }
        }
    }
}
