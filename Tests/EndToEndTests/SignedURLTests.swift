import Foundation
import TestSupport
import Testing

@Suite("Signed URLs")
struct SignedURLTests {
    /// Makes the origin serve the "aes" fixture only with this token, except for the entry playlist.
    private func sign(_ token: String, at origin: TestOrigin) async throws {
        try await origin.clearRules()
        for path in ["master.m3u8", "90p/media.m3u8", "180p/media.m3u8"] {
            var text = String(decoding: try Repository.fixture("/aes/\(path)"), as: UTF8.self)
            for type in ["m3u8", "ts", "key"] {
                text = text.replacing(".\(type)", with: ".\(type)?token=\(token)")
            }
            let url = path == "master.m3u8" ? "/aes/\(path)" : "/aes/\(path)[?]token=\(token)"
            try await origin.add(OriginRule(url) { ($0.status, $0.body) = (200, text) })
        }
        try await origin.add(OriginRule("*[?]token=\(token)"), OriginRule("*") { $0.status = 403 })
    }

    @Test("that expire during playback do not affect the frames")
    func playsAcrossExpiry() async throws {
        try await Scene.with { scene in
            try await sign("a", at: scene.origin)
            let url = try #require(try await PlaylistWalk.segments(scene.master("aes")).last)
            #expect(try await HTTPProbe.fetch(url).status == 200)
            try await sign("b", at: scene.origin)
            try await scene.origin.clearRequests()
            let plain = try await TestOrigin()
            let expected = try await FrameHashes.of(plain.url("/aes/180p/media.m3u8"))
            let frames = try await FrameHashes.of(url)
            #expect(frames.firstDifference(from: expected) == nil && frames.complaints == [])
            let playlists = try await scene.origin.requests().filter { !$0.isForMedia && !$0.isComparison }
            #expect(playlists.map(\.path) == ["/aes/master.m3u8", "/aes/180p/media.m3u8?token=b"])
            #expect(scene.pieces().count == 9)
        }
    }

    @Test("valid for 5 s do not stop a longer download, and no complete piece is refetched")
    func downloadsWithShortLivedTokens() async throws {
        try await Scene.with { scene in
            // 24 segments of 100 kB, five at a time, each in 2.5 s.
            let playlist = "/_vod/24x100000/media.m3u8"
            try await scene.origin.add(
                OriginRule("/_vod/*") { $0.signed = .init(seconds: 5, open: playlist) },
                OriginRule("/_size/*") { $0.throttle = 40_000 })
            let get = try await scene.weir.run(["get", scene.origin.url(playlist)])
            #expect(get.exit == .code(0), "\(get.errors)")
            let requests = try await scene.mediaRequests()
            #expect(requests.count { $0.status == 200 } == 24 && scene.pieces().count == 24)
            #expect(Set(requests.filter { $0.status == 200 }.map { $0.path.prefix { $0 != "?" } }).count == 24)
        }
    }
}
