import Foundation
import TestSupport
import Testing

@Suite("File descriptors")
struct DescriptorTests {
    private static let assets = 150

    private static func descriptors(of weir: WeirProcess) async throws -> Int {
        try await FileManager.default.contentsOfDirectory(atPath: "/proc/\(weir.pid ?? 0)/fd").count
    }

    @Test("suffice for more assets than there are descriptors")
    func suffice() async throws {
        try await Scene.with(isStarted: false) { scene in
            try await scene.weir.start(wrapper: ["prlimit", "--nofile=256:256"])
            for number in 0..<Self.assets {
                let entry = await scene.url("/_vod/1x\(1_880 + 188 * number)/media.m3u8")
                let segment = try #require(try await PlaylistWalk.segments(entry).first)
                let answer = try await HTTPProbe.fetch(segment)
                #expect(answer.status == 200 && answer.body.count == 1_880 + 188 * number)
            }
            try await scene.waitForPieces(Self.assets)
            // On a busy disk some pieces still wait for their sync.
            try await waitUntil("few descriptors") { try await Self.descriptors(of: scene.weir) < 128 }
            let verified = try await scene.weir.run(["verify", "--all"], within: .seconds(60))
            #expect(verified.exit == .code(0), "\(verified.output)\(verified.errors)")
            #expect(try await Self.descriptors(of: scene.weir) < 128)
            // A folder that was closed meanwhile.
            let first = await scene.url("/_vod/1x1880/media.m3u8")
            let segment = try #require(try await PlaylistWalk.segments(first).first)
            #expect(try await HTTPProbe.fetch(segment).body.count == 1_880)
            #expect(try await scene.repetitions() == [:])
        }
    }

    @Test("are as many as the system's hard limit allows")
    func areRaised() async throws {
        try await Scene.with(isStarted: false) { scene in
            try await scene.weir.start(wrapper: ["prlimit", "--nofile=128:777"])
            let limits = try await String(contentsOfFile: "/proc/\(scene.weir.pid ?? 0)/limits", encoding: .utf8)
            let line = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
            #expect(line?.split(separator: " ").dropFirst(3).first == "777")
        }
    }
}
