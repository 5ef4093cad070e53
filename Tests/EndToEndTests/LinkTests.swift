import Foundation
import TestSupport
import Testing

@Suite("Over a slow link")
struct LinkTests {
    @Test("to the origin, a download completes at the link's rate and plays every frame")
    func downloadsAtLinkRate() async throws {
        try await Scene.with { scene in
            let link = try await LinkConditioner(to: scene.origin.url(""), preset: "DSL", state: scene.weir.state)
            let get = try await scene.weir.run(["get", link.url("/ts/master.m3u8"), "-q", "best"])
            #expect(get.exit == .code(0), "\(get.errors)")
            let frames = try await FrameHashes.of(scene.weir.url("/offline/ts.m3u8"))
            #expect(try await frames.firstDifference(from: PlainFrames.ofBest("ts")) == nil)
            #expect(try await scene.repetitions() == [:])
            let media = try await scene.mediaRequests().reduce(0) { $0 + $1.bytes }
            try await Self.expect(link, carried: media, bitsPerSecond: 2_000_000)
        }
    }

    @Test("to the origin, a session plays every frame while the link changes")
    func playsWhileLinkChanges() async throws {
        try await Scene.with { scene in
            let link = try await LinkConditioner(to: scene.origin.url(""), preset: "DSL", state: scene.weir.state)
            async let frames = FrameHashes.of(scene.weir.url("/" + link.url("/ts/master.m3u8")))
            try await waitUntil("media to come") { try await link.traffic().bytesDown > 30_000 }
            #expect(try await scene.weir.run(["link", "set", "lte"]).exit == .code(0))
            #expect(try await frames.firstDifference(from: PlainFrames.of("ts")) == nil)
            #expect(try await link.traffic().preset == "LTE")
        }
    }

    @Test("to Weir, a player gets the same frames")
    func playsOverSlowLink() async throws {
        try await Scene.with { scene in
            let link = try await LinkConditioner(to: scene.weir.address, preset: "DSL")
            let frames = try await FrameHashes.of(link.url("/" + scene.origin.master("ts")))
            #expect(try await frames.firstDifference(from: PlainFrames.of("ts")) == nil)
            try await Self.expect(link, carried: Self.size(of: "ts"), bitsPerSecond: 2_000_000)
        }
    }

    /// Checks the link's log: no second exceeds the rate, and the total equals all bodies with their heads.
    private static func expect(_ link: LinkConditioner, carried: Int, bitsPerSecond: Int) async throws {
        let seconds = try await link.stop()
        let total = seconds.reduce(0) { $0 + $1.down }
        #expect((carried...carried + carried / 10 + 20_000).contains(total), "\(total) for \(carried)")
        #expect(seconds.allSatisfy { Double($0.down * 8) <= 1.03 * Double(bitsPerSecond) }, "\(seconds)")
    }

    /// Total bytes of a fixture's segments.
    private static func size(of fixture: String) throws -> Int {
        let folder = URL(fileURLWithPath: Repository.path("fixtures/media/" + fixture))
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.fileSizeKey])
        return try (found?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "ts" }
            .reduce(0) { $0 + (try $1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
    }
}
