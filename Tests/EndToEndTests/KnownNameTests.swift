import TestSupport
import Testing

/// Orders that would change what the user knows by another name, or that join two playlists.
@Suite("weir get") struct KnownNameTests {
    @Test("renames no asset that has a download unless somebody agrees, and says the way out")
    func renamesNothingUnasked() async throws {
        try await Scene.with { scene in
            let url = scene.origin.master("ts")
            #expect(try await scene.weir.run(["get", url, "-q", "worst", "--name", "film"]).exit == .code(0))
            for command in ["get", "add"] {
                let result = try await scene.weir.run([command, url, "--name", "other"])
                #expect(result.exit == .code(65), "\(command): \(result.errors)")
                #expect(result.errors.contains("this stream is known as film"), "\(command): \(result.errors)")
                #expect(result.errors.contains("try: weir rename film other"), "\(command): \(result.errors)")
            }
            #expect(try await scene.weir.run(["get", url, "--name", "film"]).exit == .code(0))
            #expect(try await scene.weir.run(["show", "film"]).exit == .code(0))
            #expect(try await scene.weir.run(["show", "other"]).exit == .code(66))
        }
    }

    @Test("follows a rename in the log")
    func logFollowsRename() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            _ = try await FrameHashes.of(scene.weir.url("/ts.m3u8"))
            #expect(try await scene.weir.run(["rename", "ts", "beta"]).exit == .code(0))
            try await waitUntil("the events under the new name") {
                try await scene.weir.run(["log", "beta", "--format", "json"]).output.contains("\"asset\":\"beta\"")
            }
            #expect(try await scene.weir.run(["log", "ts"]).exit == .code(66))
        }
    }

    @Test("saves a video playlist with an audio playlist, and refuses a whole presentation with one")
    func joinsTwoPlaylists() async throws {
        try await Scene.with { scene in
            let sound = scene.origin.url("/cmaf/audio-fr/media.m3u8")
            let video = scene.origin.url("/cmaf/video-90p/media.m3u8")
            let got = try await scene.weir.run(["get", video, "--with-audio", sound, "--name", "pair"])
            #expect(got.exit == .code(0), "\(got.errors)")
            // Nothing is known of the rate of the two together.
            #expect(!got.errors.contains("Mb/s"), "\(got.errors)")
            #expect(try await FrameHashes.of(scene.weir.url("/offline/pair.m3u8")).streams.count == 2)
            let whole = try await scene.weir.run(["get", scene.origin.master("cmaf"), "--with-audio", sound])
            #expect(whole.exit == .code(65) && whole.errors.contains("takes no other"), "\(whole.errors)")

            let queued = try await scene.weir.run([
                "add", scene.origin.url("/cmaf/video-180p/media.m3u8"), "--with-audio", sound, "--name", "queued",
            ])
            #expect(queued.exit == .code(0), "\(queued.errors)")
            #expect(try await scene.weir.run(["show", "queued"]).output.contains("audio"))
            let several = try await scene.weir.run(["add", video, sound, "--with-audio", sound])
            #expect(several.exit == .code(64) && several.errors.contains("are for one URL"), "\(several.errors)")
            let asked = try await scene.weir.run(["add", video, "--choose"])
            #expect(asked.exit == .code(64) && asked.errors.contains("nobody can answer here"), "\(asked.errors)")
        }
    }
}
