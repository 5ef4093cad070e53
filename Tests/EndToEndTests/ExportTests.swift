import Foundation
import Glibc
import TestSupport
import Testing

@Suite("An export")
struct ExportTests {
    /// Downloads a fixture and exports it.
    private func export(
        _ fixture: String, _ get: [String] = [], to target: String, _ options: [String] = [], in scene: Scene
    ) async throws {
        let got = try await scene.get(fixture, get)
        #expect(got.exit == .code(0), "\(got.errors)")
        let result = try await scene.weir.run(["export", fixture, target] + options)
        #expect(result.exit == .code(0) && result.errors.isEmpty, "\(result.errors)")
    }

    @Test("W2: with data: keys plays from plain nginx, and through Weir offline, in ffmpeg and mpv")
    func playsWithDataKeys() async throws {
        let out = try TemporaryFolder()
        try await Scene.with { scene in
            var text = try String(contentsOfFile: Repository.path("fixtures/media/aes/90p/media.m3u8"), encoding: .utf8)
            for number in 0..<3 {
                let key = try Data(contentsOf: URL(filePath: Repository.path("fixtures/media/aes/keys/\(number).key")))
                let uri = "data:text/plain;base64,\(key.base64EncodedString())"
                text = text.replacing("URI=\"../keys/\(number).key\"", with: "URI=\"\(uri)\"")
            }
            #expect(text.contains("data:"))
            try await scene.origin.add(
                OriginRule("/aes/90p/media.m3u8") { [text] in ($0.status, $0.body) = (200, text) })
            let playlist = scene.origin.url("/aes/90p/media.m3u8")
            #expect(try await scene.weir.run(["get", playlist, "--name", "film"]).exit == .code(0))
            #expect(try await scene.weir.run(["export", "film", out.path("film")]).exit == .code(0))
            try await scene.origin.clearRules()
            let expected = try await FrameHashes.of(playlist)
            try await scene.origin.stop()
            let nginx = try await PlainServer(root: out.path)
            for url in [nginx.url("/film/master.m3u8"), await scene.weir.url("/offline/film.m3u8")] {
                #expect(try await FrameHashes.of(url).firstDifference(from: expected) == nil, "\(url)")
                let played = try await Player.mpvUncached.play(url)
                let problems = PlayerBaseline(.mpvUncached, "aes").newProblems(in: played)
                #expect(played.ended && problems == [], "\(url): \(problems)")
            }
        }
    }

    @Test("of the subtitles alone is SubRip with the cues of the origin, and needs no ffmpeg")
    func exportsSubtitles() async throws {
        let out = try TemporaryFolder()
        try await Scene.with { scene in
            let none = try await scene.weir.run(["get", scene.origin.master("cmaf"), "-q", "worst", "--name", "film"])
            #expect(none.exit == .code(0))
            let empty = try await scene.weir.run(["export", "film", out.path("film.srt")])
            #expect(
                empty.exit == .code(65) && empty.errors.contains("no subtitles of it are stored"), "\(empty.errors)")
            let target = out.path("{name}.srt")
            let got = try await scene.weir.run(["get", "film", "--subs", "en", "--to", target])
            #expect(got.exit == .code(0), "\(got.errors)")
            let text = try String(contentsOfFile: out.path("film.srt"), encoding: .utf8)
            #expect(text.hasPrefix("1\n00:00:0") && text.contains(" --> 00:00:"), "\(text.prefix(200))")
            let joined = try await HTTPProbe.fetch(scene.weir.url("/film.en.vtt")).text
            let cues = { (text: String) in text.components(separatedBy: " --> ").count - 1 }
            #expect(cues(text) == cues(joined) && cues(text) > 1)
            let again = try await scene.weir.run(["export", "film", out.path("film.srt")])
            #expect(again.exit == .code(73), "\(again.errors)")
        }
    }

    @Test("to a folder or an archive plays from plain nginx, with every frame and correct checksums")
    func exportsFoldersAndArchives() async throws {
        try await Scene.with { scene in
            let out = try TemporaryFolder()
            for fixture in ["cmaf", "aes", "byterange-fmp4"] {
                try await export(fixture, to: out.path(fixture), in: scene)
                let tar = try await scene.weir.run(["export", fixture, out.path(fixture + ".tar")])
                #expect(tar.exit == .code(0), "\(tar.errors)")
            }
            try await scene.origin.stop()
            try await scene.weir.kill()
            let nginx = try await PlainServer(root: out.path)
            for fixture in ["cmaf", "aes", "byterange-fmp4"] {
                try await expectFrames(nginx.url("/\(fixture)/master.m3u8"), ofBestOf: fixture)
                try await expectArchive(fixture, in: out)
                try await expectSums(in: out.path(fixture))
            }
            #expect(try Self.names(in: out).filter { $0.contains("weir-part") } == [])
        }
    }

    /// A tag editor writes into the files that it finds.
    @Test("has files of its own, as a publication: what is written to them changes nothing in the store")
    func sharesNoFiles() async throws {
        try await Scene.with { scene in
            let out = try TemporaryFolder()
            try await export("ts", to: out.path("ts"), in: scene)
            #expect(try await scene.weir.run(["publish", "ts", out.path("site")]).exit == .code(0))
            let before = try scene.pieces().map { try Data(contentsOf: URL(filePath: $0)) }
            for file in out.files() where file.hasSuffix(".ts") {
                #expect(
                    try FileManager.default.attributesOfItem(atPath: out.path(file))[.referenceCount] as? Int == 1)
                try FileDamage.flipBit(of: out.path(file))
            }
            #expect(try scene.pieces().map { try Data(contentsOf: URL(filePath: $0)) } == before)
            #expect(try await scene.weir.run(["export", "ts", out.path("x"), "--link"]).exit == .code(64))
        }
    }

    /// Expects that tar(1) unpacks the same bytes as the folder has, text files included.
    private func expectArchive(_ fixture: String, in out: TemporaryFolder) async throws {
        let unpacked = try TemporaryFolder()
        let tar = try await ProcessRunner.run("tar", ["-xf", out.path(fixture + ".tar"), "-C", unpacked.path])
        #expect(tar.exit == .code(0) && tar.errors.isEmpty, "\(tar.errors)")
        let diff = try await ProcessRunner.run("diff", ["-r", out.path(fixture), unpacked.path(fixture)])
        #expect(diff.exit == .code(0), "\(diff.output)")
    }

    private func expectSums(in folder: String) async throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where !name.contains(".") {
            let sums = try await ProcessRunner.run(
                "sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], folder: folder + "/" + name)
            #expect(sums.exit == .code(0), "\(name): \(sums.errors)")
        }
    }

    private static func names(in folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("to one file has the best variant, every language by name, and every frame", arguments: ["mp4", "mkv"])
    func exportsSingleFile(format: String) async throws {
        try await Scene.with { scene in
            let out = try TemporaryFolder()
            let film = out.path("film." + format)
            try await export("cmaf", ["--audio", "all", "--subs", "all"], to: film, in: scene)
            try await expectHashes(film, "cmaf", ["video 480x270", "audio", "audio"])
            let probe = try await ProcessRunner.run(
                "ffprobe",
                ["-v", "error", "-show_entries", "stream=codec_type:stream_tags=language", "-of", "csv=p=0", film])
            let tracks = probe.output.split(separator: "\n").map { $0 == "video,und" ? "video" : $0 }
            #expect(tracks == ["video", "audio,eng", "audio,fra", "subtitle,eng"])
            let text = try await ProcessRunner.run(
                "ffmpeg", ["-v", "error", "-i", film, "-map", "0:s", "-f", "srt", "-"])
            #expect(text.output.contains("00:00:02,100 --> 00:00:02,900\nSecond 2\n"), "\(text.output)")
            #expect(try Self.names(in: out) == ["film." + format])

            let encrypted = out.path("aes." + format)
            try await export("aes", to: encrypted, in: scene)
            try await expectHashes(encrypted, "aes", ["video 320x180", "audio"])
        }
    }

    /// Compares pictures and sound with the fixture. Timestamps differ.
    private func expectHashes(_ path: String, _ fixture: String, _ streams: [String]) async throws {
        let frames = try await FrameHashes.of(path, outputOptions: ["-sn"])
        let expected = try await PlainFrames.of(fixture)
        let decoded = frames.streams.filter { ["video", "audio"].contains($0.mediaType) }
        #expect(decoded.map { ($0.mediaType + " " + $0.dimensions).trimmingCharacters(in: .whitespaces) } == streams)
        let known = Set(expected.streams.map { $0.frames.map(\.hash) })
        for stream in decoded {
            #expect(known.contains(stream.frames.map(\.hash)), "\(stream.mediaType)")
        }
        #expect(Set(decoded.map { $0.frames.map(\.hash) }).count == streams.count)
        #expect(frames.errors.isEmpty)
    }

    @Test("killed at its last step leaves only files that the next start deletes")
    func cleansUpAfterKill() async throws {
        try await Scene.with { scene in
            let out = try TemporaryFolder()
            let got = try await scene.get("ts")
            #expect(got.exit == .code(0))
            for target in ["film", "film.tar"] {
                try await scene.weir.kill()
                try await scene.weir.start(wrapper: [
                    "strace", "-f", "-qq", "-o", out.path("calls"), "-e", "trace=renameat2", "-e",
                    "inject=renameat2:signal=KILL",
                ])
                let killed = try await scene.weir.run(["export", "ts", out.path(target)])
                #expect(killed.exit == .code(75), "\(killed.errors)")
                #expect(try Self.names(in: out).contains(".\(target).weir-part"))
                try await scene.weir.restart()
                try await waitUntil("what was left to be deleted") {
                    try !Self.names(in: out).contains(".\(target).weir-part")
                }
                let again = try await scene.weir.run(["export", "ts", out.path(target)])
                #expect(again.exit == .code(0), "\(again.errors)")
            }
            #expect(try Self.names(in: out) == ["calls", "film", "film.tar"])
            let server = try await TestOrigin(root: out.path)
            try await expectFrames(server.url("/film/master.m3u8"), ofBestOf: "ts")
        }
    }

    @Test("reports a missing or failing program with its name and message")
    func reportsProgramFailures() async throws {
        try await Scene.with { scene in
            let out = try TemporaryFolder()
            #expect(try await scene.get("ts").exit == .code(0))
            try await scene.weir.kill()
            try await scene.weir.start(wrapper: ["/usr/bin/env", "PATH=" + out.path("bin")])
            let missing = try await scene.weir.run(["export", "ts", out.path("film.mp4")])
            #expect(missing.exit == .code(69) && missing.errors.contains("try: install ffmpeg"), "\(missing.errors)")
            for name in ["ffmpeg", "ffprobe"] {
                let path = try out.write(Data("#!/bin/sh\necho no such muxer >&2\nexit 1\n".utf8), to: "bin/" + name)
                #expect(chmod(path, 0o755) == 0)
            }
            let failed = try await scene.weir.run(["export", "ts", out.path("film.mp4")])
            #expect(failed.exit == .code(1), "\(failed.errors)")
            #expect(failed.errors.contains("bin/ffmpeg: no such muxer"), "\(failed.errors)")
            #expect(failed.errors.contains("try: export a folder"), "\(failed.errors)")
            #expect(try Self.names(in: out) == ["bin"])
        }
    }

    @Test("is written at the end of a download, beside what is there")
    func getToAFile() async throws {
        try await Scene.with { scene in
            let out = try TemporaryFolder()
            let lost = try await scene.get("ts", ["--to", out.path("no/{title}.mkv")])
            #expect(lost.exit == .code(73) && lost.errors.contains("is no folder"), "\(lost.errors)")
            for name in ["A_B ts 270p.mkv", "A_B ts 270p (2).mkv"] {
                let options = ["--title", "A/B", "--to", out.path("{title} {name} {quality}.{ext}")]
                let got = try await scene.get("ts", options)
                #expect(got.exit == .code(0) && got.output.hasSuffix("to \(out.path(name))\n"), "\(got)")
                let streams = try await FrameHashes.of(out.path(name)).streams
                #expect(try await streams.count == PlainFrames.ofBest("ts").streams.count)
            }
            let folder = try await scene.weir.run(["export", "ts", out.path])
            #expect(folder.exit == .code(0) && folder.output.hasSuffix("to \(out.path("ts"))\n"), "\(folder)")
            let json = try await scene.get("ts", ["--to", out.path, "--json"])
            #expect(json.output.contains("\"path\":\"\(out.path("A_B.mkv"))\""), "\(json)")
            #expect(try Self.names(in: out) == ["A_B ts 270p (2).mkv", "A_B ts 270p.mkv", "A_B.mkv", "ts"])
        }
    }

    @Test("is refused with the reason if impossible, and nothing changes")
    func refusesImpossibleExports() async throws {
        try await Scene.with { scene in
            let out = try TemporaryFolder()
            #expect(try await scene.get("ts").exit == .code(0))
            try Data([7]).write(to: URL(filePath: out.path("taken.tar")))
            let cases: [(arguments: [String], exit: Int32, words: String)] = [
                (["ts", out.path("taken.tar")], 73, "a file or folder is there already"),
                (["ts", out.path("no/film")], 73, "No such file or directory"),
                (["ts", "/proc/film"], 73, "/proc"),
                (["ts", scene.weir.store + "/assets/film"], 73, "is in the store itself"),
                (["other", out.path("film")], 66, "no asset named other"),
            ]
            for refused in cases {
                let result = try await scene.weir.run(["export"] + refused.arguments)
                #expect(result.exit == .code(refused.exit), "\(result.errors)")
                #expect(result.errors.contains(refused.words) && result.errors.contains("try: "), "\(result.errors)")
            }
            _ = try await HTTPProbe.fetch(scene.master("cmaf"))
            let partly = try await scene.weir.run(["export", "cmaf", out.path("film")])
            #expect(
                partly.exit == .code(65) && partly.errors.contains("no rendition of it is complete"), "\(partly.errors)"
            )
            #expect(try Self.names(in: out) == ["taken.tar"])
            #expect(try Data(contentsOf: URL(filePath: out.path("taken.tar"))) == Data([7]))
        }
    }
}
