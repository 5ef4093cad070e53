import Foundation
import Glibc
import TestSupport
import Testing

/// Titles: from whom they come, where they are shown, and how they are changed.
@Suite("Titles")
struct TitleTests {
    private static let master = """
        #EXTM3U
        #EXT-X-SESSION-DATA:DATA-ID="com.example.film.title",VALUE="Der Film",LANGUAGE="de"
        #EXT-X-SESSION-DATA:DATA-ID="com.example.film.title",VALUE="The  Film"
        #EXT-X-STREAM-INF:BANDWIDTH=100000
        /ts/90p/media.m3u8

        """

    /// Titles in the list, by name.
    private func titles(_ weir: WeirProcess) async throws -> [String: String] {
        let lines = try await weir.run(["list", "--json"]).output.split(separator: "\n")
        let assets = try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:] }
        return Dictionary(
            assets.map { ($0["name"] as? String ?? "", $0["title"] as? String ?? "") }, uniquingKeysWith: { $1 })
    }

    @Test("come from session data, and stay as the user changed or removed them")
    func sessionData() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(.playlist("/show/master.m3u8", Self.master))
            let url = scene.origin.url("/show/master.m3u8")
            #expect(try await scene.weir.run(["get", url]).exit == .code(0))
            #expect(try await titles(scene.weir) == ["show": "The Film"])
            #expect(try await scene.weir.run(["list"]).output.contains("The Film"))
            #expect(try await scene.weir.run(["set", "show", "--title", ""]).exit == .code(0))
            _ = try await HTTPProbe.fetch(scene.weir.url("/" + url))
            #expect(try await titles(scene.weir) == ["show": ""])
            #expect(try await scene.weir.run(["set", "show", "--title", "Mine"]).output == "show  Mine\n")
            try await scene.weir.restart()
            #expect(try await scene.weir.run(["rename", "show", "mine"]).exit == .code(0))
            #expect(try await titles(scene.weir) == ["mine": "Mine"])
        }
    }

    @Test("are given to the player")
    func player() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let url = scene.origin.master("ts")
            #expect(try await scene.get("ts", ["-q", "worst", "--title", "A 'b' c"]).exit == .code(0))
            for (name, option) in [
                ("mpv", "--force-media-title=A 'b' c"), ("vlc", "--meta-title=A 'b' c"),
                ("ffplay", "-window_title|A 'b' c"),
            ] {
                let path = try folder.write(
                    Data("#!/bin/sh\nfor word; do printf '%s|' \"$word\"; done\n".utf8), to: name)
                try #require(chmod(path, 0o755) == 0)
                for source in ["ts", url] {
                    let played = try await scene.weir.run(["play", source, "--player", path])
                    #expect(played.output.hasPrefix("\(option)|http://localhost:"), "\(played)")
                }
            }
            let mpv = try MPV([url, "--pause"], scene.weir)
            try await waitUntil("the title") { try await mpv.get("media-title") as? String == "A 'b' c" }
        }
    }

    @Test("are replaced by the name where there are none, and the name becomes no title")
    func name() async throws {
        try await Scene.with { scene in
            let mpv = try MPV([scene.origin.master("cmaf"), "--pause"], scene.weir)
            try await waitUntil("the name") { try await mpv.get("media-title") as? String == "cmaf" }
            _ = try await mpv.command(["keypress", "Ctrl+d"])
            try await scene.waitForCompletion(of: "cmaf")
            #expect(try await titles(scene.weir) == ["cmaf": ""])
        }
    }

    @Test("of what mpv plays stay with the download that its key begins")
    func keptByKey() async throws {
        try await Scene.with { scene in
            let mpv = try MPV(
                [scene.origin.master("ts"), "--pause", "--force-media-title=From the page"], scene.weir)
            try await waitUntil("the key") { try await mpv.keys().contains("Ctrl+d") }
            try await waitUntil("the film") { try await mpv.get("duration") as? Double ?? 0 > 0 }
            _ = try await mpv.command(["keypress", "Ctrl+d"])
            try await waitUntil("the title") { try await titles(scene.weir) == ["ts": "From the page"] }
        }
    }

    @Test("and a description are given to an asset without a download, and last")
    func describePlayed() async throws {
        try await Scene.with { scene in
            let url = scene.origin.url("/ts/master.m3u8")
            #expect(try await scene.weir.run(["cache", url, "--seconds", "4"]).exit == .code(0))
            let set = try await scene.weir.run(["set", "ts", "--title", "T", "--description", "seen with B."])
            #expect(set.exit == .code(0) && set.output == "ts  T  seen with B.\n", "\(set)")
            #expect(try await scene.weir.run(["show", "ts"]).output.contains("seen with B."))
            try await scene.weir.restart()
            #expect(try await scene.weir.run(["show", "ts"]).output.contains("seen with B."))
            // A download has a description of its own, until it is changed.
            #expect(try await scene.get("ts", ["-q", "worst", "--description", "for the train"]).exit == .code(0))
            #expect(try await scene.weir.run(["show", "ts"]).output.contains("for the train"))
            #expect(try await scene.weir.run(["set", "ts", "--description", ""]).output == "ts  T\n")
            #expect(try await !scene.weir.run(["show", "ts"]).output.contains("for the train"))
        }
    }

    @Test("and header fields, descriptions and images are changed and removed by weir set")
    func change() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let image = try folder.write(
                Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 0, count: 32)), to: "a.png")
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            let set = try await scene.weir.run(
                [
                    "set", "ts", "--title", "T", "--description", "D", "--artwork", image, "--header", "X-Ticket: 1",
                    "--header", "X-Other: 2",
                ])
            #expect(set.exit == .code(0) && set.output == "ts  T  D\n", "\(set)")
            func seen(_ quality: String) async throws -> Set<String?> {
                let before = try await scene.origin.requests().count
                #expect(try await scene.get("ts", ["-q", quality]).exit == .code(0))
                return Set(try await scene.origin.requests().dropFirst(before).map { $0.headers["x-ticket"] })
            }
            #expect(try await scene.weir.run(["list", "--json"]).output.contains("/artwork\""))
            #expect(try await seen("180p") == ["1"])
            let none = try await scene.weir.run(
                ["set", "ts", "--title", "", "--description", "", "--artwork", "", "--header", ""])
            #expect(none.exit == .code(0) && none.output == "ts\n", "\(none)")
            #expect(try await !scene.weir.run(["list", "--json"]).output.contains("/artwork\""))
            try await scene.weir.restart()
            #expect(try await scene.weir.run(["verify", "ts"]).exit == .code(0))
            #expect(try await seen("270p") == [nil])
            let nothing = try await scene.weir.run(["set", "ts"])
            #expect(nothing.exit == .code(64) && nothing.errors.contains("Give a --title"), "\(nothing)")
        }
    }
}
