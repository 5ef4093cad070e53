import Foundation
import Glibc
import TestSupport
import Testing

/// Behaviour when fetched segments cannot be stored. The disks are mounted in the server's own mount namespace.
@Suite("A disk without write access or space", .enabled(if: Namespaces.areAvailable))
struct DiskTests {
    /// A wrapper that runs a shell command on the store (`$0`) in a new mount namespace, then the server.
    private static func mounted(_ command: String, _ scene: Scene) -> [String] {
        let script = command + " && exec \"$@\""
        return ["unshare", "--map-root-user", "--mount", "sh", "-c", script, scene.weir.store]
    }

    @Test("read-only: stored pieces play, others are passed through, and get exits with 73")
    func playsFromReadOnlyDisk() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts").exit == .code(0))
            try await scene.weir.terminate()
            let pieces = scene.pieces()
            let remount = "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\""
            try await scene.weir.start(wrapper: Self.mounted(remount, scene))
            try await expectFrames(scene.weir.url("/ts.m3u8"), ofBestOf: "ts")
            try await expectFrames(scene.master("ts"), of: "ts", as: "Editor/1")
            try await expectFrames(scene.master("cmaf"), of: "cmaf")
            let get = try await scene.get("cmaf")
            #expect(
                get.exit == .code(73) && get.errors.contains("\nweir: cmaf is not completely stored: "),
                "\(get.exit) \(get.errors)")
            let removal = try await scene.weir.run(["remove", "ts", "--yes"])
            #expect(removal.exit == .code(73), "\(removal.exit) \(removal.errors)")
            #expect(scene.pieces() == pieces)
            try await expectFrames(scene.weir.url("/ts.m3u8"), ofBestOf: "ts")
        }
    }

    @Test(
        "full: get keeps its pieces and exits with 74, and everything is passed through",
        arguments: [(size: 8, reserve: 0), (size: 36, reserve: 20)])
    func playsWithFullDisk(size: Int, reserve: Int) async throws {
        try await Scene.with(isStarted: false) { scene in
            try FileManager.default.createDirectory(atPath: scene.weir.store, withIntermediateDirectories: true)
            try await scene.weir.start(
                wrapper: Self.mounted("mount -t tmpfs -o size=\(size)m weir \"$0\"", scene),
                options: ["--reserve", "\(reserve)"])
            let list = "/_vod/40x1000000/media.m3u8"
            let get = try await scene.weir.run(["get", scene.origin.url(list), "--name", "long", "--anyway"])
            #expect(get.exit == .code(74) && get.errors.contains("\ntry: "), "\(get.exit) \(get.errors)")

            let root = "/proc/\(await scene.weir.pid ?? 0)/root"
            let kept = scene.pieces(in: root)
            // Fetches in progress when the reserve is reached may still complete.
            #expect((size - reserve - 6...size - reserve + 6).contains(kept.count), "\(kept.count)")
            let sizes = try kept.map { try FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int }
            #expect(sizes.allSatisfy { $0 == 1_000_000 })

            try await scene.origin.clearRequests()
            let bodies = try await PlaylistWalk.load(scene.url(list))
            #expect(bodies.count == 40)
            for (url, body) in bodies {
                let path = "/_vod/40x1000000/" + (url.split(separator: "/").last ?? "")
                let same = try await HTTPProbe.fetch(scene.origin.url(path)).body == body
                #expect(same, "\(path)")
            }
            // Only the latest pieces are stored.
            let counts = Dictionary(grouping: try await scene.mediaRequests(), by: \.path).mapValues(\.count)
            let paths = kept.map { "/_vod/40x1000000/" + ($0.split(separator: "/").last ?? "") }
            #expect(paths.allSatisfy { counts[$0] == 1 })
            #expect(try await scene.weir.run(["get", "long"]).exit == .code(74))
        }
    }

    /// Expired assets are evicted for new fetches, and a removal by the user resumes waiting downloads.
    @Test("full for a while: expired assets are evicted, downloads resume with free space, and no row is lost")
    func resumesWithFreeSpace() async throws {
        try await Scene.with(isStarted: false) { scene in
            try FileManager.default.createDirectory(atPath: scene.weir.store, withIntermediateDirectories: true)
            try await scene.weir.start(
                wrapper: Self.mounted("mount -t tmpfs -o size=8m weir \"$0\"", scene), options: ["--reserve", "0"])
            for name in ["old", "kept"] {
                let get = ["get", scene.origin.url("/_vod/3x90000\(name.count)/media.m3u8"), "--name", name]
                #expect(try await scene.weir.run(get).exit == .code(0))
            }
            let long = "/_vod/4x900000/media.m3u8"
            let get = ["get", scene.origin.url(long), "--name", "long", "--anyway"]
            #expect(try await scene.weir.run(get).exit == .code(74))
            let bodies = try await PlaylistWalk.load(scene.url("/_vod/12x900000/media.m3u8"))
            #expect(bodies.count == 12 && bodies.values.allSatisfy { $0.count == 900_000 })

            let policy = try await scene.weir.run(["policy", "old", "--expires", "2020-01-01"])
            #expect(policy.output.hasPrefix("old  expired since "), "\(policy.errors)")
            try await scene.waitForCompletion(of: "long")
            let list = try await scene.weir.run(["list"]).output
            #expect(list.contains("old ") && list.contains("expired, purged"), "\(list)")
            #expect(try await HTTPProbe.fetch(scene.weir.url("/old.m3u8")).status == 410)
            #expect(
                try await scene.weir.run(["get", scene.origin.url("/_vod/3x800000/media.m3u8"), "--anyway"]).exit
                    == .code(74))
            #expect(try await scene.weir.run(["remove", "kept", "--yes"]).exit == .code(0))
            try await scene.waitForCompletion(of: "3x800000")
            try await scene.waitForCompletion(of: "long")
        }
    }

    @Test("full to the last byte: an asset can be removed, and its space is free")
    func removesOnFullDisk() async throws {
        try await Scene.with(isStarted: false) { scene in
            try FileManager.default.createDirectory(atPath: scene.weir.store, withIntermediateDirectories: true)
            try await scene.weir.start(
                wrapper: Self.mounted("mount -t tmpfs -o size=8m weir \"$0\"", scene), options: ["--reserve", "0"])
            for name in ["film", "other"] {
                let get = ["get", scene.origin.url("/_vod/2x90000\(name.count)/media.m3u8"), "--name", name]
                #expect(try await scene.weir.run(get).exit == .code(0))
            }
            let root = "/proc/\(await scene.weir.pid ?? 0)/root"
            try Self.fill(root + scene.weir.store + "/filler")
            let removal = try await scene.weir.run(["remove", "film", "--yes"])
            #expect(removal.exit == .code(0), "\(removal.errors)")
            #expect(try await !scene.weir.run(["list"]).output.contains("film"))
            try await waitUntil("the files of the other asset alone") { scene.pieces(in: root).count == 2 }
            // It does not come back.
            #expect(try await HTTPProbe.fetch(scene.weir.url("/film.m3u8")).status == 404)
            #expect(try await HTTPProbe.fetch(scene.weir.url("/other.m3u8")).status == 200)
        }
    }

    /// Writes a file until its disk has not a byte left.
    private static func fill(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        guard descriptor >= 0 else { throw SystemCallError("open") }
        defer { close(descriptor) }
        let block = [UInt8](repeating: 1, count: 1 << 16)
        while write(descriptor, block, block.count) > 0 {}
        while write(descriptor, block, 1) > 0 {}
    }

    @Test("full in the middle of a segment: players get every byte, and no partial file remains")
    func passesSegmentThroughFullDisk() async throws {
        try await Scene.with(isStarted: false) { scene in
            try FileManager.default.createDirectory(atPath: scene.weir.store, withIntermediateDirectories: true)
            try await scene.weir.start(
                wrapper: Self.mounted("mount -t tmpfs -o size=8m weir \"$0\"", scene), options: ["--reserve", "0"])
            let segment = try #require(try await PlaylistWalk.segments(scene.url("/_vod/2x20000000/media.m3u8")).first)
            let answer = try await HTTPProbe.fetch(segment)
            let expected = try await HTTPProbe.fetch(scene.origin.url("/_vod/2x20000000/0.ts")).body
            #expect(answer.isComplete && answer.body == expected)
            let root = "/proc/\(await scene.weir.pid ?? 0)/root"
            #expect(scene.pieces(in: root) == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: root + scene.weir.store + "/tmp") == [])
            // There is space for small pieces.
            #expect(try await scene.get("ts").exit == .code(0))
        }
    }
}

/// Detects mount namespaces, which some containers do not allow.
private enum Namespaces {
    static let areAvailable: Bool = {
        let probe = Process()
        probe.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        probe.arguments = ["unshare", "--map-root-user", "--mount", "true"]
        guard (try? probe.run()) != nil else { return false }
        probe.waitUntilExit()
        return probe.terminationStatus == 0
    }()
}
