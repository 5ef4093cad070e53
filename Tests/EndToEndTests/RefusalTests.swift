import Foundation
import TestSupport
import Testing

/// Requests that Weir refuses, each with a status and a reason.
@Suite("Weir refuses")
struct RefusalTests {
    private static func isSentence(_ answer: HTTPAnswer) -> Bool {
        answer.isComplete && answer["content-type"] == "text/plain; charset=utf-8" && answer.text.hasSuffix(".\n")
    }

    @Test("with 404 what it does not know, without an origin request")
    func refusesUnknownPaths() async throws {
        try await Scene.with { scene in
            let segment = try await PlaylistWalk.firstSegment(ofLastVariant: scene.master("cmaf"))
            let folder = segment.dropLast("0.m4s".count)
            let bundle = folder.dropLast("video-270p/".count)
            try await scene.origin.clearRequests()
            let unknown = [
                "\(folder)99.m4s", "\(folder)-1.m4s", "\(folder)0.ts", "\(folder)init-7.mp4", "\(folder)0.m4s.new",
                "\(folder)99999999999999999999.m4s", "\(folder)..%2f..%2fasset.json", "\(folder)",
                "\(bundle)nothing/0.m4s", "\(bundle)nothing/media.m3u8", "\(bundle)keys/0.key",
                "\(bundle)keys/media.m3u8",
                await scene.weir.url("/nothing.m3u8"), await scene.weir.url("/offline/nothing.m3u8"),
                await scene.weir.url("/a/nothing/aaaaaa/video/0.ts"), await scene.weir.url("/a/cmaf/0.m4s"),
                await scene.weir.url("/a/../../etc/passwd"), await scene.weir.url("/nothing"),
            ]
            for url in unknown {
                let answer = try await HTTPProbe.fetch(url)
                #expect(answer.status == 404 && Self.isSentence(answer), "\(url): \(answer.status) \(answer.text)")
            }
            #expect(try await scene.origin.requests().map(\.path) == [])
        }
    }

    /// Paths that try to leave the store, or to reach what no origin of the user's is.
    private static let paths = [
        "/../etc/passwd", "/offline/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/a/..%2f..%2fstate%2ftoken/x",
        "//etc/passwd", "/offline/%00", "/file:///etc/passwd", "/a/film/../../state/token",
        "/offline/film.m3u8%0d%0aX-A:1", "/\\..\\..\\etc", "/a//b//c",
        "/offline/" + String(repeating: "%2e", count: 500),
        "/a/%ff/%fe/%c0%af", "/ftp://127.0.0.1/x", "/http://127.0.0.1:1/x", "/https://[::1]:1/x.m3u8",
        "/http://169.254.169.254/latest/meta-data/",
    ]

    @Test("what leads out of its folders, or to a service of this machine or cloud")
    func refusesHostilePaths() async throws {
        try await Scene.with { scene in
            let port = await scene.weir.port
            for path in Self.paths {
                let connection = try RawConnection(port: port)
                try await connection.send(
                    "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n")
                let reply = String(decoding: try await connection.receive(within: .seconds(40)).bytes, as: UTF8.self)
                let status = try #require(Int(reply.dropFirst("HTTP/1.1 ".count).prefix(3)), "\(path)")
                #expect(status >= 400 && !reply.contains("root:") && !reply.contains("\nX-A:"), "\(path): \(reply)")
            }
        }
    }

    /// Request heads, with HOST for the correct Host line, and the expected status.
    private static let heads: [(head: String, status: Int)] = [
        ("GET /ts.m3u8 HTTP/1.1\r\nHOSTHOST\r\n", 400), ("GET /ts.m3u8 HTTP/1.1\r\n\r\n", 400),
        ("GET /ts.m3u8 HTTP/1.1\nHOST\n", 400), ("GET  /ts.m3u8 HTTP/1.1\r\nHOST\r\n", 400),
        ("GET /ts.m3u8 HTTP/1.1\r\nHOSTTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("GET /ts.m3u8 HTTP/1.1\r\nHost: weir.example\r\n\r\n", 421),
        ("GET /ts.m3u8 HTTP/1.1\r\nHOSTX: " + String(repeating: "x", count: 20_000) + "\r\n\r\n", 431),
    ]

    @Test("a malformed request or one for another host, and closes the connection", arguments: heads)
    func refusesMalformedRequests(head: String, status: Int) async throws {
        try await Scene.with { scene in
            let port = await scene.weir.port
            let connection = try RawConnection(port: port)
            try await connection.send(head.replacingOccurrences(of: "HOST", with: "Host: 127.0.0.1:\(port)\r\n"))
            let reply = String(decoding: try await connection.receive().bytes, as: UTF8.self)
            #expect(reply.hasPrefix("HTTP/1.1 \(status) "))
            #expect(reply.lowercased().contains("\r\nconnection: close\r\n") && reply.hasSuffix(".\n"))
        }
    }

    @Test("a web page of another site")
    func refusesOtherSites() async throws {
        try await Scene.with { scene in
            for fields in [["Origin": "https://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
                let answer = try await HTTPProbe.fetch(scene.master("ts"), fields: fields)
                #expect(answer.status == 403)
            }
            #expect(try await scene.origin.requests().isEmpty)
        }
    }

    @Test(
        "with 403 a URL that it does not fetch, without its password",
        arguments: [
            "file:///etc/passwd", "ftp://127.0.0.1:PORT/ts/master.m3u8", "gopher://127.0.0.1:PORT/ts/master.m3u8",
            "ftp://user:secret@127.0.0.1:PORT/ts/master.m3u8", "http://OWN/ts.m3u8", "http:///ts/master.m3u8",
            "http://user:secret@127.0.0.1:99999/ts/master.m3u8",
        ])
    func refusesURL(url: String) async throws {
        try await Scene.with { scene in
            let before = try await scene.origin.load().accepted
            let own = await scene.weir.address.dropFirst("http://".count)
            let full = url.replacingOccurrences(of: "PORT", with: "\(scene.origin.port)")
                .replacingOccurrences(of: "OWN", with: own)
            let answer = try await HTTPProbe.fetch(scene.weir.url("/" + full))
            #expect(answer.status == 403 && Self.isSentence(answer), "\(answer.status) \(answer.text)")
            #expect(!answer.text.contains("secret"))
            let get = try await scene.weir.run(["get", full])
            #expect(get.exit == .code(65) && get.errors.hasPrefix("weir: "), "\(get.errors)")
            #expect(!get.errors.contains("secret"))
            #expect(try await scene.origin.load().accepted == before)
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
        }
    }

    @Test(
        "with 403 a redirect to a forbidden address, and opens no connection to it",
        arguments: ["http://127.0.0.1:PRIVATE/ts/master.m3u8", "file:///etc/passwd", "http://10.0.0.1/master.m3u8"])
    func refusesRedirect(target: String) async throws {
        let other = try await TestOrigin()
        try await Scene.with { scene in
            let before = try await other.load().accepted
            try await scene.origin.add(
                OriginRule("/*") { $0.redirect = target.replacingOccurrences(of: "PRIVATE", with: "\(other.port)") })
            let answer = try await HTTPProbe.fetch(scene.master("ts"))
            #expect(answer.status == 403 && Self.isSentence(answer), "\(answer.status) \(answer.text)")
            #expect(try await other.load().accepted == before)
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
        }
    }

    @Test("with 403 a playlist reference to another private address, and opens no connection to it")
    func refusesReference() async throws {
        let other = try await TestOrigin()
        try await Scene.with { scene in
            let before = try await other.load().accepted
            let text = """
                #EXTM3U
                #EXT-X-TARGETDURATION:2
                #EXT-X-MAP:URI="\(other.url("/cmaf/video-90p/init.mp4"))"
                #EXT-X-KEY:METHOD=AES-128,URI="\(other.url("/aes/keys/0.key"))"
                #EXTINF:2,
                \(other.url("/ts/90p/0.ts"))
                #EXT-X-ENDLIST

                """
            try await scene.origin.add(
                OriginRule("/media.m3u8") { ($0.status, $0.body) = (200, text) },
                OriginRule("/master.m3u8") {
                    $0.status = 200
                    $0.body = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(other.url("/ts/90p/media.m3u8"))\n"
                })
            let media = await scene.url("/media.m3u8")
            for reference in PlaylistWalk.references(in: try await HTTPProbe.fetch(media).text) {
                let answer = try await HTTPProbe.fetch(scene.weir.url(reference))
                #expect(
                    answer.status == 403 && Self.isSentence(answer), "\(reference): \(answer.status) \(answer.text)")
            }
            let variant = try #require(try await PlaylistWalk.segments(scene.url("/master.m3u8")).first)
            let answer = try await HTTPProbe.fetch(variant)
            #expect(answer.status == 403 && Self.isSentence(answer), "\(answer.status) \(answer.text)")
            #expect(try await other.load().accepted == before)
            #expect(scene.pieces() == [])
        }
    }
}
