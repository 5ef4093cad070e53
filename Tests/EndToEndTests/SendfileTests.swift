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

    @Test("is sent by sendfile: completely, or except the tables at the start if the rendition has holes")
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
            let lower = try #require(variants.first)
            let best = try #require(variants.last)
            try #require(lower.contains("video-180p") && best.contains("video-270p"))
            let complete = try await PlaylistWalk.segments(lower)
            let partial = try await PlaylistWalk.segments(best)
            try #require(complete.count == 6 && partial.count == 6)
            var sizes: [Int] = []
            for url in [complete[1], partial[1], partial[4]] {
                sizes.append(try await HTTPProbe.fetch(url).body.count)
            }
            let files = try ["180p/1", "270p/1", "180p/4"].map { try Repository.fixture("/ts/\($0).ts").count }
            // In a rendition with holes, two packets, one per stream, announce the splice of each segment.
            #expect(sizes == [files[0], files[1] + 2 * 188, files[2] + 2 * 188])
            // A daemon that answers again has returned from the calls before. strace loses the result of one that is killed in a call.
            _ = try await HTTPProbe.fetch(lower)
            try await scene.weir.kill()
            // PAT, PMT and other packets before the first media packet are sent together with these packets.
            #expect(try sent("video-180p/1.ts", trace) == files[0])
            #expect(try sent("video-270p/1.ts", trace) == files[1] - 3 * 188)
            #expect(try sent("video-180p/4.ts", trace) == files[2] - 3 * 188)
        }
    }
}
