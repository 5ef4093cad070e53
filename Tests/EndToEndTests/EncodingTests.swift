import Foundation
import TestSupport
import Testing

/// Playlist encodings: compression, byte order marks, characters.
@Suite("Playlist encodings:")
struct EncodingTests {
    @Test("gzip is requested for playlists only, and the frames are the same", arguments: ["aes", "cmaf"])
    func requestsGzipForPlaylists(fixture: String) async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*") { $0.gzip = true })
            try await expectFrames(scene.master(fixture), of: fixture)
            let requests = try await scene.origin.requests().filter { !$0.isComparison }
            #expect(requests.allSatisfy { $0.isForMedia == ($0.headers["accept-encoding"] == nil) })
            let playlists = requests.filter { !$0.isForMedia }
            #expect(playlists.count >= 3 && playlists.allSatisfy { $0.headers["accept-encoding"] == "gzip" })
            for request in playlists {
                #expect(request.bytes < (try Repository.fixture(request.path)).count, "\(request.path) came as it is")
            }
        }
    }

    @Test("a long playlist in gzip is decoded at any compression ratio")
    func decodesLongGzip() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*") { $0.gzip = true })
            let segments = try await PlaylistWalk.segments(scene.url("/_vod/50000x1000/media.m3u8"))
            #expect(segments.count == 50000 && segments.last?.hasSuffix("/49999.ts") == true)
        }
    }

    @Test(
        "a decompression bomb gives a 502 with the reason", arguments: ["/master.m3u8", "/270p/media.m3u8"])
    func refusesDecompressionBomb(path: String) async throws {
        try await Scene.with { scene in
            try await scene.origin.add(
                OriginRule("*\(path)") {
                    ($0.status, $0.gzip) = (200, true)
                    $0.body = "#EXTM3U\n#" + String(repeating: " ", count: 7 << 20) + "\n"
                })
            let entry = try await HTTPProbe.fetch(scene.master("ts"))
            let answer = entry.status == 200 ? try await lastRendition(scene) : entry
            #expect(answer.status == 502 && answer.isComplete)
            #expect(answer.text.contains("larger than allowed") && answer.text.contains("compressed"), "\(answer.text)")
        }
    }

    private func lastRendition(_ scene: Scene) async throws -> HTTPAnswer {
        try await HTTPProbe.fetch(try #require(try await PlaylistWalk.segments(scene.master("ts")).last))
    }

    @Test("a byte order mark is removed")
    func removesByteOrderMark() async throws {
        try await Scene.with { scene in
            for path in ["/ts/master.m3u8", "/ts/90p/media.m3u8", "/ts/180p/media.m3u8", "/ts/270p/media.m3u8"] {
                let text = String(decoding: try Repository.fixture(path), as: UTF8.self)
                try await scene.origin.add(OriginRule(path) { ($0.status, $0.body) = (200, "\u{FEFF}" + text) })
            }
            let entry = try await HTTPProbe.fetch(scene.master("ts"))
            #expect(entry.body.starts(with: Data("#EXTM3U\n".utf8)))
            try await expectFrames(scene.master("ts"), of: "ts")
        }
    }

    @Test("a byte that is not UTF-8 changes no frame")
    func playsWithInvalidUTF8() async throws {
        try await Scene.with { scene in
            for path in ["/ts/master.m3u8", "/ts/90p/media.m3u8", "/ts/180p/media.m3u8", "/ts/270p/media.m3u8"] {
                // "#café" in ISO 8859-1, as the second line.
                let text = try Repository.fixture(path)
                let head = Data("#EXTM3U\n".utf8)
                let body =
                    head + Data("#caf\u{E9}\n".unicodeScalars.map { UInt8($0.value) }) + text.dropFirst(head.count)
                let hex = body.map { String(format: "%02x", $0) }.joined()
                try await scene.origin.add(OriginRule(path) { ($0.status, $0.bodyHex) = (200, hex) })
            }
            try await expectFrames(scene.master("ts"), of: "ts")
        }
    }
}
