import Foundation
import TestSupport
import Testing

/// Films whose media changes in the middle, in one file and in several.
@Suite("An export of media that changes")
struct ContainerTests {
    /// Films of two or three parts of 40 pictures, and what one file has of their pictures.
    private static let films: [(name: String, parts: [String], pictures: String)] = [
        ("map", ["avc", "large"], "40 of 80 pictures"),
        ("transport", ["avc", "ts", "avc"], "40 of 120 pictures"),
        ("codec", ["avc", "hevc"], "40 of 80 pictures"),
    ]

    @Test("says how much one file plays, and the files of its parts have every picture", arguments: 0..<films.count)
    func saysWhatIsLost(index: Int) async throws {
        let film = Self.films[index]
        let root = try TemporaryFolder()
        try await Self.makeFilm(film.parts, in: root)
        try await Scene.with(root: root.path) { scene in
            let out = try TemporaryFolder()
            let got = try await scene.weir.run(["get", scene.origin.url("/film.m3u8"), "--name", "film"])
            #expect(got.exit == .code(0), "\(got.errors)")
            for ending in ["mkv", "mp4", "ts"] {
                let path = out.path("film." + ending)
                let one = try await scene.weir.run(["export", "film", path])
                #expect(one.exit == .code(3) && one.errors.contains("plays only \(film.pictures)"), "\(one.errors)")
                #expect(one.errors.contains("try: weir export film \(path) --split"), "\(one.errors)")

                let split = try await scene.weir.run(["export", "film", path, "--split"])
                #expect(split.exit == .code(0), "\(split.errors)")
                for part in film.parts.indices {
                    let frames = try await FrameHashes.of(out.path("film-\(part + 1).\(ending)"))
                    let counts = frames.streams.filter { $0.mediaType == "video" }.map(\.frames.count)
                    #expect(counts == [40] && frames.errors.isEmpty, "\(ending) \(part): \(counts) \(frames.errors)")
                    // The only name of HEVC that Apple's players accept; ffmpeg itself writes hev1.
                    if ending == "mp4", film.parts[part] == "hevc" {
                        let file = try Data(contentsOf: URL(filePath: out.path("film-\(part + 1).mp4")))
                        #expect(file.range(of: Data("hvc1".utf8)) != nil && file.range(of: Data("hev1".utf8)) == nil)
                    }
                }
            }
            #expect(try await scene.weir.run(["export", "film", out.path("folder")]).exit == .code(0))
            let refused = try await scene.weir.run(["export", "film", out.path("other"), "--split"])
            #expect(refused.exit == .code(64) && refused.errors.contains("holds the whole film"), "\(refused)")
        }
    }

    @Test("to sound alone, or to transport stream, has what was asked for, and says what it has not")
    func otherEndings() async throws {
        try await Scene.with { scene in
            let out = try TemporaryFolder()
            #expect(try await scene.get("cmaf", ["--audio", "all", "--subs", "all"]).exit == .code(0))
            for (name, kinds, exit) in [
                ("sound.mka", ["audio", "audio"], 0), ("sound.m4a", ["audio", "audio"], 0),
                ("film.ts", ["video", "audio", "audio"], 3),
            ] {
                let result = try await scene.weir.run(["export", "cmaf", out.path(name)])
                #expect(result.exit == .code(Int32(exit)), "\(name): \(result.errors)")
                #expect(result.errors.contains("has no text") == (exit == 3), "\(name): \(result.errors)")
                #expect(try await FrameHashes.of(out.path(name)).streams.map(\.mediaType) == kinds, "\(name)")
            }
        }
    }

    // MARK: Films

    private static let encodings: [String: [String]] = [
        "avc": ["-c:v", "libx264", "-profile:v", "high", "-s", "320x180", "-hls_segment_type", "fmp4"],
        "large": ["-c:v", "libx264", "-profile:v", "baseline", "-s", "480x270", "-hls_segment_type", "fmp4"],
        "hevc": ["-c:v", "libx265", "-x265-params", "log-level=none", "-hls_segment_type", "fmp4"],
        "ts": ["-c:v", "libx264", "-s", "320x180"],
    ]

    /// Lays `film.m3u8`, with a part of two seconds for each encoding, and its media.
    private static func makeFilm(_ parts: [String], in folder: TemporaryFolder) async throws {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:1", "#EXT-X-PLAYLIST-TYPE:VOD"]
        for (index, part) in parts.enumerated() {
            try await encode(part, in: folder)
            if index > 0 {
                lines.append("#EXT-X-DISCONTINUITY")
            }
            let text = try String(contentsOfFile: folder.path("\(part)/media.m3u8"), encoding: .utf8)
            for line in text.split(separator: "\n").map(String.init) {
                if line.hasPrefix("#EXT-X-MAP:") {
                    lines.append("#EXT-X-MAP:URI=\"\(part)/init.mp4\"")
                } else if line.hasPrefix("#EXTINF:") {
                    lines.append(line)
                } else if !line.hasPrefix("#") {
                    lines.append("\(part)/\(line)")
                }
            }
        }
        lines.append("#EXT-X-ENDLIST")
        _ = try folder.write(Data(lines.joined(separator: "\n").utf8), to: "film.m3u8")
    }

    private static func encode(_ part: String, in folder: TemporaryFolder) async throws {
        let home = folder.path(part)
        guard !FileManager.default.fileExists(atPath: home) else { return }
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let input = [
            "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=20:duration=2", "-f", "lavfi",
            "-i", "sine=440:duration=2",
        ]
        let output = [
            "-preset", "ultrafast", "-g", "20", "-bf", "0", "-c:a", "aac", "-hls_time", "1", "-hls_playlist_type",
            "vod",
            "-hls_fmp4_init_filename", "init.mp4", "media.m3u8",
        ]
        let made = try await ProcessRunner.run(
            "ffmpeg", input + (encodings[part] ?? []) + output, folder: home)
        guard made.exit == .code(0) else { throw TimedOut("\(part): \(made.errors)") }
    }
}
