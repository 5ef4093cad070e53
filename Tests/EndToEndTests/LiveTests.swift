import Foundation
import TestSupport
import Testing

@Suite("A live stream")
struct LiveTests {
    /// The files in the store except the catalogue and the lock.
    private func kept(_ scene: Scene) -> [String] {
        let found = FileManager.default.enumerator(atPath: scene.weir.store)?.allObjects as? [String] ?? []
        return found.filter {
            !$0.hasPrefix("catalogue-1.sqlite") && !["lock", "tmp", "assets", "records"].contains($0)
        }
    }

    @Test(
        "plays as the origin shows it, to its end, and is not stored",
        arguments: ["master", "media"])
    func playsWithoutStoring(entry: String) async throws {
        try await Scene.with { scene in
            let origin = scene.origin
            let path = "/_live/a/\(entry).m3u8"
            let url = await scene.url(path)
            async let through = FrameHashes.of(url)
            async let plain = FrameHashes.of(origin.url(path))
            // The window advances once both have its segments, by less than its length.
            for newest in 3..<12 {
                if newest > 3 {
                    try await origin.advance("a")
                }
                try await waitUntil("both players at segment \(newest)", within: .seconds(30)) {
                    try await origin.requests(for: "/_live/a/\(newest).ts").count >= 2
                }
            }
            #expect(kept(scene) == [])
            try await origin.end("a")
            let frames = try await through
            #expect(frames.firstDifference(from: try await plain) == nil)
            #expect(frames.streams.first?.frames.isEmpty == false)
            #expect(try await scene.repetitions().values.allSatisfy { $0 == 2 })
        }
    }

    @Test("is requested once for any number of players")
    func requestsOnceForManyPlayers() async throws {
        try await Scene.with { scene in
            let variant = try await PlaylistWalk.segments(scene.url("/_live/b/master.m3u8"))[0]
            try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        let segment = try await PlaylistWalk.segments(variant)[1]
                        return try await HTTPProbe.fetch(segment).body
                    }
                }
                let expected = try await HTTPProbe.fetch(scene.origin.url("/_live/b/1.ts")).body
                for try await body in group {
                    #expect(body == expected)
                }
            }
            // One connection is the test's own.
            let requests = try await scene.origin.requests(for: "/_live/b/1.ts")
            #expect(requests.count == 2, "\(requests)")
            #expect(try await scene.origin.requests(for: "/_live/b/media.m3u8").count <= 2)
        }
    }

    @Test("shows new segments, and serves one that has just left the window")
    func servesSegmentAfterWindow() async throws {
        try await Scene.with { scene in
            let url = await scene.url("/_live/c/media.m3u8")
            let first = try await HTTPProbe.fetch(url)
            #expect(first.text.contains("#EXT-X-MEDIA-SEQUENCE:0\n") && !first.text.contains("ENDLIST"))
            #expect(first["cache-control"] == "no-cache")
            let segments = PlaylistWalk.references(in: first.text)
            try await scene.origin.advance("c", by: 3)
            try await waitUntil("the window's sliding") {
                try await HTTPProbe.fetch(url).text.contains("#EXT-X-MEDIA-SEQUENCE:3\n")
            }
            let late = try await HTTPProbe.fetch(scene.weir.url(segments[2]))
            #expect(try late.status == 200 && late.body == Repository.fixture("/ts/90p/2.ts"))
        }
    }

    @Test(
        "cannot be downloaded while in progress: get exits with 65 and says how to play it",
        arguments: ["_live", "_event"])
    func refusesGet(kind: String) async throws {
        try await Scene.with { scene in
            let url = scene.origin.url("/\(kind)/d/master.m3u8")
            let get = try await scene.weir.run(["get", url])
            #expect(get.exit == .code(65))
            #expect(get.errors.contains("live streams cannot be saved while they are in progress"), "\(get.errors)")
            #expect(get.errors.contains("mpv http://"), "\(get.errors)")
            #expect(kept(scene) == [])
            // After its end it can be downloaded.
            if kind == "_event" {
                try await scene.origin.end("d")
                try await waitUntil("the end") { try await scene.weir.run(["get", url]).exit == .code(0) }
            }
        }
    }
}
