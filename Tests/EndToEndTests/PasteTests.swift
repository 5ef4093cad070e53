import Foundation
import TestSupport
import Testing

/// A curl command that a browser gave, with the real program.
@Suite("A pasted curl command")
struct PasteTests {
    /// The text of Chromium's "Copy as cURL (bash)".
    private func text(_ url: String) -> String {
        """
        curl '\(url)' \\
          -H 'accept: */*' \\
          -b $'sid=it\\'s; theme=d\\u0061rk' \\
          -H 'origin: https://site.example' \\
          -H 'range: bytes=0-' \\
          -H 'referer: https://site.example/watch' \\
          -H 'user-agent: Mozilla/5.0 (X11)' \\
          --compressed
        """
    }

    private func check(_ scene: Scene, after count: Int = 0) async throws {
        let requests = try await scene.origin.requests().dropFirst(count)
        #expect(!requests.isEmpty)
        for request in requests {
            #expect(request.headers["cookie"] == "sid=it's; theme=dark", "\(request.path)")
            #expect(request.headers["referer"] == "https://site.example/watch", "\(request.path)")
            #expect(request.headers["user-agent"] == "Mozilla/5.0 (X11)", "\(request.path)")
        }
    }

    private func pipe(_ scene: Scene, _ text: String, _ line: String) async throws -> ProcessResult {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data(text.utf8), to: "pasted")
        return try await ProcessRunner.run(
            "sh",
            ["-c", "\"$0\" \(line) --state \"$1\" < \"$2\"", Repository.builtProgram("weir"), scene.weir.state, file])
    }

    @Test("on standard input is kept, plays, plays offline, and is removed")
    func standardInput() async throws {
        try await Scene.with { scene in
            let url = scene.origin.master("ts")
            let got = try await pipe(scene, text(url), "get --curl - -q worst --name pasted")
            #expect(got.exit == .code(0), "\(got)")
            try await check(scene)
            #expect(try await HTTPProbe.fetch(scene.weir.url("/pasted.m3u8")).status == 200)
            #expect(try await scene.weir.run(["mode", "offline"]).exit == .code(0))
            #expect(try await HTTPProbe.fetch(scene.weir.url("/offline/pasted.m3u8")).status == 200)
            #expect(try await scene.weir.run(["remove", "pasted", "--yes"]).exit == .code(0))
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
        }
    }

    @Test("behind -- is the source, and in a file too", arguments: ["get", "add"])
    func words(command: String) async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let url = scene.origin.master("ts")
            let words = [
                command, "-q", "worst", "--state", scene.weir.state, "--", "curl", url, "-H",
                "Referer: https://site.example/watch",
                "-b", "sid=it's; theme=dark", "-A", "Mozilla/5.0 (X11)", "--compressed",
            ]
            let got = try await ProcessRunner.run(Repository.builtProgram("weir"), words)
            #expect(got.exit == .code(0), "\(got)")
            try await scene.waitForCompletion(of: "ts")
            try await check(scene)
            let count = try await scene.origin.requests().count
            let file = try folder.write(Data(text(scene.origin.master("cmaf")).utf8), to: "command")
            #expect(try await scene.weir.run([command, "--curl", file, "-q", "worst"]).exit == .code(0))
            try await scene.waitForCompletion(of: "cmaf")
            try await check(scene, after: count)
        }
    }

    @Test("that cannot be used says why, and shows no secret")
    func refusals() async throws {
        try await Scene.with { scene in
            for (text, says, next) in [
                ("curl 'https://h/a' --data-raw 'hush'", "sends a body", "copy the request of the playlist"),
                ("curl ^\"https://h/a^\"", "the form for Windows", "copy it as cURL (bash)"),
                ("curl 'https://h/a", "a quotation mark in it is open", "copy the whole command"),
                ("wget https://h/a", "does not begin with curl", "copy the request of the playlist"),
                ("curl https://h/a -b cookies.txt", "names a file of cookies", "--cookies FILE"),
            ] {
                for command in ["get", "add"] {
                    let result = try await pipe(scene, text, "\(command) --curl -")
                    #expect(result.exit == .code(64), "\(result)")
                    #expect(
                        result.errors.hasPrefix("weir: the pasted command cannot be used: ")
                            && result.errors.contains(says)
                            && result.errors.contains("\ntry: ") && result.errors.contains(next)
                            && !result.errors.contains("hush"), "\(result)")
                }
            }
            let both = try await scene.weir.run(["add", "https://h/a", "--curl", "-"])
            #expect(both.exit == .code(64) && both.errors.contains("--curl has the URL"), "\(both)")
            let none = try await scene.weir.run(["get"])
            #expect(none.exit == .code(64) && none.errors.contains("Give a URL"), "\(none)")
        }
    }
}
