import Foundation
import TestSupport
import Testing

/// A saved part plays as it was saved, at whatever times its sound is cut.
@Suite("A part whose sound is cut at other times than its picture")
struct OddSoundTests {
    /// The range that is saved, in seconds.
    private static let saved = 4.0..<8.0

    @Test("plays offline, with every frame that was saved", arguments: ["1.9", "2.5", "3.3"])
    func playsAsItWasSaved(duration: String) async throws {
        let folder = try TemporaryFolder()
        try await Self.makeFilm(in: folder, soundCutEach: duration)
        try await Scene.with(root: folder.path("")) { scene in
            let expected = try await FrameHashes.of(scene.origin.url("/odd/part.m3u8"))
            #expect(expected.streams.map(\.frames.count).contains(40))
            let result = try await scene.get("odd", ["--range", "4-8"])
            #expect(result.exit == .code(0), "\(result.errors)")
            try await scene.origin.stop()

            let entry = await scene.weir.url("/offline/odd.m3u8")
            let frames = try await FrameHashes.of(entry)
            #expect(frames.firstDifference(from: expected) == nil)
            for player in [Player.mpv, .vlc] {
                let report = try await player.play(entry)
                // VLC's position may be seconds before the end: see Player.Report.position.
                let least = player == .mpv ? 3.5 : 0.5
                #expect(report.ended && report.position ?? 0 >= least, "\(player): \(report)")
            }
        }
    }

    /// Lays `/odd/master.m3u8`, whose picture is cut each second, and `/odd/part.m3u8` with the segments alone that reach into
    /// the saved range.
    private static func makeFilm(in folder: TemporaryFolder, soundCutEach duration: String) async throws {
        let odd = folder.path("odd")
        try FileManager.default.copyItem(atPath: Repository.path("fixtures/media/cmaf"), toPath: odd)
        let sound = odd + "/sound"
        try FileManager.default.createDirectory(atPath: sound, withIntermediateDirectories: true)
        let arguments = [
            "-nostdin", "-v", "error", "-allowed_extensions", "ALL", "-i", "../audio-en/media.m3u8", "-c", "copy", "-f",
            "hls",
            "-hls_time", duration, "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4", "-hls_segment_filename",
            "%d.m4s", "media.m3u8",
        ]
        let result = try await ProcessRunner.run("ffmpeg", arguments, folder: sound)
        guard result.exit == .code(0) else { throw TimedOut("sound of \(duration) s: \(result.errors)") }

        for track in ["video-270p", "sound"] {
            let whole = try String(contentsOfFile: "\(odd)/\(track)/media.m3u8", encoding: .utf8)
            try write(reaching(whole), to: "\(odd)/\(track)/part.m3u8")
        }
        for name in ["master", "part"] {
            let media = name == "master" ? "media.m3u8" : "part.m3u8"
            let text = """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="sound/\(media)"
                #EXT-X-STREAM-INF:BANDWIDTH=200000,RESOLUTION=480x270,CODECS="avc1.42c00a,mp4a.40.2",AUDIO="a"
                video-270p/\(media)

                """
            try write(text, to: "\(odd)/\(name).m3u8")
        }
    }

    /// A media playlist with the segments alone that reach into the saved range.
    private static func reaching(_ playlist: String) -> String {
        var end = 0.0
        var stays = true
        var kept: [Substring] = []
        for line in playlist.split(separator: "\n") {
            if line.hasPrefix("#EXTINF:") {
                let start = end
                end += Double(line.dropFirst(8).prefix { $0 != "," }) ?? 0
                stays = start < saved.upperBound && end > saved.lowerBound
            }
            if stays || line == "#EXT-X-ENDLIST" {
                kept.append(line)
            }
        }
        return kept.map { $0 + "\n" }.joined()
    }

    private static func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }
}
