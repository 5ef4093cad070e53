import Foundation
import TestSupport
import Testing

/// Numbers from the edges of their types, in playlists, heads and API bodies: no step from playing to removal may end the
/// daemon.
@Suite("A number from the edge of its type")
struct NumberTests {
    /// A media playlist, or a multivariant one whose variants name `media.m3u8`.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var media: [String] = ["#EXTINF:2,", "0.ts", "#EXTINF:2,", "1.ts"]
        var master: [String] = []
        var isLive = false

        var files: [String: String] {
            let head = ["#EXTM3U", "#EXT-X-VERSION:6"]
            let list = head + media + (isLive ? [] : ["#EXT-X-ENDLIST"])
            let entry = master.isEmpty ? list : head + master
            return ["entry.m3u8": entry, "media.m3u8": list].mapValues { $0.joined(separator: "\n") + "\n" }
        }
    }

    /// The numbers just inside and just outside of the usual types.
    private static let integers = [
        "2147483647", "2147483648", "4294967296", "4398046511104", "2305843009213693951", "2305843009213693952",
        "9000000000000000000", "9223372036854775806", "9223372036854775807", "9223372036854775808",
        "18446744073709551616",
    ]
    private static let floats = [
        "0", "0.0000000000000000001", "999999999", "1000000000", "1e308", "179769313486231570000000000000",
        "99999999999999999999999999999999999999999999",
    ]

    /// Numbers that are none, that are signed, or that are just inside and outside of the bounds of the types that hold them.
    private static let edges =
        integers + floats + [
            "-0", "-1", "1", "9007199254740993", "-9223372036854775808", "18446744073709551615",
            String(repeating: "9", count: 300), "1e999", "-1e308", "1e-320", "nan", "inf", "0x7fffffffffffffff",
            "9223372036854775807.5", "4398046511105", "1000000000000000", "1000000000000001", "1000000000.0000001",
            "9999999999.999999", "4611686018427387903", "1.7976931348623157e309",
        ]

    /// Lines of a media playlist, before its second segment; N is the number. Those of a head are read there too.
    private static let mediaLines = [
        "#EXT-X-TARGETDURATION:N", "#EXT-X-MEDIA-SEQUENCE:N", "#EXT-X-DISCONTINUITY-SEQUENCE:N", "#EXT-X-VERSION:N",
        "#EXT-X-BITRATE:N", "#EXT-X-START:TIME-OFFSET=N", "#EXT-X-BYTERANGE:N", "#EXT-X-BYTERANGE:N@0",
        "#EXT-X-BYTERANGE:1@N", "#EXT-X-BYTERANGE:N@N", "#EXT-X-MAP:URI=\"0.ts\",BYTERANGE=\"N@N\"",
        "#EXT-X-SKIP:SKIPPED-SEGMENTS=N", "#EXT-X-PART-INF:PART-TARGET=N",
        "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=N,HOLD-BACK=N,PART-HOLD-BACK=N",
        "#EXT-X-PART:DURATION=N,URI=\"0.ts\"", "#EXT-X-PART:DURATION=1,URI=\"0.ts\",BYTERANGE=\"N@N\"",
        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"0.ts\",BYTERANGE-START=N,BYTERANGE-LENGTH=N",
        "#EXT-X-RENDITION-REPORT:URI=\"a\",LAST-MSN=N,LAST-PART=N",
        "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:00Z\",DURATION=N,PLANNED-DURATION=N",
        "#EXT-X-PROGRAM-DATE-TIME:N-01-01T00:00:00Z", "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:NZ",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0xN", "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\",KEYFORMATVERSIONS=\"N\"",
        "#EXT-X-BITRATE:N\n#EXTINF:N,\n0.ts",
    ]
    private static let attributes = [
        "BANDWIDTH=N", "BANDWIDTH=1,AVERAGE-BANDWIDTH=N", "BANDWIDTH=1,RESOLUTION=NxN", "BANDWIDTH=1,FRAME-RATE=N",
        "BANDWIDTH=1,SCORE=N", "BANDWIDTH=1,PROGRAM-ID=N",
    ]

    /// Each line with each number where tests are thorough, else with a sixth of them, each line with others.
    private static let lines: [Case] = (mediaLines + attributes).enumerated().flatMap { place, line in
        let chosen = edges.enumerated().filter { OncePerRun.isThorough || ($0.offset + place).isMultiple(of: 6) }
        return chosen.map { _, number in
            let text = line.replacing("N", with: number)
            guard line.hasPrefix("#") else { return Case(testDescription: text, master: variants(text)) }
            let media = [
                "#EXT-X-TARGETDURATION:2", "#EXTINF:2,", "0.ts", text, "#EXTINF:2,", "1.ts", "#EXTINF:2,", "2.ts",
            ]
            return Case(testDescription: text, media: media)
        }
    }

    private static func variants(_ attributes: String) -> [String] {
        ["", ",RESOLUTION=640x360", ",RESOLUTION=1280x720"].enumerated().flatMap { index, resolution in
            ["#EXT-X-STREAM-INF:\(attributes)\(resolution)", "\(index)/../media.m3u8?\(index)"]
        }
    }

    private static let cases: [Case] =
        integers.flatMap { number in
            [
                Case(
                    testDescription: "ranges of \(number)",
                    media: (0..<3).flatMap { ["#EXTINF:2,", "#EXT-X-BYTERANGE:\(number)@0", "\($0).ts"] }),
                Case(
                    testDescription: "ranges at \(number)",
                    media: (0..<2).flatMap { ["#EXTINF:2,", "#EXT-X-BYTERANGE:2@\(number)", "\($0).ts"] }
                        + ["#EXTINF:2,", "#EXT-X-BYTERANGE:2", "1.ts"]),
                Case(
                    testDescription: "EXT-X-BITRATE \(number)",
                    media: ["#EXT-X-BITRATE:\(number)"]
                        + (0..<3).flatMap { ["#EXTINF:1000000000,", "\($0).ts"] }),
                Case(
                    testDescription: "sequence \(number)",
                    media: [
                        "#EXT-X-TARGETDURATION:2", "#EXT-X-MEDIA-SEQUENCE:\(number)",
                        "#EXT-X-DISCONTINUITY-SEQUENCE:\(number)", "#EXTINF:2,", "0.ts", "#EXT-X-DISCONTINUITY",
                        "#EXTINF:2,", "1.ts",
                    ]),
                Case(
                    testDescription: "a section at \(number)",
                    media: [
                        "#EXT-X-MAP:URI=\"init.mp4\",BYTERANGE=\"\(number)@\(number)\"", "#EXTINF:2,", "0.m4s",
                    ]),
                Case(
                    testDescription: "BANDWIDTH \(number)",
                    master: variants("BANDWIDTH=\(number),AVERAGE-BANDWIDTH=\(number),FRAME-RATE=\(number)")),
                Case(
                    testDescription: "live sequence \(number)",
                    media: [
                        "#EXT-X-TARGETDURATION:\(number)",
                        "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=\(number),HOLD-BACK=\(number),CAN-BLOCK-RELOAD=YES",
                        "#EXT-X-PART-INF:PART-TARGET=\(number)", "#EXT-X-MEDIA-SEQUENCE:\(number)",
                        "#EXTINF:2,", "0.ts", "#EXT-X-PART:DURATION=\(number),URI=\"p.ts\",BYTERANGE=\"\(number)@0\"",
                        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"h.ts\",BYTERANGE-START=\(number),BYTERANGE-LENGTH=\(number)",
                        "#EXT-X-RENDITION-REPORT:URI=\"o.m3u8\",LAST-MSN=\(number),LAST-PART=\(number)",
                    ], isLive: true),
            ]
        }
        + floats.flatMap { number in
            [
                Case(
                    testDescription: "EXTINF \(number)",
                    media: [
                        "#EXT-X-TARGETDURATION:\(number)", "#EXT-X-START:TIME-OFFSET=-\(number)", "#EXTINF:\(number),",
                        "0.ts", "#EXT-X-PROGRAM-DATE-TIME:9999-12-31T23:59:59.999Z", "#EXTINF:\(number),", "1.ts",
                        "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"0000-01-01T00:00:00Z\",DURATION=\(number)",
                    ]),
                Case(
                    testDescription: "FRAME-RATE \(number)",
                    master: variants("BANDWIDTH=1000,FRAME-RATE=\(number),SCORE=\(number)")),
            ]
        }

    /// Answers of the API must be answers, whatever their status. The connection ends without one if the daemon does.
    private func call(
        _ weir: WeirProcess, _ token: String, _ method: String, _ path: String, _ body: String? = nil
    ) async throws -> HTTPAnswer {
        let fields = ["Authorization": "Bearer \(token)", "Content-Type": "application/json"]
        return try await HTTPProbe.fetch(
            weir.url("/api/v1/\(path)"), method: method, fields: fields, body: body.map { Data($0.utf8) })
    }

    private func token(_ weir: WeirProcess) throws -> String {
        let file = try String(contentsOfFile: weir.state + "/token", encoding: .utf8)
        return file.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("survives play, listing, download, pause, cancel and removal")
    func survivesPlaylists() async throws {
        let folder = try TemporaryFolder()
        let cases = Self.cases + Self.lines
        for (index, example) in cases.enumerated() {
            for (name, text) in example.files {
                try folder.write(Data(text.utf8), to: "\(index)/\(name)")
            }
        }
        try await Scene.with(root: folder.path) { scene in
            let token = try token(scene.weir)
            for (index, example) in cases.enumerated() {
                try await drive(scene, token, "/\(index)/entry.m3u8", example.testDescription)
            }
        }
    }

    private func drive(_ scene: Scene, _ token: String, _ path: String, _ what: String) async throws {
        do {
            let url = scene.origin.url(path)
            let entry = try await HTTPProbe.fetch(await scene.weir.url("/\(url)"))
            for line in entry.text.split(separator: "\n").filter({ $0.hasPrefix("/") }).prefix(2) {
                _ = try await HTTPProbe.fetch(await scene.weir.url(String(line)))
            }
            for mode in ["auto", "offline", "local"] {
                _ = try await HTTPProbe.fetch(await scene.weir.url("/\(mode)/\(url)"))
            }
            let order = try await call(scene.weir, token, "POST", "downloads", "{\"source\": \"\(url)\"}")
            let list = try await call(scene.weir, token, "GET", "assets")
            #expect(list.status == 200, "\(what): \(list.text)")
            let shapes = try JSONDecoder().decode(AssetList.self, from: list.body)
            for name in shapes.assets.map(\.name) {
                for (method, route) in [
                    ("GET", "assets/\(name)"), ("POST", "downloads/\(name)/pause"), ("GET", "downloads"),
                    ("POST", "downloads/\(name)/resume"), ("POST", "downloads/\(name)/cancel"),
                    ("DELETE", "assets/\(name)"),
                ] {
                    let answer = try await call(scene.weir, token, method, route)
                    #expect(answer.status < 500, "\(what), \(route): \(answer.status) \(answer.text)")
                }
            }
            #expect(order.status < 600)
        } catch {
            Issue.record("\(what): \(error); \(await scene.weir.log.suffix(600))")
            throw error
        }
    }

    private struct AssetList: Decodable {
        struct Asset: Decodable { let name: String }
        let assets: [Asset]
    }

    /// Texts of a live playlist, of which each replaces the one before; N is the number, M another.
    private static let reloads = [
        ["#EXT-X-MEDIA-SEQUENCE:N", "#EXT-X-MEDIA-SEQUENCE:M", "#EXT-X-MEDIA-SEQUENCE:0"],
        [
            "#EXT-X-MEDIA-SEQUENCE:N\n#EXT-X-DISCONTINUITY-SEQUENCE:N",
            "#EXT-X-MEDIA-SEQUENCE:N\n#EXT-X-SKIP:SKIPPED-SEGMENTS=M",
        ],
        [
            "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=N\n#EXT-X-MEDIA-SEQUENCE:N",
            "#EXT-X-MEDIA-SEQUENCE:M",
        ],
        [
            "#EXT-X-DISCONTINUITY-SEQUENCE:N\n#EXT-X-BITRATE:M",
            "#EXT-X-DISCONTINUITY-SEQUENCE:M\n#EXT-X-MEDIA-SEQUENCE:9",
        ],
    ]

    @Test("survives reloads of a live playlist")
    func survivesReloads() async throws {
        try await Scene.with { scene in
            let token = try token(scene.weir)
            let tail = (0..<3).map { "#EXTINF:1,\n\($0).ts\n" }.joined()
            for (place, texts) in Self.reloads.enumerated() {
                for (index, number) in Self.edges.enumerated() {
                    let other = Self.edges[(index * 7 + place) % Self.edges.count]
                    let path = "/live-\(place)-\(index).m3u8"
                    for text in texts {
                        let lines = text.replacing("N", with: number).replacing("M", with: other)
                        let body = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(lines)\n\(tail)"
                        try await scene.origin.replaceRules(
                            with: OriginRule(path) { ($0.status, $0.body) = (200, body) })
                        _ = try await HTTPProbe.fetch(await scene.weir.url("/\(scene.origin.url(path))"))
                    }
                    try await drive(scene, token, path, "\(texts[0]) \(number), \(other)")
                }
            }
        }
    }

    @Test("survives bodies of the API")
    func survivesBodies() async throws {
        try await Scene.with { scene in
            let token = try token(scene.weir)
            try await scene.get("ts", ["-q", "90p"])
            let segment = try await PlaylistWalk.segments(scene.master("ts")).first
            let session = segment?.split(separator: "/").dropFirst(4).first
            for number in Self.edges {
                let bodies = [
                    ("PUT", "assets/ts/policy", "{\"expires\": \(number), \"afterFirstPlay\": \(number)}"),
                    ("PUT", "assets/ts/policy", "{\"keysExpire\": \(number), \"keysAfterFirstPlay\": \(number)}"),
                    ("POST", "assets/ts/keys", "{\"action\": \"expire\", \"expires\": \(number)}"),
                    ("POST", "downloads", "{\"source\": \"ts\", \"range\": \"\(number)-\(number)\"}"),
                    ("POST", "downloads", "{\"source\": \"ts\", \"quality\": \"\(number)M\"}"),
                    ("POST", "selection", "{\"source\": \"ts\", \"preferences\": {\"minimumBitRate\": \(number)}}"),
                    ("POST", "downloads", "{\"source\": \"ts\", \"quality\": \"\(number)p\"}"),
                    ("POST", "downloads", "{\"source\": \"ts\", \"range\": [\(number), \(number)]}"),
                    (
                        "POST", "downloads",
                        "{\"source\": \"ts\", \"preferences\": {\"minimumSize\": \"\(number)x\(number)\"}}"
                    ),
                    (
                        "POST", "selection",
                        "{\"source\": \"ts\", \"conditions\": [\"height<=\(number)\", \"peak<=\(number)\", \"fps<\(number)\"]}"
                    ),
                    (
                        "PUT", "sessions/\(session ?? "none")/report",
                        "{\"playhead\": \(number), \"rate\": \(number), \"stalls\": \(number), \"stallTime\": \(number), "
                            + "\"framesDropped\": \(number), \"startup\": \(number)}"
                    ),
                    ("GET", "log?limit=\(number)&since=\(number)", ""),
                ]
                for (method, path, body) in bodies {
                    let answer = try await call(scene.weir, token, method, path, body.isEmpty ? nil : body)
                    #expect(answer.status < 500, "\(path) \(body): \(answer.status) \(answer.text)")
                }
                // The policy is applied to what is played and listed.
                _ = try await HTTPProbe.fetch(await scene.weir.url("/ts.m3u8"))
                #expect(try await call(scene.weir, token, "GET", "assets/ts").status == 200)
            }
        }
    }
}
