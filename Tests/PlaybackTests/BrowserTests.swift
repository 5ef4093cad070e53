import EventLoop
import HTTPServer
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Response fields for a page of a listed origin.
@Suite @LoopActor struct BrowserTests {
    private nonisolated static let page = "https://player.example"

    /// The response fields about cross-origin access.
    private func shared(_ answer: HTTPAnswer) -> [String: String] {
        let fields = answer.fields.filter { $0.name.hasPrefix("access-control-") || $0.name == "vary" }
        return Dictionary(fields.map { ($0.name, $0.value) }) { $0 + "|" + $1 }
    }

    private static let readable = [
        "access-control-allow-origin": page,
        "access-control-expose-headers": "Accept-Ranges, Cache-Status, Content-Length, Content-Range, ETag",
        "vary": "Origin",
    ]

    /// One URL of each kind that a player loads, known and unknown pieces among them.
    private func paths(_ fixture: TestHouse) async throws -> [String] {
        let entry = fixture.typed("/aes/master.m3u8")
        let media = try await fixture.entry(entry)[0]
        let parts = try await fixture.paths(at: media)
        return [entry, "/aes.m3u8", media] + parts.prefix(3)
    }

    @Test func everyURLIsReadableByAListedOrigin() async throws {
        let fixture = try await TestHouse(.playback { $0.http.allowedOrigins = [Self.page] })
        let asks: [(method: String, fields: [String: String], status: Int)] = [
            ("HEAD", [:], 200), ("GET", [:], 200), ("GET", ["Range": "bytes=0-3"], 206), ("HEAD", [:], 200),
            ("GET", ["Range": "bytes=99999999-"], 416), ("GET", ["If-None-Match": "*"], 304),
        ]
        for path in try await paths(fixture) {
            for ask in asks {
                let fields = ask.fields.merging(["Origin": Self.page, "Sec-Fetch-Site": "cross-site"]) { $1 }
                let answer = try await fixture.get(path, fields, method: ask.method)
                #expect(answer.status == ask.status, "\(ask.method) \(path) \(ask.fields)")
                #expect(shared(answer) == Self.readable)
                if ask.method == "HEAD" {
                    #expect(answer.body.isEmpty && answer["content-length"] != nil)
                }
                if ask.status == 206 {
                    #expect(answer["content-range"]?.hasPrefix("bytes 0-3/") == true)
                }
                if ask.status == 416 {
                    #expect(answer["content-range"]?.hasPrefix("bytes */") == true)
                }
            }
        }
    }

    @Test func errorsAreReadableByAListedOrigin() async throws {
        let fixture = try await TestHouse(.playback { $0.http.allowedOrigins = [Self.page] })
        for (path, status) in [
            ("/nothing.m3u8", 404), (fixture.typed("/ts/90p/0.ts"), 502), ("/a/x/aabcde/v/0.ts", 404),
        ] {
            let answer = try await fixture.get(path, ["Origin": Self.page])
            #expect(answer.status == status && shared(answer) == Self.readable, "\(path)")
        }
    }

    @Test func otherOriginsCanReadNothing() async throws {
        let fixture = try await TestHouse(.playback { $0.http.allowedOrigins = [Self.page] })
        for path in try await paths(fixture) {
            let plain = try await fixture.get(path)
            #expect(plain.status == 200 && shared(plain) == ["vary": "Origin"])
            for origin in ["https://evil.example", "https://player.example:444", "http://player.example", "null"] {
                let answer = try await fixture.get(path, ["Origin": origin])
                #expect(answer.status == 403 && shared(answer)["access-control-allow-origin"] == nil, "\(origin)")
            }
        }
    }

    @Test func preflightRequestsAreAnswered() async throws {
        let fixture = try await TestHouse(.playback { $0.http.allowedOrigins = [Self.page] })
        let answer = try await fixture.get(
            "/aes.m3u8",
            [
                "Origin": Self.page, "Access-Control-Request-Method": "GET",
                "Access-Control-Request-Headers": "cmcd-request,range",
                "Access-Control-Request-Private-Network": "true",
            ], method: "OPTIONS")
        #expect(answer.status == 204)
        #expect(
            shared(answer)
                == Self.readable.merging([
                    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
                    "access-control-allow-headers":
                        "Authorization, CMCD-Object, CMCD-Request, CMCD-Session, CMCD-Status, Cache-Control, "
                        + "Content-Type, If-None-Match, If-Range, Range",
                    "access-control-allow-private-network": "true", "access-control-max-age": "600",
                ]) { $1 })
    }
}
