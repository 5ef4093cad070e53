import Foundation
import TestSupport
import Testing

/// How playlists are written and sent: compression, marks, characters.
@Suite("Of playlists")
struct EncodingTests {
    @Test("gzip is asked for, and of nothing else; the frames are the same", arguments: ["aes", "cmaf"])
    func gzip(fixture: String) async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*") { $0.gzip = true })
            try await expectFrames(scene.master(fixture), of: fixture)
            let requests = try await scene.origin.requests()
            #expect(requests.allSatisfy { $0.isForMedia == ($0.headers["accept-encoding"] == nil) })
            let playlists = requests.filter { !$0.isForMedia }
            #expect(playlists.count >= 3 && playlists.allSatisfy { $0.headers["accept-encoding"] == "gzip" })
            for request in playlists {
                #expect(request.bytes < (try Repository.fixture(request.path)).count, "\(request.path) came as it is")
            }
        }
    }

    @Test("a long one in gzip is decoded, whatever its text shrinks to")
    func longGzip() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*") { $0.gzip = true })
            let segments = try await PlaylistWalk.segments(scene.url("/_vod/50000x1000/media.m3u8"))
            #expect(segments.count == 50000 && segments.last?.hasSuffix("/49999.ts") == true)
        }
    }

    @Test(
        "one that unpacks out of all proportion is a 502 that says so", arguments: ["/master.m3u8", "/270p/media.m3u8"])
    func bomb(path: String) async throws {
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

    @Test("a byte order mark is taken away")
    func mark() async throws {
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

    @Test("characters that are not UTF-8 are a 502 that names the line")
    func notUTF8() async throws {
        try await Scene.with { scene in
            // "#EXTM3U", and "#café" as ISO 8859-1 has it.
            let hex = "234558544d33550a" + "23636166e90a"
            try await scene.origin.add(OriginRule("*.m3u8") { ($0.status, $0.bodyHex) = (200, hex) })
            let answer = try await HTTPProbe.fetch(scene.master("ts"))
            #expect(
                answer.status == 502 && answer.text.contains("line 2: ") && answer.text.contains("UTF-8"),
                "\(answer.text)")
        }
    }
}
