import Foundation
import TestSupport
import Testing

/// Downloads that do not begin: one sentence, the next step, the exit code, and nothing left behind.
@Suite("A download that cannot begin")
struct GhostTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var path = "/ts/master.m3u8"
        var rules: [OriginRule] = []
        var options: [String] = []
        let exit: Int32
        /// Parts of the sentence, and of the next step.
        let says: [String]
        let next: String
    }

    static let cases = [
        Case(
            testDescription: "a missing playlist", path: "/nothing.m3u8", exit: 76, says: ["404"],
            next: "check the address in a browser"),
        Case(
            testDescription: "a removed playlist", rules: [OriginRule("/ts/master.m3u8") { $0.status = 410 }], exit: 77,
            says: ["410"], next: "check the address in a browser"),
        Case(
            testDescription: "a refusal", path: "/ts/master.m3u8?a=1&b='",
            rules: [OriginRule("/ts/master.m3u8*") { $0.status = 403 }], exit: 77, says: ["403"],
            next: "weir get --header 'Referer: …' --cookies FILE 'http://"),
        Case(
            testDescription: "a password", rules: [OriginRule("/ts/master.m3u8") { $0.status = 401 }], exit: 77,
            says: ["401"], next: "weir get --header 'Authorization: …'"),
        Case(
            testDescription: "a page", rules: [OriginRule("/ts/master.m3u8") { $0.html = true }], exit: 76,
            says: ["HTML", "where a playlist should be"], next: "yt-dlp -g"),
        Case(
            testDescription: "DRM", path: "/drm.m3u8", rules: [.playlist("/drm.m3u8", OriginRule.protectedPlaylist)],
            exit: 65, says: ["DRM"],
            next: "use a source without DRM"),
        Case(
            testDescription: "DRM in a variant", path: "/drm/master.m3u8",
            rules: [
                .playlist("/drm/master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\n/drm.m3u8\n"),
                .playlist("/drm.m3u8", OriginRule.protectedPlaylist),
            ], exit: 65, says: ["DRM"], next: "use a source without DRM"),
        Case(
            testDescription: "a live stream", path: "/_live/show/media.m3u8", exit: 65, says: ["live"],
            next: "weir get --record"),
        Case(
            testDescription: "no such quality", options: ["--audio", "xx"], exit: 65, says: ["xx"], next: ""),
        Case(
            testDescription: "missing variants", rules: [OriginRule("/ts/*/media.m3u8") { $0.status = 404 }], exit: 76,
            says: ["404"], next: ""),
    ]

    @Test("says why, and leaves no row", arguments: cases)
    func leavesNothing(example: Case) async throws {
        try await Scene.with { scene in
            for rule in example.rules {
                try await scene.origin.add(rule)
            }
            let got = try await scene.weir.run(["get", scene.origin.url(example.path)] + example.options)
            #expect(got.exit == .code(example.exit), "\(got.exit) \(got.errors)")
            let lines = got.errors.split(separator: "\n").map(String.init)
            let sentence = try #require(lines.first { $0.hasPrefix("weir: ") }, "\(got.errors)")
            for part in example.says {
                #expect(sentence.contains(part), "\(got.errors)")
            }
            if !example.next.isEmpty {
                let next = try #require(lines.first { $0.hasPrefix("try: ") }, "\(got.errors)")
                #expect(next.contains(example.next), "\(got.errors)")
            }
            #expect(try await scene.weir.run(["list", "--json"]).output == "", "\(example)")
        }
    }

    @Test("from a host that does not exist says so")
    func mistypedHost() async throws {
        try await Scene.with { scene in
            let got = try await scene.weir.run(["get", "http://nothing.invalid/master.m3u8"])
            #expect(got.exit == .code(75), "\(got.exit) \(got.errors)")
            #expect(
                got.errors.contains("nothing.invalid") && got.errors.contains("try: check the host's spelling"),
                "\(got.errors)")
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
        }
    }

    /// A player that finds the origin absent notes that, so that other players need not wait.
    @Test("is not refused by what playback has noted about the origin")
    func absence() async throws {
        try await Scene.with { scene in
            let url = scene.origin.master("ts")
            #expect(try await scene.get("ts", ["-q", "90p"]).exit == .code(0))
            try await scene.origin.add(OriginRule("*") { $0.cutAfter = -1 })
            for _ in 0..<4 {
                _ = try await HTTPProbe.fetch(scene.weir.url("/" + url))
            }
            try await scene.origin.clearRules()
            let got = try await scene.weir.run(["get", url, "-q", "180p"])
            #expect(got.exit == .code(0), "\(got.errors)")
        }
    }

    @Test("or go on while offline is announced by the command that switches")
    func mode() async throws {
        try await Scene.with { scene in
            let changed = try await scene.weir.run(["mode", "offline"])
            #expect(
                changed.output == "offline\n" && changed.errors.contains("No connection is opened"), "\(changed.errors)"
            )
            #expect(try await scene.weir.run(["mode"]).errors == "")
            let got = try await scene.weir.run(["get", scene.origin.master("ts")])
            #expect(got.exit != .code(0) && got.errors.contains("offline"), "\(got.errors)")
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
        }
    }

    @Test("after a rental does again with --expires never")
    func rental() async throws {
        try await Scene.with { scene in
            for fixture in ["ts", "aes"] {
                #expect(try await scene.get(fixture, ["-q", "worst"]).exit == .code(0))
                #expect(try await scene.weir.run(["policy", fixture, "--rental"]).output.contains("48"))
                let never = try await scene.weir.run(["policy", fixture, "--expires", "never", "--json"])
                for word in ["expires", "afterFirstPlay", "keysExpire", "keysAfterFirstPlay"] {
                    #expect(!never.output.contains("\"\(word)\""), "\(never.output)")
                }
            }
        }
    }
}
