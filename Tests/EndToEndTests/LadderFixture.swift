import Foundation
import TestSupport

/// A presentation with three variants of constant bit rate: the lowest needs a third of 3G's 780 kb/s, the highest
/// more than all of it.
enum LadderFixture {
    /// Variant names, and bit rates in kb/s with container.
    static let variants = [("low", 240), ("mid", 480), ("top", 1500)]
    /// Duration in seconds.
    static let duration = 24
    /// Number of segments, of 2 s each.
    static let segments = 12

    /// Creates the presentation in a folder, as `/ladder/master.m3u8`.
    static func make(in folder: TemporaryFolder) async throws {
        var master = "#EXTM3U\n"
        for (name, rate) in variants {
            try await encode(name, kilobits: rate, to: folder.path("ladder/\(name)"))
            master +=
                "#EXT-X-STREAM-INF:BANDWIDTH=\(rate * 1100),RESOLUTION=\(rate / 2)x\(rate / 4)\n\(name)/media.m3u8\n"
        }
        try Data(master.utf8).write(to: URL(fileURLWithPath: folder.path("ladder/master.m3u8")))
    }

    private static func encode(_ name: String, kilobits rate: Int, to folder: String) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let source = "testsrc2=size=160x90:rate=10:duration=\(duration)"
        let exact = ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
        // A tenth is for the container. Unused bits are filled.
        let video = "\(rate * 9 / 10)k"
        let coding = [
            "-c:v", "libx264", "-threads", "1", "-preset", "ultrafast", "-b:v", video, "-minrate", video,
            "-maxrate", video, "-bufsize", "\(rate / 4)k",
            "-x264-params", "nal-hrd=cbr:filler=1:keyint=10:min-keyint=10:scenecut=0",
        ]
        let hls = [
            "-f", "hls", "-hls_time", "2", "-hls_playlist_type", "vod", "-hls_list_size", "0",
            "-hls_segment_filename", "%d.ts", "media.m3u8",
        ]
        let arguments = ["-nostdin", "-v", "error", "-f", "lavfi", "-i", source] + exact + coding + hls
        let result = try await ProcessRunner.run("ffmpeg", arguments, folder: folder)
        guard result.exit == .code(0) else { throw TimedOut("a fixture: \(result.errors)") }
    }
}
