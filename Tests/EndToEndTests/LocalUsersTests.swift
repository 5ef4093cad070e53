import Foundation
import TestSupport
import Testing

/// Another user of this machine, at the daemon's loopback address.
@Suite(.enabled(if: OtherUser.exists)) struct LocalUsersTests {
    private func names(_ weir: WeirProcess) async throws -> [String] {
        let list = try await weir.run(["list", "--json"]).output.split(separator: "\n")
        return try list.compactMap { line in
            (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["name"] as? String
        }
    }

    private func bearer(_ weir: WeirProcess) throws -> String {
        let token = try String(contentsOfFile: weir.state + "/token", encoding: .utf8)
        return "Authorization: Bearer \(token.trimmingCharacters(in: .newlines))"
    }

    /// The path of the first URI in the playlist at a path.
    private func first(_ text: String, at path: String) throws -> String {
        let url = try #require(PlaylistWalk.segments(text, at: "http://weir" + path).first)
        return try #require(URL(string: url)).path()
    }

    @Test("gets nothing without the token")
    func getsNothing() async throws {
        try await Scene.with { scene in
            let weir = scene.weir
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            let list = try first(try await HTTPProbe.fetch(weir.url("/ts.m3u8")).text, at: "/ts.m3u8")
            let segment = try first(try await HTTPProbe.fetch(weir.url(list)).text, at: list)
            let count = try await scene.origin.requests().count
            for path in [
                "/" + scene.origin.master("cmaf"), "/ts.m3u8", "/offline/ts.m3u8", list, segment, "/", "/metrics", "/x",
            ] {
                let answer = try await OtherUser.fetch(weir.url(path))
                #expect(answer.status == 403 && answer.text.contains("users and other-users of weir.toml"), "\(path)")
            }
            let api = try await OtherUser.fetch(weir.url("/api/v1/assets"))
            #expect(api.status == 403 && api.text.contains(#""code":"other-user""#), "\(api)")
            let wrong = try await OtherUser.fetch(weir.url("/api/v1/assets"), fields: ["Authorization: Bearer x"])
            #expect(wrong.status == 403)
            #expect(try await scene.origin.requests().count == count)
            #expect(try await names(weir) == ["ts"])
            let known = try await OtherUser.fetch(weir.url("/api/v1/assets"), fields: [bearer(weir)])
            #expect(known.status == 200 && known.text.contains(#""ts""#))
        }
    }

    @Test("gets nothing with the key of the page, which its browser keeps over restarts")
    func usesKeyOfPage() async throws {
        for options in [[], ["--other-users", "play"]] {
            try await Scene.with(options: options) { scene in
                let link = try await scene.pageLink()
                let key = try #require(link.split(separator: "/").last.map(String.init))
                let fields = ["Authorization: Bearer \(key)"]
                for path in ["/api/v1/assets", "/api/v1/page", "/api/v1/events", "/in/\(key)/"] {
                    #expect(try await OtherUser.fetch(scene.weir.url(path), fields: fields).status == 403, "\(path)")
                }
                let own = try await HTTPProbe.fetch(
                    scene.weir.url("/api/v1/assets"), fields: ["Authorization": "Bearer \(key)"])
                #expect(own.status == 200)
            }
        }
    }

    @Test("runs no handler of the owner's")
    func runsNoHandler() async throws {
        let folder = try TemporaryFolder()
        let ran = folder.path("ran")
        try folder.write(Data("#!/bin/sh\ntouch \(ran)\necho '#EXTM3U'\n".utf8), to: "h")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path("h"))
        let table =
            "[handlers]\nfilm = [\"\(folder.path("h"))\"]\n\"http://site.example/*\" = [\"\(folder.path("h"))\"]\n"
        try folder.write(Data(table.utf8), to: "weir.toml")
        let options = ["--other-users", "play", "--config", folder.path("weir.toml")]
        try await Scene.with(options: options) { scene in
            for path in ["/film://a", "/auto/film://a", "/http://site.example/watch"] {
                let answer = try await OtherUser.fetch(scene.weir.url(path))
                #expect(
                    answer.status == 403 && answer.text.contains("owner"), "\(path): \(answer.status) \(answer.text)")
            }
            #expect(!FileManager.default.fileExists(atPath: ran))
        }
    }

    @Test("may play by configuration, but starts no clock")
    func mayPlay() async throws {
        try await Scene.with(options: ["--other-users", "play"]) { scene in
            let weir = scene.weir
            #expect(try await OtherUser.fetch(weir.url("/" + scene.origin.master("cmaf"))).status == 200)
            #expect(try await names(weir) == ["cmaf"])
            #expect(try await scene.get("ts", ["-q", "worst"]).exit == .code(0))
            let list = try first(try await OtherUser.fetch(weir.url("/ts.m3u8")).text, at: "/ts.m3u8")
            let segment = try first(try await OtherUser.fetch(weir.url(list)).text, at: list)
            for path in ["/", "/metrics", "/api/v1/assets", "/api/v1/mode"] {
                #expect(try await OtherUser.fetch(weir.url(path)).status == 403, "\(path)")
            }
            let secret = "http://user:password@" + scene.origin.master("ts").dropFirst("http://".count)
            #expect(try await OtherUser.fetch(weir.url("/" + secret)).status == 200)
            #expect(try await HTTPProbe.fetch(weir.url("/" + scene.origin.master("ts"))).status == 200)
            #expect(try await scene.origin.requests().allSatisfy { $0.headers["authorization"] == nil })
            let command = try await weir.run(["policy", "ts", "--after-first-play", "48h"])
            #expect(command.exit == .code(0), "\(command)")
            let parts = segment.split(separator: "/", omittingEmptySubsequences: false)
            let invented = (parts[..<3] + ["azzzzz"] + parts[4...]).joined(separator: "/")
            for path in ["/ts.m3u8", "/offline/ts.m3u8", "/" + scene.origin.master("ts"), list, segment, invented] {
                let answer = try await OtherUser.fetch(weir.url(path))
                #expect(answer.status == 403 && answer.text.contains("begins when its owner plays it"), "\(path)")
            }
            #expect(try await weir.run(["policy", "ts"]).output.contains("after the first play"))
            #expect(try await HTTPProbe.fetch(weir.url(segment)).status == 200)
            #expect(try await OtherUser.fetch(weir.url(segment)).status == 200)
            #expect(try await OtherUser.fetch(weir.url("/ts.m3u8")).status == 200)
        }
    }

    @Test("is the owner if the configuration says so")
    func isListed() async throws {
        try await Scene.with(options: ["--users", "\(OtherUser.number)"]) { scene in
            let weir = scene.weir
            let opened = try await OtherUser.fetch(weir.url("/" + scene.origin.master("ts")))
            #expect(opened.status == 200)
            #expect(try await OtherUser.fetch(weir.url("/metrics")).status == 200)
            #expect(try await OtherUser.fetch(weir.url("/api/v1/assets")).status == 401)
        }
    }
}
