import Foundation
import TestSupport
import Testing

/// Mission S39: `check`, `show` and `get` have one verdict.
@Suite("S39: one verdict of")
struct VerdictTests {
    static let cases: [(name: String, path: String, rules: [OriginRule], exit: Int32)] = [
        ("a good stream", "/ts/master.m3u8", [], 0),
        ("DRM", "/drm.m3u8", [.playlist("/drm.m3u8", OriginRule.protectedPlaylist)], 65),
        (
            "DRM in a variant", "/drm/master.m3u8",
            [
                .playlist("/drm/master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\n/drm.m3u8\n"),
                .playlist("/drm.m3u8", OriginRule.protectedPlaylist),
            ], 65
        ),
        ("a missing playlist", "/nothing.m3u8", [], 76),
        ("a removed playlist", "/ts/master.m3u8", [OriginRule("/ts/master.m3u8") { $0.status = 410 }], 77),
        ("a refusal", "/ts/master.m3u8", [OriginRule("/ts/master.m3u8") { $0.status = 403 }], 77),
        ("a page", "/ts/master.m3u8", [OriginRule("/ts/master.m3u8") { $0.html = true }], 76),
        ("missing variants", "/ts/master.m3u8", [OriginRule("/ts/*/media.m3u8") { $0.status = 404 }], 76),
        ("pages in place of variants", "/ts/master.m3u8", [OriginRule("/ts/*/media.m3u8") { $0.html = true }], 76),
    ]

    @Test("three commands on one source", arguments: cases.map(\.name))
    func commandsAgree(name: String) async throws {
        let example = try #require(Self.cases.first { $0.name == name })
        try await Scene.with { scene in
            for rule in example.rules {
                try await scene.origin.add(rule)
            }
            let url = scene.origin.url(example.path)
            let check = try await ProcessRunner.run(Repository.builtProgram("weir"), ["check", url])
            let show = try await scene.weir.run(["show", url])
            let get = try await scene.weir.run(["get", url, "-q", "worst"])
            for result in [check, show, get] {
                #expect(result.exit == .code(example.exit), "\(result.output)\n\(result.errors)")
            }
        }
    }
}
