import Foundation
import TestSupport
import Testing

/// A presentation with two pathways, `/a/…` and `/b/…`.
@Suite("Redundant variants")
struct MirrorsTests {
    private func with(
        _ fixture: String, _ rules: OriginRule..., body: (Scene, String) async throws -> Void
    ) async throws {
        let root = try MirroredFixture.folder(fixture)
        try await Scene.with(root: root.path) { scene in
            for rule in rules {
                try await scene.origin.add(rule)
            }
            try await body(scene, scene.url("/master.m3u8"))
        }
    }

    @Test("are listed once, without content steering", arguments: ["ts", "cmaf"])
    func listsEachVariantOnce(fixture: String) async throws {
        try await with(fixture) { scene, url in
            let text = try await HTTPProbe.fetch(url).text
            let plain = String(decoding: try Repository.fixture("/\(fixture)/master.m3u8"), as: UTF8.self)
            #expect(text.split(separator: "\n").count == plain.split(separator: "\n").count)
            #expect(!text.contains("PATHWAY") && !text.contains("STEERING") && !text.contains("-b\""))
            try await expectFrames(url, of: fixture)
            #expect(try await scene.repetitions() == [:])
            #expect(try await scene.mediaRequests().allSatisfy { $0.path.hasPrefix("/a/") })
            let show = try await scene.weir.run(["show", "stream"]).output
            #expect(show.split(separator: "\n").count { $0.contains("x180") } == 1, "\(show)")
        }
    }

    @Test("fail over from a dead first pathway to the next", arguments: ["ts", "cmaf"], [404, 503])
    func failsOverForPlaylists(fixture: String, status: Int) async throws {
        try await with(fixture, OriginRule("/a/*") { $0.status = status }) { scene, url in
            try await expectFrames(url, of: fixture)
            try await scene.weir.restart()
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/offline/stream.m3u8"), of: fixture)
        }
    }

    @Test("fail over from a dead host in real players", arguments: [Player.ffmpeg, .vlc])
    func failsOverFromDeadHost(player: Player) async throws {
        try await with("ts") { scene, _ in
            let text = String(
                decoding: try Data(contentsOf: URL(fileURLWithPath: scene.origin.root + "/master.m3u8")), as: UTF8.self)
            let dead = text.replacing("\na/", with: "\nhttp://weir.invalid/a/")
                .replacing("PATHWAY-ID=\"a\",", with: "").replacing("PATHWAY-ID=\"b\",", with: "")
            try await scene.origin.add(OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, dead) })
            let report = try await player.play(scene.url("/master.m3u8"))
            #expect(PlayerBaseline(player, "ts").shortcoming(of: report) == nil)
        }
    }

    @Test("supply segments missing at the other, once each, into one folder", arguments: ["aes", "cmaf"])
    func failsOverForSegments(fixture: String) async throws {
        let rules = ["ts", "m4s", "key"].map { type in OriginRule("/a/*[1-9].\(type)") { $0.status = 404 } }
        try await with(fixture, rules[0], rules[1], rules[2]) { scene, url in
            try await expectFrames(url, of: fixture)
            let result = try await scene.weir.run(["get", scene.origin.url("/master.m3u8")])
            #expect(result.exit == .code(0), "\(result.errors)")
            let whole = try await scene.mediaRequests().filter { $0.status == 200 }
            #expect(Set(whole.map { $0.path.dropFirst(2) }).count == whole.count)
            try await scene.origin.stop()
            try await scene.weir.restart()
            try await expectFrames(scene.weir.url("/offline/stream.m3u8"), of: fixture)
        }
    }
}
