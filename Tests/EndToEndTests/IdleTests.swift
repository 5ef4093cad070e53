import Foundation
import TestSupport
import Testing

@Suite("A daemon with nothing to do")
struct IdleTests {
    /// The number of times that a thread of the process has waited or has been waited for, by thread.
    private static func switches(of process: pid_t) throws -> [String: String] {
        let tasks = "/proc/\(process)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(into: [:]) { found, thread in
            // A thread may end meanwhile.
            let status = (try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)) ?? ""
            found[thread] = status.split(separator: "\n").filter { $0.contains("ctxt_switches") }.joined()
        }
    }

    @Test("is not woken up, after playback, a download and commands")
    func isNotWokenUp() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts", ["-q", "90p"]).exit == .code(0))
            let playlists = try await PlaylistWalk.segments(await scene.master("cmaf"))
            let segment = try #require(try await PlaylistWalk.segments(playlists[0]).first)
            #expect(try await HTTPProbe.fetch(segment).status == 200)
            #expect(try await scene.weir.run(["list"]).exit == .code(0))
            let process = try #require(await scene.weir.pid)
            var before = try Self.switches(of: process)
            var since = ContinuousClock.now
            // Threads without work end after five seconds, a session after three.
            try await waitUntil("four seconds in which no thread runs", within: .seconds(60)) {
                let now = try Self.switches(of: process)
                if now != before {
                    before = now
                    since = .now
                }
                return .now - since >= .seconds(4)
            }
        }
    }
}
