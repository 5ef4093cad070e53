import Foundation
import TestSupport
import Testing

@Suite("An import")
struct ImportTests {
    /// Imports a folder with a name.
    private func take(_ path: String, as name: String, in scene: Scene) async throws {
        let result = try await scene.weir.run(["import", path, "--name", name])
        #expect(result.exit == .code(0), "\(result.errors)")
    }

    @Test("of plain HLS plays every frame of every variant, also after a restart and without network")
    func importsPlainHLS() async throws {
        try await Scene.with { scene in
            let fixtures = ["byterange-ts", "aes-noiv", "cmaf"]
            for fixture in fixtures {
                try await take(Repository.path("fixtures/media/\(fixture)"), as: fixture, in: scene)
            }
            for fixture in fixtures {
                try await expectFrames(scene.weir.url("/\(fixture).m3u8"), of: fixture)
            }
            try await scene.weir.kill()
            try await scene.weir.start(options: ["--offline"])
            for fixture in fixtures {
                try await expectFrames(scene.weir.url("/\(fixture).m3u8"), of: fixture)
                try await scene.waitForCompletion(of: fixture)
            }
            #expect(!scene.pieces().contains { $0.hasSuffix("all.ts") })
            #expect(try await scene.weir.run(["remove", "--yes"] + fixtures).exit == .code(0))
            #expect(scene.pieces() == [])
        }
    }

    @Test("of an exported bundle keeps the name, plays, and exports to the same bytes")
    func importsBundle() async throws {
        let out = try TemporaryFolder()
        try await Scene.with { scene in
            let get = ["--title", "A film", "--audio", "all", "--subs", "all"]
            #expect(try await scene.get("cmaf", get).exit == .code(0))
            #expect(try await scene.get("aes").exit == .code(0))
            for name in ["cmaf", "aes"] {
                let result = try await scene.weir.run(["export", name, out.path(name)])
                #expect(result.exit == .code(0), "\(result.errors)")
            }
        }
        try await Scene.with { scene in
            for name in ["cmaf", "aes"] {
                let result = try await scene.weir.run(["import", out.path(name)])
                #expect(result.exit == .code(0) && result.output.hasPrefix("imported \(name), "), "\(result.errors)")
                let again = try await scene.weir.run(["export", name, out.path(name + "-again")])
                #expect(again.exit == .code(0), "\(again.errors)")
                let diff = try await ProcessRunner.run(
                    "diff", ["-r", "-x", "asset.json", "-x", "*.m3u8", out.path(name), out.path(name + "-again")])
                #expect(diff.exit == .code(0), "\(diff.output)")
            }
            let shown = try await scene.weir.run(["show", "cmaf"])
            #expect(shown.output.contains("A film") && shown.output.contains("\nimported: "), "\(shown.output)")
            try await expectFrames(scene.weir.url("/aes.m3u8"), ofBestOf: "aes")
            let second = try await scene.weir.run(["import", out.path("aes")])
            #expect(second.output.hasPrefix("imported aes-2, "), "\(second.output) \(second.errors)")
            try await expectFrames(scene.weir.url("/aes-2.m3u8"), ofBestOf: "aes")
        }
    }

    @Test("of a .movpkg plays the renditions that its XML lists as complete, and lists no others offline")
    func importsMoviePackage() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let package = try MoviePackageFixture(
                of: "cmaf", at: folder.path("Film.movpkg"), url: scene.origin.master("cmaf"),
                complete: ["video-270p", "audio-en"], begun: ["audio-fr"])
            let result = try await scene.weir.run(["import", package.path])
            #expect(result.exit == .code(0) && result.output.hasPrefix("imported film, "), "\(result.errors)")
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/offline/film.m3u8"), ofBestOf: "cmaf")
            let text = try await HTTPProbe.fetch(scene.weir.url("/offline/film.m3u8")).text
            #expect(!text.contains("audio-fr") && !text.contains("180p"))

            let none = try MoviePackageFixture(
                of: "cmaf", at: folder.path("None.movpkg"), url: scene.origin.url("/other/master.m3u8"), complete: [],
                begun: ["audio-fr"])
            let refused = try await scene.weir.run(["import", none.path])
            #expect(refused.exit == .code(65) && refused.errors.contains("is not complete"), "\(refused.errors)")
        }
    }

    /// A change to a valid folder, and the expected error.
    static let faults: [(name: String, words: String, spoil: @Sendable (String) throws -> Void)] = [
        ("a segment is not there", "180p/3.ts", { try FileManager.default.removeItem(atPath: $0 + "/180p/3.ts") }),
        ("no playlist", "is no HLS", { try FileManager.default.removeItem(atPath: $0 + "/master.m3u8") }),
        ("no HLS", "no playlist", { try write("<html>", $0 + "/master.m3u8") }),
        (
            "a link", "a link, which is not followed",
            { folder in
                try FileManager.default.moveItem(atPath: folder + "/180p/3.ts", toPath: folder + "/3.ts")
                try FileManager.default.createSymbolicLink(
                    atPath: folder + "/180p/3.ts", withDestinationPath: "../3.ts")
            }
        ),
        (
            "out of the folder", "leads out of the folder",
            { try replace("90p/media", "../90p/media", $0 + "/master.m3u8") }
        ),
        ("an origin", "another origin", { try replace("3.ts", "https://h/3.ts", $0 + "/180p/media.m3u8") }),
        (
            "no end", "EXT-X-ENDLIST",
            {
                // Of a VOD playlist a missing end is mended.
                try replace("#EXT-X-PLAYLIST-TYPE:VOD", "", $0 + "/180p/media.m3u8")
                try replace("#EXT-X-ENDLIST", "", $0 + "/180p/media.m3u8")
            }
        ),
        ("a newer Weir", "a newer Weir has written", { try write("{\"format\": 2}", $0 + "/asset.json") }),
        (
            "other bytes", "SHA256SUMS",
            { folder in
                let sum = String(repeating: "0", count: 64)
                let size = try Data(contentsOf: URL(filePath: folder + "/180p/3.ts")).count
                try write("# \(size)\n\(sum)  3.ts\n", folder + "/180p/SHA256SUMS")
            }
        ),
        (
            "DRM", "DRM",
            { folder in
                let key =
                    "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n#EXTINF"
                try replace("#EXTINF", key, folder + "/180p/media.m3u8")
            }
        ),
    ]

    private static func write(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    private static func replace(_ text: String, _ other: String, _ path: String) throws {
        let all = try String(contentsOfFile: path, encoding: .utf8)
        try write(all.replacingOccurrences(of: text, with: other), path)
    }

    @Test("of incomplete content or with links to other places is refused with the reason, and leaves nothing")
    func refusesBadFolders() async throws {
        try await Scene.with { scene in
            for fault in Self.faults {
                let folder = try TemporaryFolder()
                let copy = folder.path("film")
                _ = try await ProcessRunner.run("cp", ["-a", Repository.path("fixtures/media/ts"), copy])
                try fault.spoil(copy)
                let result = try await scene.weir.run(["import", copy])
                #expect(result.exit == .code(65), "\(fault.name): \(result.errors)")
                #expect(result.errors.contains(fault.words), "\(fault.name): \(result.errors)")
            }
            #expect(try await scene.weir.run(["import", "/nowhere"]).exit == .code(65))
            #expect(scene.pieces() == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: scene.weir.store + "/tmp") == [])
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
        }
    }

    @Test("killed before its last step leaves nothing, and succeeds the next time")
    func leavesNothingAfterKill() async throws {
        try await Scene.with(isStarted: false) { scene in
            let trace = try TemporaryFolder()
            try await scene.weir.start(wrapper: [
                "strace", "-f", "-qq", "-o", trace.path("calls"), "-e", "trace=syncfs", "-e",
                "inject=syncfs:signal=KILL",
            ])
            let killed = try await scene.weir.run(["import", Repository.path("fixtures/media/ts")])
            #expect(killed.exit == .code(75), "\(killed.errors)")
            try await scene.weir.restart()
            try await waitUntil("nothing on its way") {
                try FileManager.default.contentsOfDirectory(atPath: scene.weir.store + "/tmp") == []
            }
            #expect(scene.pieces() == [])
            try await take(Repository.path("fixtures/media/ts"), as: "ts", in: scene)
            try await expectFrames(scene.weir.url("/ts.m3u8"), of: "ts")
        }
    }

    @Test("killed before the catalogue row exists once, and plays without network")
    func adoptsImportAfterKill() async throws {
        try await Scene.with(isStarted: false) { scene in
            let trace = try TemporaryFolder()
            let bundles = scene.weir.store + "/assets"
            try FileManager.default.createDirectory(atPath: bundles, withIntermediateDirectories: true)
            // The folder of bundles is synced between the rename and the rows.
            try await scene.weir.start(wrapper: [
                "strace", "-f", "-qq", "-o", trace.path("calls"), "-P", bundles, "-e", "trace=fsync", "-e",
                "inject=fsync:signal=KILL",
            ])
            let killed = try await scene.weir.run(["import", Repository.path("fixtures/media/cmaf"), "--name", "film"])
            #expect(killed.exit == .code(75), "\(killed.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: bundles).count == 1)
            try await scene.weir.kill()
            for life in 1...2 {
                try await scene.weir.start(options: ["--offline"])
                try await waitUntil("the asset in life \(life)") {
                    try await !scene.weir.run(["list", "--json"]).output.isEmpty
                }
                let list = try await scene.weir.run(["list", "--json"]).output.split(separator: "\n")
                #expect(list.count == 1 && list[0].contains("\"name\":\"film\""), "life \(life): \(list)")
                try await expectFrames(scene.weir.url("/film.m3u8"), of: "cmaf")
                #expect(try FileManager.default.contentsOfDirectory(atPath: bundles).count == 1)
                try await scene.weir.kill()
            }
        }
    }
}
