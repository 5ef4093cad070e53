import Foundation
import TestSupport
import Testing

@Suite("Frames through Weir equal the origin's, with each piece fetched once,")
struct FramesTests {
    /// A glob for the paths of a fixture's segments.
    private static func segments(of fixture: String) -> String {
        let extensions = ["audio": "aac", "byterange-fmp4": "mp4", "cmaf": "m4s"]
        return "/\(fixture)/*." + (extensions[fixture] ?? "ts")
    }

    @Test("cold, then warm, then warm after a restart", arguments: Repository.fixtures)
    func playsColdAndWarm(fixture: String) async throws {
        try await Scene.with { scene in
            try await expectFrames(scene.master(fixture), of: fixture)
            #expect(try await scene.repetitions() == [:])
            try await scene.origin.clearRequests()

            try await expectFrames(scene.master(fixture), of: fixture)
            try await scene.weir.restart()
            try await expectFrames(scene.master(fixture), of: fixture)
            #expect(try await scene.mediaRequests().map(\.resource) == [])
        }
    }

    @Test("after a get, with the origin stopped", arguments: Repository.fixtures)
    func playsAfterGet(fixture: String) async throws {
        try await Scene.with { scene in
            let result = try await scene.get(fixture)
            #expect(result.exit == .code(0), "\(result.errors)")
            #expect(try await scene.repetitions() == [:])
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/\(fixture).m3u8"), ofBestOf: fixture)
            try await scene.weir.restart()
            try await expectFrames(scene.weir.url("/\(fixture).m3u8"), ofBestOf: fixture)
            try await expectFrames(scene.master(fixture), ofBestOf: fixture)
        }
    }

    @Test("with half of the pieces deleted", arguments: Repository.fixtures, [true, false])
    func playsHalfStored(fixture: String, isRestarted: Bool) async throws {
        try await Scene.with { scene in
            try await expectFrames(scene.master(fixture), of: fixture)
            let fetched = try await scene.mediaRequests().count
            let pieces = scene.pieces()
            #expect(pieces.count == fetched)
            if isRestarted {
                try await scene.weir.kill()
            }
            let gone = pieces.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            for piece in gone {
                try FileManager.default.removeItem(atPath: piece)
            }
            if isRestarted {
                try await scene.weir.start()
            }
            try await scene.origin.clearRequests()

            try await expectFrames(scene.master(fixture), of: fixture)
            #expect(try await scene.mediaRequests().count == gone.count)
            #expect(try await scene.repetitions() == [:])
            #expect(scene.pieces() == pieces)
        }
    }

    @Test("after a kill during a download, which then resumes", arguments: Repository.fixtures)
    func resumesAfterKill(fixture: String) async throws {
        try await Scene.with { scene in
            // From the third segment on, every body is cut. Adjacent ranges of one file are one request, which is cut as well.
            let isOneFile = fixture.hasPrefix("byterange")
            try await scene.origin.add(
                OriginRule(FramesTests.segments(of: fixture)) {
                    // The initialization section comes first and is not held: later requests may use its connection.
                    $0.skip = fixture == "byterange-fmp4" ? 1 : isOneFile ? 0 : 2
                    $0.pauseAfter = isOneFile ? 100_000 : 1000
                })
            let get = try scene.weir.begin(["get", scene.origin.master(fixture)])
            try await waitUntil("several segments half way, and what came before in the store") {
                let requests = try await scene.mediaRequests()
                let paused = requests.count { $0.state == "paused" }
                let done = requests.filter { $0.state == "done" }
                let pieces = scene.pieces()
                guard isOneFile else { return paused >= 3 && done.count == pieces.count }
                // The section at the beginning of a file was requested alone.
                let sections = done.count { $0.range?.hasPrefix("bytes=0-") ?? false }
                return paused >= 1 && pieces.count >= 3 && pieces.count { $0.contains("/init-") } >= sections
            }
            try await scene.weir.kill()
            _ = try await get.end()
            try await waitUntil("the origin's noticing") {
                try await scene.mediaRequests().allSatisfy { $0.state == "done" || $0.state == "gone" }
            }
            let cutOff = try await scene.mediaRequests().filter { $0.state == "gone" }
            let kept = scene.pieces().count
            #expect(kept >= 2 && cutOff.count >= (isOneFile ? 1 : 3))

            try await scene.origin.clearRules()
            try await scene.weir.start()
            try await scene.waitForCompletion(of: fixture)
            let twiceFetched = try await scene.repetitions(butFor: cutOff)
            #expect(twiceFetched == [:])
            try await expectFrames(scene.weir.url("/offline/\(fixture).m3u8"), ofBestOf: fixture)
            try await expectFrames(scene.master(fixture), of: fixture, as: "Editor/1")
            let twicePlayed = try await scene.repetitions(butFor: cutOff)
            #expect(twicePlayed == [:])
        }
    }
}
