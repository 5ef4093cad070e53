import Foundation
import TestSupport
import Testing

/// The whole text of messages when something does not work: input, exit code, text, as in `fixtures/golden/messages.txt`.
///
/// `WEIR_WRITE_GOLDEN=1 swift test --filter GoldenMessageTests` writes the file; look at the difference before it is committed.
@Suite("Messages of commands") struct GoldenMessageTests {
    /// A command line, with `ORIGIN` for the origin's URL, and the rules of the origin for it.
    struct Case {
        let line: String
        var rules: [OriginRule] = []
        var input = ""
    }

    private static let cases: [Case] = [
        Case(line: "log --format table"), Case(line: "log --errors --format table"),
        Case(line: "get http://nothing.invalid/master.m3u8"),
        Case(line: "get ORIGIN/nothing.m3u8"),
        Case(line: "get ORIGIN/ts/master.m3u8", rules: [OriginRule("/ts/master.m3u8") { $0.status = 410 }]),
        Case(line: "get ORIGIN/ts/master.m3u8", rules: [OriginRule("/ts/master.m3u8") { $0.status = 403 }]),
        Case(line: "get ORIGIN/ts/master.m3u8", rules: [OriginRule("/ts/master.m3u8") { $0.status = 401 }]),
        Case(line: "get ORIGIN/ts/master.m3u8", rules: [OriginRule("/ts/master.m3u8") { $0.html = true }]),
        Case(line: "get ORIGIN/manifest.mpd", rules: [.playlist("/manifest.mpd", "<MPD></MPD>")]),
        Case(line: "get ORIGIN/film.mp4", rules: [.playlist("/film.mp4", "\0\0\0\u{18}ftypmp42\0\0\0\0")]),
        Case(line: "get ORIGIN/drm.m3u8", rules: [.playlist("/drm.m3u8", OriginRule.protectedPlaylist)]),
        Case(line: "get ORIGIN/_live/show/media.m3u8"),
        Case(line: "get ORIGIN/ts/master.m3u8 --audio xx"),
        Case(line: "get ORIGIN/ts/master.m3u8 -q 9p"),
        Case(line: "get ORIGIN/ts/master.m3u8 --wait"),
        Case(line: "get ORIGIN/ts/master.m3u8 --for 2h"), Case(line: "get --bogus"), Case(line: "show --jsn"),
        Case(line: "pause --all"), Case(line: "export film film.zip"),
        Case(line: "get nothing"), Case(line: "get a b"),
        Case(line: "get example.com/master.m3u8"), Case(line: "play 127.0.0.1:8080/master.m3u8 --player true"),
        Case(line: "get 127.0.0.1:8080/master.m3u8"), Case(line: "play /etc/hosts --player true"),
        Case(line: "get http://127.0.0.1:1/master.m3u8"),
        Case(line: "get ftp://host/a.m3u8"),
        Case(line: "get --curl -", input: "curl 'https://h/a' --data-raw 'x'"),
        Case(line: "add -i -", input: "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na.ts\n"),
        Case(line: "add -", input: "ORIGIN/ts/master.m3u8 --qualty 720p\n"),
        Case(line: "add -", input: "#EXTM3U\n#EXTINF:-1,A film\nhttp://h/film.mp4\n"),
        Case(line: "add -i - -q 720p", input: "#EXTM3U\n#EXTINF:-1,A\nhttp://h/a.m3u8\n"),
        Case(line: "open weir://sintel"),
        Case(line: "show nothing"), Case(line: "set nothing --title T"), Case(line: "remove nothing --yes"),
        Case(line: "get ORIGIN/ts/master.m3u8 -q worst --name film --json"),
        Case(line: "rename film Film"), Case(line: "rename film 'My Film'"),
        Case(line: "policy film --rental"), Case(line: "policy film --expires never"),
        Case(line: "mode offline"),
        Case(line: "get ORIGIN/cmaf/master.m3u8"),
        Case(line: "play ORIGIN/cmaf/master.m3u8 --offline --player true"),
        Case(line: "mode auto"),
    ]

    @Test func areAsInTheTable() async throws {
        try await Scene.with { scene in
            var blocks: [String] = []
            for example in Self.cases {
                try await scene.origin.clearRules()
                for rule in example.rules {
                    try await scene.origin.add(rule)
                }
                blocks.append(try await block(example, scene))
            }
            #expect(try GoldenBlocks("messages.txt").differences(from: blocks).isEmpty)
        }
    }

    /// Each command refuses a source that cannot be played with the same words, and no player is started.
    @Test func areTheSameForGetShowAndPlay() async throws {
        let sources = Self.cases.filter { example in
            let words = example.line.split(separator: " ")
            let isPlayable = words.last?.contains("_live") ?? false || words.last == "ORIGIN/cmaf/master.m3u8"
            return words.count == 2 && words[0] == "get" && !words[1].hasPrefix("-") && !isPlayable
        }
        #expect(sources.count >= 14)
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let mark = folder.path("started")
            let player = try folder.write(Data("#!/bin/sh\ntouch '\(mark)'\n".utf8), to: "player")
            try #require(chmod(player, 0o755) == 0)
            for example in sources {
                try await scene.origin.clearRules()
                for rule in example.rules {
                    try await scene.origin.add(rule)
                }
                let word = String(example.line.dropFirst("get ".count))
                let source = word.replacing("ORIGIN", with: scene.origin.url(""))
                let got = try await scene.weir.run(["get", source])
                let shown = try await scene.weir.run(["show", source])
                let played = try await scene.weir.run(["play", source, "--player", player])
                #expect(played.exit == got.exit && shown.exit == got.exit, "\(example.line)")
                #expect(Self.message(played.errors) == Self.message(got.errors), "\(example.line)")
                #expect(Self.message(shown.errors) == Self.message(got.errors), "\(example.line)")
                #expect(!FileManager.default.fileExists(atPath: mark), "\(example.line)")
            }
            #expect(try await scene.weir.run(["list", "--json"]).output.isEmpty)
        }
    }

    /// The lines of a failure, without progress.
    private static func message(_ errors: String) -> [Substring] {
        errors.split(separator: "\n").filter { $0.hasPrefix("weir: ") || $0.hasPrefix("try: ") }
    }

    /// A case with its result: progress and JSON are left out, and so is what differs from run to run.
    private func block(_ example: Case, _ scene: Scene) async throws -> String {
        let origin = scene.origin.url("")
        let filled = { (text: String) in text.replacing("ORIGIN", with: origin) }
        let folder = try TemporaryFolder()
        let input = try folder.write(Data(filled(example.input).utf8), to: "input")
        let result = try await ProcessRunner.run(
            "sh",
            ["-c", "exec \"$0\" \(filled(example.line)) --state \"$1\" < \"$2\"", Repository.builtProgram("weir")]
                + [scene.weir.state, input])
        let isJSON = example.line.hasSuffix("--json")
        let output = isJSON ? "" : result.output
        let port = "\(await scene.weir.port)"
        let text = (output + result.errors).replacing(origin, with: "ORIGIN")
            .replacing("localhost:\(port)", with: "WEIR").replacing("127.0.0.1:\(port)", with: "WEIR")
            // Printed where a reply takes longer than a moment.
            .replacing(/(?m)^waiting for (?:[^ \n]+|the origin of .*)\n/, with: "")
            .replacing(/\d{4}-\d\d-\d\d \d\d:\d\d/, with: "TIME")
        let given = example.input.isEmpty ? "" : " < " + example.input.replacing("\n", with: "\\n")
        let exit = if case .code(let code) = result.exit { "\(code)" } else { "\(result.exit)" }
        return "$ weir \(example.line)\(given)\nexit \(exit)\n\(text)"
    }
}
