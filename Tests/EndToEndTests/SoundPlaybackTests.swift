import Foundation
import Glibc
import TestSupport
import Testing

@Suite("S31: a stored piece is verified before it is played")
struct SoundPlaybackTests {
    /// Stores a fixture, ends Weir, and flips a bit in one piece.
    private func damage(_ scene: Scene, _ fixture: String, _ suffix: String) async throws -> String {
        #expect(try await scene.get(fixture).exit == .code(0))
        try await scene.weir.terminate()
        let piece = try #require(scene.pieces().first { $0.hasSuffix(suffix) })
        try FileDamage.flipBit(of: piece, at: 5000)
        return piece
    }

    @Test("after a restart: a flipped bit is not served, is reported, and is not playable offline")
    func refusesOffline() async throws {
        try await Scene.with { scene in
            let piece = try await damage(scene, "ts", "/3.ts")
            try await scene.weir.start(options: ["--offline"])
            #expect(try await scene.weir.run(["list", "--offline"]).output.contains("ts"))
            let segments = try await Self.segments(scene.weir.url("/offline/ts.m3u8"))
            let sound = try await HTTPProbe.fetch(try #require(segments.first { $0.hasSuffix("/0.ts") }))
            #expect(sound.status == 200)
            let damaged = try await HTTPProbe.fetch(try #require(segments.first { $0.hasSuffix("/3.ts") }))
            #expect(damaged.status == 404, "\(damaged.status)")
            #expect(!scene.pieces().contains(piece))
            #expect(try await !scene.weir.run(["list", "--offline"]).output.contains("saved"))
            let log = await scene.weir.log
            #expect(log.contains("ts: video-270p/3.ts is damaged"), "\(log)")
        }
    }

    @Test("after a restart: a flipped bit is fetched again online, and every frame is the origin's")
    func fetchesAgain() async throws {
        try await Scene.with { scene in
            let piece = try await damage(scene, "ts", "/3.ts")
            try await scene.weir.start()
            try await scene.origin.clearRequests()
            try await expectFrames(scene.weir.url("/ts.m3u8"), ofBestOf: "ts")
            try await waitUntil("the piece") { scene.pieces().contains(piece) }
            let requests = try await scene.mediaRequests().map(\.path)
            #expect(requests == ["/ts/270p/3.ts"], "\(requests)")
            try await scene.waitForCompletion(of: "ts")
        }
    }

    /// Numbers at the end of their type come from a client, not from a playlist.
    @Test("numbers that no piece has do no harm")
    func survivesNumbers() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts").exit == .code(0))
            try await scene.weir.terminate()
            try await scene.weir.start()
            let segments = try await Self.segments(scene.weir.url("/ts.m3u8"))
            let first = try #require(segments.first { $0.hasSuffix("/0.ts") })
            for number in [Int.max - 8, Int.max - 3, Int.max, 0, 3] {
                let answer = try await HTTPProbe.fetch(first.replacing("/0.ts", with: "/\(number).ts"))
                #expect(answer.status == (number < 6 ? 200 : 404), "\(number): \(answer.status)")
            }
        }
    }

    @Test("of more than 32 MB block by block: what is sent is sound, and a damaged block ends the reply")
    func verifiesBlocks() async throws {
        try await Scene.with { scene in
            let size = 40_000_000
            let url = scene.origin.url("/_vod/2x\(size)/media.m3u8")
            #expect(try await scene.weir.run(["get", url, "--name", "film"]).exit == .code(0))
            try await scene.weir.terminate()
            let piece = try #require(scene.pieces().first { $0.hasSuffix("/0.ts") })
            let bytes = try Data(contentsOf: URL(filePath: piece))
            let block = 4 << 20
            try FileDamage.flipBit(of: piece, at: 5 * block + 7)
            try await scene.weir.start(options: ["--offline"])
            let segments = try await PlaylistWalk.segments(scene.weir.url("/offline/film.m3u8"))
            let last = "bytes=\(size - 1000)-\(size - 1)"
            let end = try await HTTPProbe.fetch(segments[0], fields: ["Range": last])
            #expect(end.status == 206 && end.body == bytes.suffix(1000))
            let cut = try await HTTPProbe.fetch(segments[0])
            #expect(cut.status == 200 && !cut.isComplete && cut.body == bytes.prefix(5 * block))
            try await waitUntil("the removal") { !scene.pieces().contains(piece) }
            #expect(try await HTTPProbe.fetch(segments[0]).status == 404)
            let other = try await HTTPProbe.fetch(segments[1])
            #expect(other.isComplete && other.body.count == size)
        }
    }

    @Test("of more than 32 MB that changes while Weir runs: its beginning is sent before its end is verified")
    func verifiesChangedBlocks() async throws {
        try await Scene.with { scene in
            let size = 40_000_000
            let url = scene.origin.url("/_vod/2x\(size)/media.m3u8")
            #expect(try await scene.weir.run(["get", url, "--name", "film"]).exit == .code(0))
            try await scene.weir.terminate()
            try await scene.weir.start(options: ["--offline"])
            let segments = try await PlaylistWalk.segments(scene.weir.url("/offline/film.m3u8"))
            let whole = try await HTTPProbe.fetch(segments[0])
            #expect(whole.isComplete && whole.body.count == size)
            let piece = try #require(scene.pieces().first { $0.hasSuffix("/0.ts") })

            #expect(utimes(piece, nil) == 0)
            #expect(try await HTTPProbe.fetch(segments[0]).body == whole.body)
            let block = 4 << 20
            try FileDamage.flipBit(of: piece, at: 5 * block + 7)
            let cut = try await HTTPProbe.fetch(segments[0])
            #expect(cut.status == 200 && !cut.isComplete && cut.body == whole.body.prefix(5 * block))
            try await waitUntil("the removal") { !scene.pieces().contains(piece) }
            #expect(try await HTTPProbe.fetch(segments[0]).status == 404)
        }
    }

    /// The segments of the only variant.
    private static func segments(_ url: String) async throws -> [String] {
        let variants = try await PlaylistWalk.segments(url)
        return try await PlaylistWalk.segments(try #require(variants.last))
    }
}
