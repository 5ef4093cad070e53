import Foundation
import TestSupport
import Testing

@Suite("Weir killed at whatever moment")
struct KillTests {
    @Test(
        "forgets no piece, serves none that is wrong, and needs no hand work",
        arguments: ["aes", "byterange-fmp4", "cmaf"])
    func again(fixture: String) async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/\(fixture)/*") { $0.throttle = 150_000 })
            // First while the playlists come, then after one piece more each time.
            for moment in 0..<9 {
                let before = scene.pieces().count
                try await scene.origin.clearRequests()
                let get = try scene.weir.begin(["get", scene.origin.master(fixture)])
                try await waitUntil("moment \(moment)") {
                    // All may have come in between.
                    if get.exit != nil { return true }
                    if moment < 3 { return try await scene.origin.requests().count > moment }
                    return scene.pieces().count > before
                }
                try await scene.weir.kill()
                _ = try await get.end()
                #expect(try await scene.repetitions() == [:])
                try await scene.weir.start()
            }
            let kept = scene.pieces()
            // What goes on by itself may be under way, but not what is there.
            let get = try await scene.get(fixture)
            #expect(get.exit == .code(0), "\(get.errors)")
            #expect(Set(kept).isSubset(of: scene.pieces()))
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/\(fixture).m3u8"), ofBestOf: fixture)
            try await scene.weir.restart()
            try await expectFrames(scene.weir.url("/\(fixture).m3u8"), ofBestOf: fixture)
        }
    }

    @Test("fetches no piece again that is there")
    func nothingAgain() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/ts/*") { $0.throttle = 100_000 })
            let get = try scene.weir.begin(["get", scene.origin.master("ts")])
            try await waitUntil("half of the pieces") { scene.pieces().count >= 3 }
            try await scene.weir.kill()
            _ = try await get.end()
            let kept = scene.pieces().count
            try await scene.origin.clearRequests()
            try await scene.weir.start()
            try await scene.waitForAnswer("/offline/ts.m3u8")
            #expect(try await scene.mediaRequests().count == 6 - kept)
        }
    }
}
