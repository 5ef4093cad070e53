import Foundation
import TestSupport
import Testing

/// Subtitle tracks as one file, and mpv's script that adds them.
@Suite("Subtitles as a file")
struct SubtitleFileTests {
    @Test("have the cues of all segments with times from the start, stored or not")
    func file() async throws {
        try await Scene.with { scene in
            let url = scene.origin.master("cmaf")
            #expect(
                try await scene.weir.run(["get", url, "-q", "worst", "--subs", "none", "--name", "film"]).exit
                    == .code(0))
            let fetched = try await HTTPProbe.fetch(scene.weir.url("/film.en.vtt"))
            #expect(fetched.status == 200 && fetched.text.hasPrefix("WEBVTT\n\n00:00:0"), "\(fetched.text)")
            let cues = fetched.text.split(separator: "\n").filter { $0.contains("-->") }
            #expect(cues.count > 2 && cues == cues.sorted(), "\(fetched.text)")
            let last = try #require(cues.last?.split(separator: " ").last)
            #expect(last < "00:00:13", "the film has 12 s: \(last)")
            try await scene.origin.stop()
            #expect(try await HTTPProbe.fetch(scene.weir.url("/film.subtitles-en.vtt")).text == fetched.text)
            #expect(try await HTTPProbe.fetch(scene.weir.url("/film.EN.vtt")).status == 200)
            for (path, status) in [("/film.fr.vtt", 404), ("/none.en.vtt", 404), ("/film.vtt", 404)] {
                #expect(try await HTTPProbe.fetch(scene.weir.url(path)).status == status, "\(path)")
            }
        }
    }

    @Test("go on behind a segment that the origin does not have, which is told")
    func hole() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*/subtitles-en/2.vtt") { $0.status = 404 })
            let got = try await scene.get("cmaf", ["-q", "worst", "--subs", "all", "--json"])
            #expect(got.exit == .code(3) && got.output.contains(#""reasons":["holes"],"exit":3}"#), "\(got)")
            try await scene.origin.stop()
            let shown = try await scene.weir.run(["show", "cmaf"]).output
            #expect(shown.contains("1 segment that the origin does not have"), "\(shown)")
            let joined = try await HTTPProbe.fetch(scene.weir.url("/cmaf.en.vtt"))
            #expect(joined.status == 200 && joined.text.contains("Second 3") && joined.text.contains("Second 6"))
            #expect(!joined.text.contains("Second 4"))

            let out = try TemporaryFolder()
            for target in ["film.mkv", "film"] {
                let exported = try await scene.weir.run(["export", "cmaf", out.path(target)])
                #expect(exported.exit == .code(0), "\(exported.errors)")
            }
            let text = try await ProcessRunner.run(
                "ffmpeg", ["-v", "error", "-i", out.path("film.mkv"), "-map", "0:s", "-f", "srt", "-"])
            #expect(
                text.output.contains("Second 3\n") && text.output.contains("00:00:06,100 --> 00:00:06,900\nSecond 6\n"))
            // A folder that leaves this Weir takes the hole along, and the next Weir fills it.
            #expect(try await scene.weir.run(["remove", "cmaf", "--yes"]).exit == .code(0))
            let added = try await scene.weir.run(["import", out.path("film"), "--name", "other"])
            #expect(added.exit == .code(0), "\(added.errors)")
            let entry = try await HTTPProbe.fetch(scene.weir.url("/offline/other.m3u8")).text
            let uri = try #require(
                entry.split(separator: "\"").map(String.init).first { $0.hasSuffix("/subtitles-en/media.m3u8") })
            let hole = try await HTTPProbe.fetch(scene.weir.url(uri.replacing("media.m3u8", with: "2.vtt")))
            #expect(
                hole.status == 200 && hole.text.hasPrefix("WEBVTT\nX-TIMESTAMP-MAP="), "\(hole.status) \(hole.text)")
        }
    }

    @Test("are added by mpv's script, which shows those of the user's language, plays weir:// and has a menu")
    func script() async throws {
        try await Scene.with { scene in
            for (fixture, title) in [("cmaf", "A film {1}"), ("ts", "The other")] {
                #expect(
                    try await scene.get(fixture, ["-q", "worst", "--subs", "all", "--title", title]).exit == .code(0))
            }
            try await scene.origin.stop()
            let mpv = try MPV(["weir://cmaf", "--pause", "--slang=en", "--idle"], scene.weir)
            func tracks() async throws -> [[String: Any]] {
                let all = try await mpv.get("track-list") as? [[String: Any]] ?? []
                return all.filter { $0["type"] as? String == "sub" && $0["external"] as? Bool == true }
            }
            try await waitUntil("the subtitles") { try await tracks().count == 1 }
            let track = try #require(try await tracks().first)
            #expect(track["lang"] as? String == "en" && track["title"] as? String == "English", "\(track)")
            try await waitUntil("their choice") { try await tracks().first?["selected"] as? Bool == true }
            try await waitUntil("the title") { try await mpv.get("media-title") as? String == "A film {1}" }
            _ = try await mpv.command(["keypress", "Ctrl+l"])
            try await waitUntil("the menu") {
                let bindings = try await mpv.get("input-bindings") as? [[String: Any]] ?? []
                return bindings.contains { ($0["cmd"] as? String ?? "").contains("menu-ENTER") }
            }
            _ = try await mpv.command(["keypress", "DOWN"])
            _ = try await mpv.command(["keypress", "ENTER"])
            try await waitUntil("the other film") { try await mpv.get("media-title") as? String == "The other" }
            let all = try MPV(["weir://", "--pause"], scene.weir)
            try await waitUntil("the list of all") { try await all.get("playlist-count") as? Int == 2 }
        }
    }
}
