import Foundation
import TestSupport
import Testing

/// Subtitles, chapters and thumbnails that a user attaches.
@Suite("P6: an attached track")
struct AttachmentTests {
    private static let subRip =
        "1\n00:00:01,250 --> 00:00:03,000\nGuten Tag\n\n2\n00:00:04,000 --> 00:00:05,500\nAdieu\n"

    private func text(_ path: String, _ scene: Scene) async throws -> String {
        let answer = try await HTTPProbe.fetch(await scene.weir.url(path))
        #expect(answer.status == 200, "\(path): \(answer.text)")
        return answer.text
    }

    /// The URI of the attached subtitles in a multivariant playlist.
    private func subtitles(in text: String) throws -> String {
        let line = try #require(
            text.split(separator: "\n").first { $0.contains("TYPE=SUBTITLES") && $0.contains("\"de\"") }, "\(text)")
        #expect(line.contains("LANGUAGE=\"de\"") && line.contains("NAME=\"Deutsch\""), "\(line)")
        return try uri(in: line)
    }

    /// The first presentation time of a presentation, in ticks of 90 kHz.
    private func start(of url: String) async throws -> Int {
        let probe = try await ProcessRunner.run(
            "ffprobe", ["-v", "error", "-show_entries", "format=start_time", "-of", "csv=p=0", url])
        return Int(
            (try #require(Double(probe.output.trimmingCharacters(in: .whitespacesAndNewlines))) * 90_000).rounded())
    }

    @Test(
        "of subtitles is in every view and in the bundle, with the times of the film",
        arguments: ["ts", "cmaf", "aes", "byterange-fmp4"])
    func subtitlesAreEverywhere(fixture: String) async throws {
        try await Scene.with { scene in
            #expect(try await scene.get(fixture, ["-q", "worst"]).exit == .code(0))
            try await expectAttached(to: fixture, scene)
            try await expectSubtitlesInEachView(of: fixture, scene)
            try await scene.weir.restart()
            try await scene.origin.stop()
            _ = try subtitles(in: try await text("/offline/\(fixture).m3u8", scene))
            try await expectSubtitlesInExport(of: fixture, scene)
            try await expectDetached(from: fixture, scene)
        }
    }

    /// Expects that the command says what it attached and how to undo it, and that the asset stays valid.
    private func expectAttached(to fixture: String, _ scene: Scene) async throws {
        let folder = try TemporaryFolder()
        try folder.write(Data(Self.subRip.utf8), to: "film.srt")
        let attach = try await scene.weir.run(["attach", fixture, folder.path("film.srt"), "--lang", "de"])
        #expect(attach.exit == .code(0) && attach.errors.isEmpty, "\(attach.errors)")
        #expect(
            attach.output.hasPrefix(
                "attached to \(fixture): subtitles de (Deutsch), 2 cues; remove with: weir detach"))
        let shown = try await scene.weir.run(["show", fixture]).output
        #expect(shown.contains("attached as attached-subtitles-de"), "\(shown)")
        #expect(try await scene.weir.run(["verify", fixture]).exit == .code(0))
    }

    /// Expects the cues in each view, with a time map of the film's first presentation time.
    private func expectSubtitlesInEachView(of fixture: String, _ scene: Scene) async throws {
        let variant = fixture == "cmaf" ? "video-90p" : "90p"
        let ticks = try await start(of: scene.origin.url("/\(fixture)/\(variant)/media.m3u8"))
        let views = ["/\(fixture).m3u8"] + ["offline", "local", "auto"].map { "/\($0)/\(fixture).m3u8" }
        for view in views {
            let list = try subtitles(in: try await text(view, scene))
            let segments = try await PlaylistWalk.segments(await scene.weir.url(list))
            let vtt = try await HTTPProbe.fetch(try #require(segments.first)).text
            #expect(vtt.contains("00:00:01.250 --> 00:00:03.000\nGuten Tag\n\n00:00:04.000 --> 00:00:05.500\nAdieu"))
            let mark = try #require(vtt.range(of: "MPEGTS:"))
            let found = try #require(Int(vtt[mark.upperBound...].prefix { $0 != "," }))
            #expect(abs(found - ticks) <= 1, "\(found) \(ticks)")
        }
    }

    private func expectSubtitlesInExport(of fixture: String, _ scene: Scene) async throws {
        let out = try TemporaryFolder()
        #expect(try await scene.weir.run(["export", fixture, out.path("film")]).exit == .code(0))
        let master = try String(contentsOfFile: out.path("film/master.m3u8"), encoding: .utf8)
        #expect(try subtitles(in: master) == "attached-subtitles-de/media.m3u8")
        #expect(FileManager.default.fileExists(atPath: out.path("film/attached-subtitles-de/0.vtt")))
    }

    /// Expects that detached subtitles are in no playlist and in no file, and cannot be detached twice.
    private func expectDetached(from fixture: String, _ scene: Scene) async throws {
        let detach = try await scene.weir.run(["detach", fixture, "attached-subtitles-de"])
        #expect(detach.exit == .code(0), "\(detach.errors)")
        #expect(try await !text("/offline/\(fixture).m3u8", scene).contains("de/media"))
        #expect(!scene.pieces().contains { $0.contains("attached") })
        let unknown = try await scene.weir.run(["detach", fixture, "attached-subtitles-de"])
        #expect(unknown.exit == .code(66) && unknown.errors.contains("nothing is attached"), "\(unknown.errors)")
    }

    @Test("that was made to keep the daemon busy, or to end it, is attached or refused, and everything else goes on")
    func hostileFilesAreReadInTime() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            let times = "1\n00:00:01,000 --> 00:00:03,000\n"
            let files = [
                ("a.srt", times + String(repeating: "<", count: 600_000) + "\n"),
                ("b.srt", times + String(repeating: "{\\", count: 300_000) + "\n"),
                ("c.srt", times + String(repeating: "<{\\", count: 200_000) + "\n"),
            ]
            for (name, text) in files {
                try folder.write(Data(text.utf8), to: name)
            }
            let attaching = try files.map { name, _ in
                try scene.weir.begin(["attach", "ts", folder.path(name), "--lang", "de"])
            }
            #expect(try await scene.weir.run(["list"]).output.contains("ts"))
            for process in attaching {
                #expect(try await process.end(within: .seconds(60)) == .code(0))
            }

            try folder.write(
                Data(#"[{"start-time":0,"duration":1e300,"titles":[{"language":"en","title":"One"}]}]"#.utf8),
                to: "chapters.json")
            #expect(try await scene.weir.run(["attach", "ts", folder.path("chapters.json")]).exit == .code(0))
            let refused = try await scene.weir.run(
                ["attach", "ts", folder.path("a.srt"), "--kind", "thumbnails", "--interval", "1e-300"])
            #expect(refused.exit == .code(64), "\(refused.errors)")
            #expect(try await scene.weir.run(["list"]).exit == .code(0))
        }
    }

    @Test("goes into a single file with subtitles and chapters, in the film's time")
    func goesIntoAFile() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            try folder.write(Data(Self.subRip.utf8), to: "film.srt")
            try folder.write(
                Data(#"[{"start-time":0,"titles":[{"language":"en","title":"One"}]},"#.utf8)
                    + Data(#"{"start-time":5.5,"titles":[{"language":"en","title":"Two; = 2"}]}]"#.utf8),
                to: "chapters.json")
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            for words in [["film.srt", "--lang", "de", "--forced"], ["chapters.json"]] {
                let attach = try await scene.weir.run(["attach", "ts", folder.path(words[0])] + words.dropFirst())
                #expect(attach.exit == .code(0), "\(attach.errors)")
            }
            let master = try await text("/offline/ts.m3u8", scene)
            let line = try #require(master.split(separator: "\n").first { $0.contains("com.apple.hls.chapters") })
            #expect(try await text(try uri(in: line), scene).contains("\"start-time\":5.5"))
            let file = folder.path("film.mkv")
            let export = try await scene.weir.run(["export", "ts", file])
            #expect(export.exit == .code(0), "\(export.errors)")
            let probe = try await ProcessRunner.run(
                "ffprobe",
                [
                    "-v", "error", "-show_chapters", "-show_streams", "-show_packets", "-select_streams", "s", "-of",
                    "json", file,
                ])
            let json = probe.output
            #expect(
                json.contains("\"title\": \"Two; = 2\"") && json.contains("\"start_time\": \"5.500000\""), "\(json)")
            #expect(json.contains("\"language\": \"deu\"") && json.contains("\"forced\": 1"), "\(json)")
            let times = json.components(separatedBy: "\"pts_time\": \"").dropFirst().map { $0.prefix { $0 != "\"" } }
            #expect(times.map(String.init) == ["1.250000", "4.000000"])
        }
    }

    @Test("of thumbnails is a playlist of images with tiles, and plays beside a film that is one media playlist")
    func thumbnails() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            try await folder.drawSheet()
            let sheet = folder.path("sheet.png")
            let url = scene.origin.url("/ts/90p/media.m3u8")
            #expect(try await scene.weir.run(["get", url, "--name", "film"]).exit == .code(0))

            try await expectAttachedOnlyWithTiles(sheet, to: "film", scene)
            try await expectTiles(of: sheet, in: "film", scene)
            let expected = try await FrameHashes.of(url)
            let film = try await FrameHashes.of(await scene.weir.url("/offline/film.m3u8"))
            #expect(film.firstDifference(from: expected) == nil)

            try await exportAndImport("film", as: "back", scene)
            try await expectTiles(of: sheet, in: "back", scene)
            let detached = try await scene.weir.run(["detach", "back", "attached-thumbnails"])
            #expect(detached.exit == .code(0), "\(detached.errors)")
        }
    }

    /// Expects that an image without a known number of thumbnails is refused with an example, and attached with the number.
    private func expectAttachedOnlyWithTiles(_ sheet: String, to film: String, _ scene: Scene) async throws {
        let refused = try await scene.weir.run(["attach", film, sheet])
        #expect(refused.exit == .code(65) && refused.errors.contains("--tiles 10x10"), "\(refused.errors)")
        let attach = try await scene.weir.run(["attach", film, sheet, "--tiles", "2x2"])
        #expect(attach.exit == .code(0) && attach.output.contains("4 images"), "\(attach)")
    }

    /// Expects one playlist of images offline, with the tiles' size, number and duration, and the image unchanged.
    private func expectTiles(of sheet: String, in film: String, _ scene: Scene) async throws {
        let master = try await text("/offline/\(film).m3u8", scene)
        let lines = master.split(separator: "\n").filter { $0.contains("IMAGE-STREAM-INF") }
        try #require(lines.count == 1, "\(master)")
        #expect(lines[0].hasPrefix("#EXT-X-IMAGE-STREAM-INF:BANDWIDTH="), "\(master)")
        #expect(lines[0].contains("RESOLUTION=160x90"), "\(master)")

        let list = try uri(in: lines[0])
        let images = try await text(list, scene)
        #expect(images.contains("#EXT-X-TILES:RESOLUTION=160x90,LAYOUT=2x2,DURATION=3.0"), "\(images)")
        let pieces = PlaylistWalk.segments(images, at: await scene.weir.url(list))
        let answer = try await HTTPProbe.fetch(try #require(pieces.first { $0.hasSuffix(".png") }))
        #expect(answer["content-type"] == "image/png")
        #expect(answer.body == (try Data(contentsOf: URL(filePath: sheet))))
    }

    /// Replaces an asset by the import of its export, and restarts the daemon.
    private func exportAndImport(_ film: String, as name: String, _ scene: Scene) async throws {
        let out = try TemporaryFolder()
        #expect(try await scene.weir.run(["export", film, out.path("film")]).exit == .code(0))
        #expect(try await scene.weir.run(["remove", film, "--yes"]).exit == .code(0))
        let back = try await scene.weir.run(["import", out.path("film"), "--name", name])
        #expect(back.exit == .code(0), "\(back.errors)")
        try await scene.weir.restart()
    }

    @Test(
        "is refused with a reason and the next step if it cannot be read",
        arguments: [
            ("a.srt", "1\n00:00:01 --> x\n", ["--lang", "de"], 65, "line 2: "),
            ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nx", [], 65, "subtitles need a language"),
            ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nx", ["--lang", "xx"], 65, "\"xx\" is no language"),
            ("a.png", "no picture", ["--tiles", "2x2"], 65, "a.png is no JPEG, PNG or WebP image"),
            ("a.vtt", "WEBVTT\n\n00:00.000 --> 00:01.000\nb.jpg\n", [], 65, "b.jpg cannot be read"),
            ("a.doc", "x", ["--lang", "de"], 65, "a.doc is no .srt, .vtt"),
        ] as [(String, String, [String], Int32, String)])
    func isRefused(file: String, content: String, options: [String], code: Int32, words: String) async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            try folder.write(Data(content.utf8), to: file)
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            let attach = try await scene.weir.run(["attach", "ts", folder.path(file)] + options)
            #expect(attach.exit == .code(code) && attach.errors.contains(words), "\(attach.errors)")
            #expect(try await !text("/offline/ts.m3u8", scene).contains("attached"))
        }
    }

    @Test("needs something stored, and says which encoding was assumed")
    func saysWhatItAssumes() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            try folder.write(Data("1\n00:00:01,000 --> 00:00:02,000\nGr".utf8) + Data([0xFC, 0x0A]), to: "film.srt")
            let words = ["attach", "ts", folder.path("film.srt"), "--lang", "de"]
            #expect(try await scene.weir.run(words).exit == .code(66))
            _ = try await HTTPProbe.fetch(await scene.master("ts"))
            let early = try await scene.weir.run(words)
            #expect(early.exit == .code(65) && early.errors.contains("nothing is attached to ts"), "\(early.errors)")
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            let attach = try await scene.weir.run(words)
            #expect(attach.exit == .code(0) && attach.errors.contains("it was read as Latin-1"), "\(attach.errors)")
        }
    }
}

/// I-frame playlists of a stream.
@Suite("Trick play")
struct TrickPlayTests {
    /// A presentation of one variant with I-frame playlists in its size and in a larger one.
    private static let master = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=100000,RESOLUTION=160x90
        /ts/90p/media.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=20000,RESOLUTION=160x90,URI="iframes.m3u8"
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000,RESOLUTION=480x270,URI="large.m3u8"

        """

    private static let iFrames = """
        #EXTM3U
        #EXT-X-VERSION:4
        #EXT-X-TARGETDURATION:2
        #EXT-X-I-FRAMES-ONLY
        #EXTINF:2,
        #EXT-X-BYTERANGE:3760@0
        /ts/90p/0.ts
        #EXTINF:2,
        #EXT-X-BYTERANGE:3760@0
        /ts/90p/1.ts
        #EXT-X-ENDLIST

        """

    @Test("is kept with --trick-play, and is offered offline")
    func isKept() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(
                OriginRule("/film/master.m3u8") { ($0.status, $0.body) = (200, Self.master) },
                OriginRule("/film/iframes.m3u8") { ($0.status, $0.body) = (200, Self.iFrames) })
            let url = scene.origin.url("/film/master.m3u8")
            #expect(try await scene.weir.run(["get", url]).exit == .code(0))
            let before = try await HTTPProbe.fetch(await scene.weir.url("/offline/film.m3u8")).text
            #expect(!before.contains("I-FRAME"))

            #expect(try await scene.weir.run(["get", url, "--trick-play"]).exit == .code(0))
            try await scene.origin.stop()
            let text = try await HTTPProbe.fetch(await scene.weir.url("/offline/film.m3u8")).text
            let line = try #require(text.split(separator: "\n").first { $0.contains("I-FRAME-STREAM-INF") }, "\(text)")
            #expect(line.contains("RESOLUTION=160x90") && !text.contains("480x270"))

            let list = await scene.weir.url(try uri(in: line))
            let playlist = try await HTTPProbe.fetch(list).text
            let pieces = PlaylistWalk.segments(playlist, at: list)
            #expect(pieces.count == 2 && playlist.contains("#EXT-X-I-FRAMES-ONLY"), "\(playlist)")
            let piece = try await HTTPProbe.fetch(pieces[1])
            #expect(piece.body == (try Repository.fixture("/ts/90p/1.ts")).prefix(3760))
        }
    }
}

/// The value of a tag's URI attribute.
private func uri(in tag: Substring) throws -> String {
    let start = try #require(tag.range(of: "URI=\""), "\(tag)")
    return String(tag[start.upperBound...].prefix { $0 != "\"" })
}

extension TemporaryFolder {
    /// Draws `sheet.png`, an image for 2 × 2 thumbnails of 160 × 90 pixels.
    func drawSheet() async throws {
        let sheet = try await ProcessRunner.run(
            "ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "color=red:s=320x180", "-frames:v", "1", path("sheet.png")])
        #expect(sheet.exit == .code(0), "\(sheet.errors)")
    }
}
