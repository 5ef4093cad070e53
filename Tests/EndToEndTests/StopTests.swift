import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A stop")
struct StopTests {
    private static func logs(_ scene: Scene) throws -> Set<String> {
        let files = try FileManager.default.contentsOfDirectory(atPath: scene.weir.state + "/log")
        return Set(files.map { String($0.prefix { $0 != "-" }) })
    }

    /// Each part of a stop has a limit: what hangs keeps nothing else from its end.
    @Test("of a daemon whose disk takes no piece goes on to the logs, and the next start has what was stored")
    func endsWithADiskThatHangs() async throws {
        try await Scene.with(isStarted: false) { scene in
            let trace = try TemporaryFolder()
            // While the first piece is synced, many others come. These are synced by one call, which takes ten minutes.
            try await scene.weir.start(wrapper: [
                "strace", "-D", "-f", "-qq", "-o", trace.path("calls"), "-e", "trace=syncfs,fdatasync", "-e",
                "inject=fdatasync:delay_enter=500000", "-e", "inject=syncfs:delay_enter=600000000",
            ])
            let film = scene.origin.url("/_vod/200x1000/media.m3u8")
            #expect(try await scene.weir.run(["get", film, "--name", "film"]).exit == .code(0))
            let segment = try #require(try await PlaylistWalk.segments(scene.url("/ts/90p/media.m3u8")).first)
            #expect(try await HTTPProbe.fetch(segment).status == 200)
            try await waitUntil("the call") {
                try String(contentsOfFile: trace.path("calls"), encoding: .utf8).contains("syncfs(")
            }
            #expect(kill(try #require(await scene.weir.pid), SIGTERM) == 0)
            try await waitUntil("the end of the wait", within: .seconds(60)) {
                await scene.weir.log.contains("the latest pieces were not written within 8 s: the next start checks")
            }
            try await waitUntil("the logs") { try Self.logs(scene) == ["access", "sessions"] }

            try await scene.origin.clearRequests()
            try await scene.weir.restart()
            #expect(try await scene.weir.run(["verify", "film"]).exit == .code(0))
            #expect(try await scene.mediaRequests().map(\.path) == [])
        }
    }
}
