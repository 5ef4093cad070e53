import Foundation
import TestSupport
import Testing

@Suite("Stored media")
struct SendfileTests {
    /// Bytes passed to sendfile for a file, from an strace log.
    private func sent(_ file: String, _ trace: String) throws -> Int {
        try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
            .filter { $0.contains("sendfile(") && $0.contains("\(file)>") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
            .reduce(0, +)
    }

    @Test("is sent by sendfile: own segments completely, substituted segments except the tables at their start")
    func sendsFilesUncopied() async throws {
        let folder = try TemporaryFolder()
        let trace = folder.path("calls")
        try await Scene.with { scene in
            for part in [["-q", "180p"], ["-q", "270p", "--range", "0-6"]] {
                let result = try await scene.get("ts", part)
                #expect(result.exit == .code(0), "\(result.errors)")
            }
            try await scene.weir.kill()
            try await scene.weir.start(
                wrapper: ["strace", "-f", "-qq", "-y", "-o", trace, "-e", "trace=sendfile"], options: ["--offline"])
            let variants = try await PlaylistWalk.segments(scene.weir.url("/ts.m3u8"))
            let best = try #require(variants.last { $0.contains("video-270p") })
            let segments = try await PlaylistWalk.segments(best)
            try #require(segments.count == 6)
            let bodies = [
                try await HTTPProbe.fetch(segments[1]).body, try await HTTPProbe.fetch(segments[4]).body,
                try await HTTPProbe.fetch(segments[2]).body,
            ]
            let (own, other) = (try Repository.fixture("/ts/270p/1.ts"), try Repository.fixture("/ts/180p/4.ts"))
            let rejoined = try Repository.fixture("/ts/270p/2.ts")
            // Two packets, one per stream, announce the splice.
            #expect(bodies.map(\.count) == [own.count, other.count + 2 * 188, rejoined.count + 2 * 188])
            try await scene.weir.kill()
            // PAT, PMT and other packets before the first media packet are sent together with these packets.
            #expect(try sent("video-270p/1.ts", trace) == own.count)
            #expect(try sent("video-180p/4.ts", trace) == other.count - 3 * 188)
            #expect(try sent("video-270p/2.ts", trace) == rejoined.count - 3 * 188)
        }
    }
}
