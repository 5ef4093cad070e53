import Foundation
import TestSupport
import Testing

/// Sources that cannot be played, saved, shown or exported: each command says the same sentence with the same code, as in
/// `fixtures/golden/wrong-inputs.txt`.
///
/// `WEIR_WRITE_GOLDEN=1 swift test --filter WrongInputTests` writes the file; look at the difference before it is committed.
@Suite("A wrong input") struct WrongInputTests {
    /// A word that is no source, with `ORIGIN` for the origin's URL, and the rules of the origin for it.
    private struct Input {
        let word: String
        var rules: [OriginRule] = []

        init(_ word: String, _ rules: [OriginRule] = []) {
            self.word = word
            self.rules = rules
        }

        /// The URL of a body.
        init(body name: String, _ text: String, type: String? = nil) {
            let path = "/" + name
            self.init("ORIGIN" + path, [OriginRule(path) { ($0.status, $0.body, $0.contentType) = (200, text, type) }])
        }

        /// The URL of a body in hexadecimal digits.
        init(hex name: String, _ digits: String) {
            let path = "/" + name
            self.init("ORIGIN" + path, [OriginRule(path) { ($0.status, $0.bodyHex) = (200, digits) }])
        }
    }

    private static let statuses: [Input] = [
        400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 414, 415, 418, 422, 451,
    ].map { (status: Int) -> Input in
        let path = "/status-\(status).m3u8"
        return Input("ORIGIN" + path, [OriginRule(path) { $0.status = status }])
    }

    private static let texts: [Input] = [
        Input(body: "page", "<!doctype html><p>Hi</p>", type: "text/html"), Input(body: "page.m3u8", "<html></html>"),
        Input(body: "comment.m3u8", "<!-- a page -->"), Input(body: "json.m3u8", "{\"error\":1}"),
        Input(body: "list.json", "[1]"), Input(body: "feed.xml", "<?xml version=\"1.0\"?><rss></rss>"),
        Input(body: "manifest.mpd", "<?xml version=\"1.0\"?><MPD></MPD>"), Input(body: "dash", "<MPD></MPD>"),
        Input(body: "film.ism/manifest", "<SmoothStreamingMedia></SmoothStreamingMedia>"),
        Input(body: "radio.pls", "[playlist]\nFile1=http://h/a.mp3\n"),
        Input(body: "radio.asx", "<asx version=\"3\"></asx>"),
        Input(body: "list.xspf", "<playlist xmlns=\"http://xspf.org/ns/0/\"></playlist>"),
        Input(body: "channels.m3u", "#EXTM3U\n#EXTINF:-1,One\nhttp://h/1.m3u8\n#EXTINF:-1,Two\nhttp://h/2.m3u8\n"),
        Input(body: "subtitles.vtt", "WEBVTT\n\n00:00.000 --> 00:01.000\nHi\n"),
        Input(body: "subtitles.srt", "1\n00:00:00,000 --> 00:00:01,000\nHi\n"), Input(body: "text.m3u8", "Hello\n"),
        Input(body: "empty.m3u8", ""), Input(body: "blank.m3u8", "\n\n\n"), Input(body: "mark.m3u8", "\u{FEFF}"),
        Input(body: "head.m3u8", "#EXTM3U\n"), Input(body: "comments.m3u8", "#EXTM3U\n# nothing\n"),
        Input(body: "late.m3u8", "# first\n#EXTM3U\n"), Input(body: "lower.m3u8", "#extm3u\n"),
        Input(body: "pdf.m3u8", "%PDF-1.7\n"), Input(body: "script.m3u8", "#!/bin/sh\n"),
    ]

    private static let files: [Input] = [
        Input(hex: "film.mp4", "0000001866747970" + "6d70343200000000"),
        Input(hex: "no-ending", "0000001866747970" + "6d703432"),
        Input(hex: "part.m4s", "000000186d6f6f66"), Input(hex: "film.webm", "1a45dfa3"),
        Input(hex: "sound.mp3", "49443304"),
        Input(hex: "sound.ogg", "4f67675300"), Input(hex: "sound.flac", "664c614300"),
        Input(hex: "film.flv", "464c5601"),
        Input(hex: "film.mpg", "000001ba"), Input(hex: "sound.wav", "524946460000000057415645"),
        Input(hex: "picture.png", "89504e470d0a1a0a"), Input(hex: "picture.jpg", "ffd8ffe000104a464946"),
        Input(hex: "picture.gif", "474946383961"), Input(hex: "archive.zip", "504b0304"),
        Input(hex: "archive.gz", "1f8b0800"),
        Input(hex: "zeros.m3u8", "0000000000"), Input(hex: "bytes.m3u8", "fffefdfc"),
    ]

    private static let playlists: [Input] = [
        Input("ORIGIN/drm.m3u8", [.playlist("/drm.m3u8", OriginRule.protectedPlaylist)]),
        Input(
            "ORIGIN/drm/master.m3u8",
            [
                .playlist("/drm/master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\n/drm.m3u8\n"),
                .playlist("/drm.m3u8", OriginRule.protectedPlaylist),
            ]),
        Input(body: "variant.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\n"),
        Input(body: "version.m3u8", "#EXTM3U\n#EXT-X-VERSION:7\n"),
        Input(
            "ORIGIN/loop.m3u8", [OriginRule("/loop.m3u8") { $0.redirect = "/loop.m3u8" }]),
        Input("ORIGIN/moved.m3u8", [OriginRule("/moved.m3u8") { $0.redirect = "ftp://h/a.m3u8" }]),
        Input("ORIGIN/private.m3u8", [OriginRule("/private.m3u8") { $0.redirect = "http://10.255.255.1/a.m3u8" }]),
        Input("ORIGIN/local.m3u8", [OriginRule("/local.m3u8") { $0.redirect = "file:///etc/passwd" }]),
    ]

    private static let words: [Input] = [
        Input("http://nothing.invalid/master.m3u8"), Input("http://127.0.0.1:1/master.m3u8"),
        Input("ftp://host/a.m3u8"),
        Input("file:///etc/hosts"), Input("rtsp://host/a"), Input("rtmp://host/a"), Input("mms://host/a"),
        Input("gopher://host/a"),
        Input("http:///a.m3u8"), Input("http://"), Input("http://host:99999/a.m3u8"), Input("http://[::1/a.m3u8"),
        Input("http://ho st/a.m3u8"), Input("ftp://user:secret@host/a.m3u8"), Input("nothing"), Input("NOTHING"),
        Input("two words"), Input("film.m3u8"), Input("./film.m3u8"), Input("../film.m3u8"), Input("/film.m3u8"),
        Input("~/film.m3u8"), Input("/etc/hosts"), Input("example.com/master.m3u8"),
        Input("127.0.0.1:8080/master.m3u8"),
        Input("localhost/master.m3u8"), Input("träume"),
        Input("a-name-that-no-asset-has-because-it-is-much-too-long-to-be-one"),
    ]

    private static var inputs: [Input] { statuses + texts + files + playlists + words }

    @Test("is answered by get, show, play and export with one sentence and one code")
    func isAnsweredWithOneSentence() async throws {
        #expect(Self.inputs.count >= 88)
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let player = try folder.write(Data("#!/bin/sh\ntouch '\(folder.path("started"))'\n".utf8), to: "player")
            try #require(chmod(player, 0o755) == 0)
            var blocks: [String] = []
            for input in Self.inputs {
                try await scene.origin.clearRules()
                for rule in input.rules {
                    try await scene.origin.add(rule)
                }
                let source = input.word.replacing("ORIGIN", with: scene.origin.url(""))
                let got = try await answer(["get", source], scene)
                for line in [
                    ["show", source], ["play", source, "--player", player], ["export", source, folder.path("film")],
                ] {
                    let other = try await answer(line, scene)
                    #expect(other == got, "\(line[0]) \(input.word)")
                }
                blocks.append("\(input.word)\n\(got)")
            }
            #expect(!FileManager.default.fileExists(atPath: folder.path("started")))
            #expect(try await scene.weir.run(["list", "--json"]).output.isEmpty)
            #expect(try GoldenBlocks("wrong-inputs.txt").differences(from: blocks).isEmpty)
        }
    }

    /// The exit code and the message of a command, without progress.
    private func answer(_ words: [String], _ scene: Scene) async throws -> String {
        let result = try await scene.weir.run(words)
        let lines = result.errors.split(separator: "\n").filter { $0.hasPrefix("weir: ") || $0.hasPrefix("try: ") }
        var exit = "\(result.exit)"
        if case .code(let code) = result.exit {
            exit = "\(code)"
        }
        let port = "\(await scene.weir.port)"
        let message = lines.joined(separator: "\n").replacing(scene.origin.url(""), with: "ORIGIN")
            .replacing("localhost:\(port)", with: "WEIR").replacing("127.0.0.1:\(port)", with: "WEIR")
        return "exit \(exit)\n\(message)\n"
    }
}
