import Foundation
import TestSupport
import Testing

/// Playlists that reference themselves.
@Suite("A reference loop")
struct LoopTests {
    private static let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=160x90\n"

    /// Serves a text at a path of the origin.
    private func put(_ path: String, _ text: String, _ scene: Scene) async throws {
        try await scene.origin.add(OriginRule(path) { ($0.status, $0.body) = (200, text) })
    }

    /// The response to the first URI in the playlist at a URL.
    private func first(_ url: String) async throws -> HTTPAnswer {
        try await HTTPProbe.fetch(try #require(try await PlaylistWalk.segments(url).first))
    }

    @Test(
        "of a multivariant playlist to itself gives a 502 with the reason",
        arguments: [false, true])
    func refusesSelfReference(isRedirected: Bool) async throws {
        try await Scene.with { scene in
            try await put("/loop/master.m3u8", Self.master + (isRedirected ? "media.m3u8\n" : "master.m3u8\n"), scene)
            try await scene.origin.add(OriginRule("/loop/media.m3u8") { $0.redirect = "/loop/master.m3u8" })
            let answer = try await first(scene.url("/loop/master.m3u8"))
            #expect(answer.status == 502 && answer.isComplete)
            let words = "is a multivariant playlist where a media playlist should be: it names itself.\n"
            #expect(answer.text.hasSuffix(words), "\(answer.text)")
            let get = try await scene.weir.run(["get", scene.origin.url("/loop/master.m3u8")])
            #expect(get.exit == .code(76) && get.errors.contains("it names itself"), "\(get.exit) \(get.errors)")
        }
    }

    @Test("of two multivariant playlists ends at the second")
    func endsAtSecondPlaylist() async throws {
        try await Scene.with { scene in
            try await put("/loop/a.m3u8", Self.master + "b.m3u8\n", scene)
            try await put("/loop/b.m3u8", Self.master + "a.m3u8\n", scene)
            let answer = try await first(scene.url("/loop/a.m3u8"))
            #expect(answer.status == 502 && answer.text.contains("where a media playlist should be"), "\(answer.text)")
            #expect(try await scene.origin.requests().map(\.path) == ["/loop/a.m3u8", "/loop/b.m3u8"])
        }
    }

    @Test("of a media playlist that is its own segment gives no piece")
    func refusesPlaylistAsSegment() async throws {
        try await Scene.with { scene in
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nmedia.m3u8\n#EXT-X-ENDLIST\n"
            try await put("/loop/media.m3u8", text, scene)
            let answer = try await first(scene.url("/loop/media.m3u8"))
            #expect(
                answer.status == 502 && answer.text.contains("answered with a playlist instead of media"),
                "\(answer.text)")
            #expect(scene.pieces() == [])
        }
    }

    @Test("of an interstitial that names its own primary asset plays the asset")
    func playsSelfInterstitial() async throws {
        try await Scene.with { scene in
            let range = "#EXT-X-DATERANGE:ID=\"1\",START-DATE=\"2026-01-01T00:00:00Z\",X-ASSET-URI=\"film.m3u8\"\n"
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(range)#EXTINF:2,\n/ts/90p/0.ts\n#EXT-X-ENDLIST\n"
            try await put("/loop/film.m3u8", text, scene)
            let film = try await HTTPProbe.fetch(scene.url("/loop/film.m3u8")).text
            let uri = try #require(PlaylistWalk.references(in: film).first)
            let inner = try await HTTPProbe.fetch(scene.weir.url(uri))
            #expect(inner.status == 200 && inner.text.contains("/interstitials/"), "\(inner.text)")
        }
    }
}
