import Foundation
import TestSupport
import Testing

/// A presentation with two variants and equal segmentation: twenty segments of one second, ten pictures each.
struct SubstitutionFixture: Sendable {
    /// Codec and packaging.
    struct Recipe: Hashable, Sendable, CustomTestStringConvertible {
        var codec = "avc"
        var isFragmented = false
        /// True if audio is muxed into the variants; else it is a separate rendition.
        var isMuxed = false
        /// True if both can share one initialization section: they differ only in bit rate.
        var isSetUpAlike = false
        var testDescription: String {
            "\(codec), \(isFragmented ? "fMP4" : "TS"), \(isMuxed ? "muxed" : "demuxed")"
                + (isSetUpAlike ? ", set up alike" : "")
        }
    }

    /// The folder to serve, with `/film/master.m3u8`.
    let folder: TemporaryFolder
    let recipe: Recipe
    /// Number of segments.
    static let count = 20
    /// Pictures per segment.
    static let rate = 10
    /// Rendition ids of the variants in Weir's URLs.
    var ids: (low: String, high: String) {
        recipe.isSetUpAlike ? ("video-90p", "video-90p-2") : ("video-90p", "video-180p")
    }

    init(_ recipe: Recipe) async throws {
        folder = try TemporaryFolder()
        self.recipe = recipe
        let fixture = self
        try await OncePerRun.makeFolder("substitution, \(recipe.testDescription)", at: folder.path("film")) { _ in
            try await fixture.make()
        }
    }

    private func make() async throws {
        try await encode("low", size: "160x90", kilobits: 80)
        try await encode("high", size: recipe.isSetUpAlike ? "160x90" : "320x180", kilobits: 300)
        if !recipe.isMuxed {
            try await run("sound", Self.sound + ["-c:a", "aac"])
        }
        for (name, variants) in [("master", ["low", "high"]), ("low", ["low"]), ("high", ["high"])] {
            try write(master(variants), to: "film/\(name).m3u8")
        }
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path(path)))
    }

    private func master(_ variants: [String]) -> String {
        var text = "#EXTM3U\n#EXT-X-INDEPENDENT-SEGMENTS\n"
        if !recipe.isMuxed {
            text +=
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"English\",LANGUAGE=\"en\",DEFAULT=YES,"
                + "URI=\"sound/media.m3u8\"\n"
        }
        for variant in variants {
            let (bits, size) =
                variant == "low" ? (200_000, "160x90") : (500_000, recipe.isSetUpAlike ? "160x90" : "320x180")
            text +=
                "#EXT-X-STREAM-INF:BANDWIDTH=\(bits),RESOLUTION=\(size),FRAME-RATE=10.000"
                + (recipe.isMuxed ? "" : ",AUDIO=\"a\"") + "\n\(variant)/media.m3u8\n"
        }
        return text
    }

    private static let sound = ["-f", "lavfi", "-i", "sine=sample_rate=48000:duration=\(count)"]

    private func encode(_ name: String, size: String, kilobits rate: Int) async throws {
        let picture = ["-f", "lavfi", "-i", "testsrc=size=\(size):rate=\(Self.rate):duration=\(Self.count)"]
        let keys = "keyint=10:min-keyint=10:scenecut=0:open-gop=0:bframes=2"
        var coding = ["-pix_fmt", "yuv420p", "-b:v", "\(rate)k"]
        if recipe.codec == "hevc" {
            coding += ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error:pools=1:\(keys)"]
            if recipe.isFragmented {
                coding += ["-tag:v", "hvc1"]
            }
        } else {
            coding += ["-c:v", "libx264", "-level", "3", "-x264-params", "threads=1:\(keys)"]
        }
        try await run(name, picture + (recipe.isMuxed ? Self.sound + ["-c:a", "aac"] : []) + coding)
    }

    private func run(_ name: String, _ arguments: [String]) async throws {
        let path = folder.path("film/" + name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let kind = recipe.isFragmented ? ["-hls_segment_type", "fmp4"] : []
        let hls = ["-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod", "-hls_list_size", "0"] + kind
        let files = ["-hls_segment_filename", recipe.isFragmented ? "%d.m4s" : "%d.ts", "media.m3u8"]
        let result = try await ProcessRunner.run(
            "ffmpeg", ["-nostdin", "-v", "error"] + arguments + hls + files, folder: path, within: .seconds(120))
        guard result.exit == .code(0) else { throw TimedOut("a fixture: \(result.errors)") }
    }

    // MARK: Frames

    /// Decodes a URL in original sizes, with ffmpeg's warnings in `errors`.
    static func frames(_ url: String) async throws -> FrameHashes {
        try await FrameHashes.of(url, level: "warning", outputOptions: ["-autoscale", "0"])
    }

    /// The expected frames if `isHigh` returns the variant of each segment, and the origin's frames of the high one.
    func expected(
        _ origin: TestOrigin, _ isHigh: (Int) -> Bool
    ) async throws -> (pictures: [FrameHashes.Frame], whole: FrameHashes) {
        let whole = try await Self.frames(origin.url("/film/high.m3u8"))
        let high = whole.pictures
        let low = try await Self.frames(origin.url("/film/low.m3u8")).pictures
        guard high.count == Self.count * Self.rate, low.count == high.count else {
            throw TimedOut("two hundred pictures: \(high.count), \(low.count)")
        }
        return (high.indices.map { isHigh($0 / Self.rate) ? high[$0] : low[$0] }, whole)
    }
}

extension FrameHashes {
    /// Frames of the first video stream.
    var pictures: [Frame] { streams.first { $0.mediaType == "video" }?.frames ?? [] }
    /// Frames of the first audio stream.
    var sound: [Frame] { streams.first { $0.mediaType == "audio" }?.frames ?? [] }
}
