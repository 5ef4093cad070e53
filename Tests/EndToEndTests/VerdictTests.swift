import Foundation
import TestSupport
import Testing

/// Mission S39: `check`, `show` and `get` have one verdict.
@Suite("S39: one verdict of")
struct VerdictTests {
    private static let protected = """
        #EXTM3U
        #EXT-X-VERSION:5
        #EXT-X-TARGETDURATION:2
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
        #EXTINF:2,
        /ts/90p/0.ts
        #EXT-X-ENDLIST

        """

    private static func text(_ path: String, _ body: String) -> OriginRule {
        OriginRule(path) { ($0.status, $0.body, $0.contentType) = (200, body, "application/vnd.apple.mpegurl") }
    }

    static let cases: [(name: String, path: String, rules: [OriginRule], exit: Int32)] = [
        ("a good stream", "/ts/master.m3u8", [], 0),
        ("DRM", "/drm.m3u8", [text("/drm.m3u8", protected)], 65),
        (
            "DRM in a variant", "/drm/master.m3u8",
            [
                text("/drm/master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\n/drm.m3u8\n"),
                text("/drm.m3u8", protected),
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
            for rule in example.rules { try await scene.origin.add(rule) }
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
