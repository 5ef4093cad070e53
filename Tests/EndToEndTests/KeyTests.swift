import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Keys that expire, are revoked and renewed")
struct KeyTests {
    @Test("expired end playback cleanly; media stays, and a renewal requests each key once")
    func expiresAndRenews() async throws {
        try await Scene.with { scene in
            #expect(try await scene.weir.run(["keys"]).output == "no asset has keys\n")
            #expect(try await scene.get("aes").exit == .code(0))
            let media = scene.pieces().filter { $0.hasSuffix(".ts") }
            #expect(try await scene.weir.run(["keys", "aes", "--expires", "1s"]).exit == .code(0))
            try await waitUntil("the end") { try await scene.shows("aes", "key expired (3 of 3)") }
            let refused = try await HTTPProbe.fetch(scene.weir.url("/offline/aes.m3u8"))
            #expect(refused.status == 410 && refused.text.contains("weir keys aes --renew"), "\(refused.text)")
            let player = try await ProcessRunner.run(
                "ffmpeg", ["-v", "error", "-i", scene.weir.url("/offline/aes.m3u8"), "-f", "null", "-"])
            #expect(player.exit != .code(0))
            #expect(try await scene.weir.run(["list"]).output.contains("saved, key expired"))
            #expect(try await scene.weir.run(["list", "--offline"]).output == "")
            #expect(scene.pieces().filter { $0.hasSuffix(".ts") } == media)

            try await scene.origin.clearRequests()
            // The relative expiry would start again on renewal, so it is removed first.
            #expect(try await scene.weir.run(["keys", "aes", "--expires", "never"]).exit == .code(0))
            let renewed = try await scene.weir.run(["keys", "aes", "--renew"])
            #expect(renewed.exit == .code(0) && renewed.output.contains("0    valid"), "\(renewed)")
            #expect(try await scene.origin.requests().map(\.path) == (0..<3).map { "/aes/keys/\($0).key" })
            try await expectFrames(scene.weir.url("/offline/aes.m3u8"), ofBestOf: "aes")
            #expect(try await scene.origin.requests().count == 3)
        }
    }

    @Test("S33: are listed for all assets with their expiry, which an event announces")
    func announcesExpiry() async throws {
        try await Scene.with { scene in
            for fixture in ["aes", "ts"] {
                #expect(try await scene.get(fixture).exit == .code(0))
            }
            let watch = try scene.weir.begin(["events", "--json"])
            try await waitUntil("the stream") { !watch.standardOutput.isEmpty }
            try await scene.origin.clearRequests()
            #expect(try await scene.weir.run(["keys", "aes", "--expires", "4s"]).exit == .code(0))
            let listed = try await scene.weir.run(["keys"])
            #expect(listed.exit == .code(0) && listed.output.hasPrefix("aes  3 keys"), "\(listed)")
            #expect(!listed.output.contains("ts  "))
            try await waitUntil("the notice") { watch.standardOutput.contains("\"change\":\"expiring\"") }
            #expect(watch.standardOutput.contains("\"expiration\":"))
            watch.send(SIGINT)
            _ = try await watch.end()
        }
    }

    @Test("renewed send the asset's header fields; a refusal or another key changes nothing")
    func renewsKeys() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("aes", ["--header", "X-Pass: open"]).exit == .code(0))
            try await scene.origin.clearRequests()
            #expect(try await scene.weir.run(["keys", "aes", "1", "--renew"]).exit == .code(0))
            #expect(try await scene.origin.requests().map { $0.headers["x-pass"] } == ["open"])
            let failures: [(OriginRule, Int32, String)] = [
                (OriginRule("*/0.key") { $0.status = 403 }, 77, "key 0 of aes is not renewed"),
                (OriginRule("*/0.key") { ($0.status, $0.body) = (200, "15 bytes of it.") }, 76, "15 bytes"),
                (OriginRule("*/0.key") { $0.html = true }, 76, "is not renewed"),
                (OriginRule("*/0.key") { ($0.status, $0.body) = (200, "sixteen bytes it") }, 65, "content has changed"),
            ]
            for (rule, exit, words) in failures {
                try await scene.origin.add(rule)
                let result = try await scene.weir.run(["keys", "aes", "0", "--renew"])
                #expect(result.exit == .code(exit) && result.errors.contains(words), "\(result)")
                try await scene.origin.clearRules()
            }
            #expect(try await scene.weir.run(["keys", "aes", "7", "--renew"]).exit == .code(66))
            #expect(try await scene.weir.run(["keys", "none"]).exit == .code(66))
            #expect(try await scene.weir.run(["mode", "offline"]).exit == .code(0))
            let offline = try await scene.weir.run(["keys", "aes", "--renew"])
            #expect(offline.exit == .code(75) && offline.errors.contains("while Weir is offline"), "\(offline)")
            try await expectFrames(scene.weir.url("/aes.m3u8"), ofBestOf: "aes")
        }
    }

    @Test("revoked, one or all of all assets, stay deleted after a restart, and return by renewal")
    func revokesKeys() async throws {
        try await Scene.with { scene in
            for fixture in ["aes", "aes-noiv"] {
                #expect(try await scene.get(fixture).exit == .code(0))
            }
            let keys = { scene.pieces().filter { $0.hasSuffix(".key") } }
            let all = keys()
            #expect(try await scene.weir.run(["keys", "aes", "1", "--revoke"]).exit == .code(0))
            #expect(keys().count == all.count - 1)
            #expect(try await HTTPProbe.fetch(scene.weir.url("/offline/aes.m3u8")).status == 410)
            #expect(try await HTTPProbe.fetch(scene.weir.url("/offline/aes-noiv.m3u8")).status == 200)
            let both = try await scene.weir.run(["keys", "--revoke", "--all"])
            #expect(both.output.hasPrefix("revoked ") && both.output.hasSuffix(" of 2 assets\n"), "\(both)")
            #expect(keys().isEmpty)
            try await scene.weir.kill()
            try await scene.weir.start()
            #expect(try await HTTPProbe.fetch(scene.weir.url("/offline/aes-noiv.m3u8")).status == 410)
            try await scene.origin.clearRequests()
            // A repeated download request does not restore them.
            #expect(try await scene.get("aes").exit == .code(0))
            #expect(try await scene.mediaRequests().isEmpty && keys().isEmpty)
            for name in ["aes", "aes-noiv"] {
                #expect(try await scene.weir.run(["keys", name, "--renew"]).exit == .code(0))
                try await expectFrames(scene.weir.url("/offline/\(name).m3u8"), ofBestOf: name)
            }
            #expect(keys() == all)
            #expect(try await scene.mediaRequests().allSatisfy { $0.path.hasSuffix(".key") })
        }
    }

    @Test("revoked before a kill are not served after it, and their files are deleted")
    func finishesRevocationAfterKill() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("aes").exit == .code(0))
            let key = try #require(scene.pieces().first { $0.hasSuffix("/0.key") })
            try await scene.weir.terminate()
            try await scene.weir.start(
                wrapper: [
                    "strace", "-f", "-qq", "-o", "/dev/null", "-P", "0.key", "-e", "trace=unlinkat", "-e",
                    "inject=unlinkat:signal=KILL:when=1",
                ])
            let paths = try await PlaylistWalk.load(scene.weir.url("/offline/aes.m3u8")).keys
            let cut = try await scene.weir.run(["keys", "aes", "0", "--revoke"])
            #expect(cut.exit != .code(0), "\(cut)")
            try await scene.weir.kill()
            try await scene.weir.start(options: ["--offline"])
            let path = try #require(paths.first { $0.hasSuffix("/0.key") })
            let file = try #require(URL(string: path)?.path)
            #expect(try await HTTPProbe.fetch(scene.weir.url(file)).status == 410)
            #expect(try await HTTPProbe.fetch(scene.weir.url("/aes.m3u8")).status == 410)
            try await waitUntil("the file's end") { access(key, F_OK) != 0 }
        }
    }

    @Test("of new downloads get the configured terms")
    func appliesConfiguredTerms() async throws {
        try await Scene.with(options: ["--keys-expire", "30d", "--keys-after-first-play", "48h"]) { scene in
            for fixture in ["aes", "ts"] {
                #expect(try await scene.get(fixture).exit == .code(0))
            }
            let policy = try await scene.weir.run(["policy", "aes"])
            #expect(policy.output.contains("keys 30d after their fetch, 48h after the first play"), "\(policy)")
            #expect(try await scene.weir.run(["policy", "ts"]).output == "ts  never expires\n")
            let mine = try await scene.weir.run(["policy", "ts", "--rental"])
            #expect(mine.output.contains("plays until") && mine.output.contains("48h"), "\(mine)")
            #expect(try await scene.weir.run(["serve", "--keys-expire", "soon"]).exit == .code(64))
        }
    }
}

extension Scene {
    /// True if `weir show` prints a text.
    fileprivate func shows(_ name: String, _ words: String) async throws -> Bool {
        try await weir.run(["show", name]).output.contains(words)
    }
}
