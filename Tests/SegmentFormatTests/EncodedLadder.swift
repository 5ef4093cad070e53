import Foundation
import TestSupport
import Testing

@testable import SegmentFormat

/// Two renditions that ffmpeg encodes for a test: fragmented MP4 with segments of one second and ten pictures each.
struct EncodedLadder: Sendable {
    /// Codec and packaging.
    struct Recipe: Hashable, Sendable, CustomTestStringConvertible {
        var codec = "avc"
        var isMuxed = false
        /// Flags of the `mov` muxer; empty to use the `hls` muxer.
        var flags = ""
        /// Consecutive B-frames of the low rendition.
        var reordered = 2
        var testDescription: String {
            let packaging = flags.isEmpty ? "" : ", \(flags)" + (reordered == 2 ? "" : ", \(reordered) B-frames")
            return "\(codec), \(isMuxed ? "muxed" : "demuxed")" + packaging
        }

        /// Encoder options in the codec's own syntax.
        fileprivate func encoder(reordered: Int) -> [String] {
            let keys = "keyint=10:min-keyint=10:scenecut=0:open-gop=0:bframes=\(reordered)"
            switch codec {
            case "hevc":
                return ["-c:v", "libx265", "-tag:v", "hvc1", "-x265-params", "log-level=error:pools=1:\(keys)"]
            default: return ["-c:v", "libx264", "-x264-params", "threads=1:\(keys)"]
            }
        }
    }

    /// One rendition.
    struct Rendition: Sendable {
        let initialization: [UInt8]
        let segments: [[UInt8]]
        /// Frames that ffmpeg decodes from the whole rendition.
        let frames: FrameHashes

        var section: InitializationSection { get throws { try InitializationSection(initialization) } }
    }

    let low: Rendition
    let high: Rendition

    /// Two renditions of different sizes. Each recipe is encoded once in a process.
    static func of(_ recipe: Recipe) async throws -> EncodedLadder {
        try await EncodedLadders.shared.task(recipe).value
    }

    fileprivate init(_ recipe: Recipe, seconds: Int = 6) async throws {
        let folder = try TemporaryFolder()
        let work = Work(recipe: recipe, seconds: seconds, folder: folder)
        low = try await work.rendition(size: "160x90", name: "low", reordered: recipe.reordered)
        high = try await work.rendition(size: "320x180", name: "high", reordered: 2)
    }

    private struct Work {
        let recipe: Recipe
        let seconds: Int
        let folder: TemporaryFolder

        func rendition(size: String, name: String, reordered: Int) async throws -> Rendition {
            let root = folder.path(name)
            try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
            let picture = "testsrc=size=\(size):rate=10:duration=\(seconds)"
            var arguments = ["-nostdin", "-v", "error", "-f", "lavfi", "-i", picture]
            if recipe.isMuxed {
                arguments += ["-f", "lavfi", "-i", "sine=sample_rate=48000:duration=\(seconds)", "-c:a", "aac"]
            }
            arguments += recipe.encoder(reordered: reordered) + ["-pix_fmt", "yuv420p"] + packaging
            let result = try await ProcessRunner.run("ffmpeg", arguments, folder: root, within: .seconds(120))
            try #require(result.exit == .code(0), "\(result.errors)")
            let (initialization, segments) = try recipe.flags.isEmpty ? listed(in: root) : split(root + "/all.mp4")
            try #require(segments.count == seconds)
            let playlist = try Playlist(initialization: initialization, segments: segments)
            return Rendition(
                initialization: initialization, segments: segments, frames: try await playlist.frames()
            )
        }

        private var packaging: [String] {
            if !recipe.flags.isEmpty {
                return ["-f", "mp4", "-movflags", recipe.flags, "all.mp4"]
            }
            return [
                "-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4",
                "-hls_segment_filename", "%d.m4s", "media.m3u8",
            ]
        }

        private func listed(in root: String) throws -> ([UInt8], [[UInt8]]) {
            (try bytes(root + "/init.mp4"), try (0..<seconds).map { try bytes(root + "/\($0).m4s") })
        }

        /// Splits a fragmented file: all up to `moov`, then one second of fragments per segment.
        private func split(_ path: String) throws -> ([UInt8], [[UInt8]]) {
            let whole = try bytes(path)
            var parts: [[UInt8]] = []
            var start: Int = 0
            for box in try Box.topLevel(of: whole) where box.type == "moov" || box.type == "mdat" {
                parts.append(Array(whole[start..<box.range.upperBound]))
                start = box.range.upperBound
            }
            let fragments = (parts.count - 1) / seconds
            let segments = (0..<seconds).map { second in
                (0..<fragments).flatMap { parts[1 + second * fragments + $0] }
            }
            return (parts[0], segments)
        }
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}

private actor EncodedLadders {
    static let shared = EncodedLadders()
    private var known: [EncodedLadder.Recipe: Task<EncodedLadder, any Error>] = [:]

    func task(_ recipe: EncodedLadder.Recipe) -> Task<EncodedLadder, any Error> {
        if let task = known[recipe] {
            return task
        }
        let task = Task { try await EncodedLadder(recipe) }
        known[recipe] = task
        return task
    }
}

/// A media playlist with at most one EXT-X-MAP, in its own temporary folder.
struct Playlist {
    let folder: TemporaryFolder
    var path: String { folder.path("media.m3u8") }

    /// Without an initialization section, segments are transport streams unless `suffix` differs.
    init(initialization: [UInt8]?, segments: [[UInt8]], seconds: Int = 1, suffix: String? = nil) throws {
        folder = try TemporaryFolder()
        let suffix = suffix ?? (initialization == nil ? "ts" : "m4s")
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(seconds)", "#EXT-X-PLAYLIST-TYPE:VOD"]
        if let initialization {
            lines.append("#EXT-X-MAP:URI=\"init.mp4\"")
            try folder.write(Data(initialization), to: "init.mp4")
        }
        for (index, segment) in segments.enumerated() {
            try folder.write(Data(segment), to: "\(index).\(suffix)")
            lines += ["#EXTINF:\(seconds),", "\(index).\(suffix)"]
        }
        try folder.write(Data((lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n").utf8), to: "media.m3u8")
    }

    /// Decodes the playlist; keeps the folder until that is done.
    func frames() async throws -> FrameHashes {
        defer { withExtendedLifetime(folder) {} }
        return try await Self.frames(of: path)
    }

    /// Decodes a file or playlist in original sizes, with ffmpeg's warnings in `errors`.
    static func frames(of path: String, options: [String] = []) async throws -> FrameHashes {
        // Threads for pictures as small as these cost more than they bring.
        let input = ["-nostdin", "-v", "warning", "-threads", "1"] + options + ["-i", path]
        let result = try await ProcessRunner.run(
            "ffmpeg", input + ["-map", "0", "-autoscale", "0", "-f", "framemd5", "-"], within: .seconds(90))
        try #require(result.exit == .code(0), "\(result.errors)")
        return FrameHashes(framemd5: result.output, errors: result.errors)
    }
}

/// Transport streams that ffmpeg encodes for a test.
enum EncodedTransport {
    /// One second of HEVC.
    static func hevc() async throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let arguments = [
            "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=10:duration=1",
            "-c:v", "libx265", "-x265-params", "log-level=error:pools=1:bframes=0:keyint=10", "-pix_fmt", "yuv420p",
            "-f", "mpegts", "a.ts",
        ]
        let result = try await ProcessRunner.run("ffmpeg", arguments, folder: folder.path)
        try #require(result.exit == .code(0), "\(result.errors)")
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("a.ts"))))
    }
}
