import Foundation
import TestSupport
import Testing

/// EXT-X-DEFINE (rfc8216bis §4.4.2.3), which ffmpeg does not know.
@Suite("A presentation with variables")
struct VariablesTests {
    /// Gives the origin's "aes" a variable of each kind: a name and an import in the paths of segments and keys, and a
    /// query parameter with a signature, to which the playlists' URLs are redirected.
    private func define(at origin: TestOrigin) async throws {
        let master = try Self.fixture("/aes/master.m3u8")
            .replacing("#EXTM3U\n", with: "#EXTM3U\n#EXT-X-DEFINE:NAME=\"folder\",VALUE=\"keys\"\n")
            .replacing("#EXT-X-VERSION:4", with: "#EXT-X-VERSION:11\n#EXT-X-DEFINE:QUERYPARAM=\"user\"")
            .replacing("/media.m3u8", with: "/moved.m3u8?user={$user}")
        try await origin.add(
            OriginRule("/aes/master.m3u8?user=*") { ($0.status, $0.body) = (200, master) },
            OriginRule("/aes/90p/moved.m3u8?user=a%20b") { $0.redirect = "media.m3u8?sig=x%2By%3D" },
            OriginRule("/aes/180p/moved.m3u8?user=a%20b") { $0.redirect = "media.m3u8?sig=x%2By%3D" })
        for variant in ["90p", "180p"] {
            let media = try Self.fixture("/aes/\(variant)/media.m3u8")
                .replacing("../keys/", with: "../{$folder}/").replacing(".ts", with: "{$end}")
                .replacing("#EXT-X-VERSION:3", with: "#EXT-X-VERSION:11\n" + Self.definitions)
            try await origin.add(
                OriginRule("/aes/\(variant)/media.m3u8?sig=x%2By%3D") { ($0.status, $0.body) = (200, media) })
        }
    }

    private static let definitions = """
        #EXT-X-DEFINE:IMPORT="folder"
        #EXT-X-DEFINE:QUERYPARAM="sig"
        #EXT-X-DEFINE:NAME="end",VALUE=".ts?sig={$sig}"
        """

    private static func fixture(_ path: String) throws -> String {
        String(decoding: try Repository.fixture(path), as: UTF8.self)
    }

    @Test("plays like one without, from the origin and from the store after a restart")
    func playsWithVariables() async throws {
        try await Scene.with { scene in
            try await define(at: scene.origin)
            let path = "/aes/master.m3u8?user=a%20b"
            await #expect(throws: (any Error).self) { try await FrameHashes.of(scene.origin.url(path)) }
            try await scene.origin.clearRequests()
            try await expectFrames(scene.url(path), of: "aes")
            #expect(try await scene.repetitions() == [:])
            let segments = try await scene.mediaRequests().map(\.path).filter { $0.contains(".ts") }
            #expect(!segments.isEmpty && segments.allSatisfy { $0.hasSuffix(".ts?sig=x+y=") })

            #expect(try await !HTTPProbe.fetch(scene.url(path)).text.contains("DEFINE"))
            for variant in try await PlaylistWalk.segments(scene.url(path)) {
                let text = try await HTTPProbe.fetch(variant).text
                #expect(text.hasPrefix("#EXTM3U") && !text.contains("DEFINE") && !text.contains("{$"))
            }
            let result = try await scene.weir.run(["get", scene.origin.url(path)])
            #expect(result.exit == .code(0), "\(result.errors)")
            try await scene.origin.stop()
            try await scene.weir.restart()
            try await expectFrames(scene.weir.url("/aes.m3u8"), of: "aes")
        }
    }

    /// As ffmpeg, which knows no variables, and so that what does not need the variable plays.
    @Test("without a value for a variable requests the reference as it is")
    func keepsMissingValue() async throws {
        try await Scene.with { scene in
            try await define(at: scene.origin)
            let master = try Self.fixture("/aes/master.m3u8").replacing("media.m3u8", with: "media.m3u8?sig=x%2By%3D")
            try await scene.origin.add(OriginRule("/aes/master.m3u8") { ($0.status, $0.body) = (200, master) })
            let variant = try #require(try await PlaylistWalk.segments(scene.master("aes")).first)
            let answer = try await HTTPProbe.fetch(variant)
            #expect(answer.status == 200, "\(answer.text)")
            let key = try #require(try await PlaylistWalk.references(at: variant).first)
            #expect(try await HTTPProbe.fetch(key).status == 404)
            #expect(try await scene.origin.requests().contains { $0.path == "/aes/%7B$folder%7D/0.key" })
        }
    }
}
