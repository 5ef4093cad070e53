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
