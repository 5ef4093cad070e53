import Foundation
import Testing

@testable import HLS

@Suite("A check")
struct CheckTests {
    @Test("reports the findings of one text by line", arguments: try GoldenCase.all(in: "check"))
    func golden(_ golden: GoldenCase) {
        #expect(golden.checked() == golden.expected)
    }

    @Test("reports nothing for a valid text")
    func clean() throws {
        let clean = try GoldenCase.all(in: "check").filter { $0.name.contains("clean") }
        #expect(clean.count == 2 && clean.allSatisfy { $0.expected.isEmpty })
    }

    @Test("has a golden case for each rule that one text can violate")
    func coverage() throws {
        let reported = try GoldenCase.all(in: "check").map(\.expected).joined()
        // Golden cases cover neither missing line ends nor URLs.
        let others: Set<CheckRule> = [
            .openEnd, .unresolvable, .insecure, .selfReference, .notMedia, .targetDurationsDiffer, .durationsDiffer,
            .discontinuitiesDiffer, .typesDiffer, .datesDiffer, .iFrames, .peakOverBandwidth,
        ]
        for rule in CheckRule.allCases where !others.contains(rule) {
            #expect(reported.contains("[\(rule.rawValue)]"), "no case for \(rule)")
        }
    }

    @Test(
        "reports the parser's error and line for each malformed text",
        arguments: try GoldenCase.all(in: "malformed"))
    func malformed(_ golden: GoldenCase) throws {
        let error = try #require(throws: PlaylistError.self) { try Playlist.parse(golden.input) }
        let found = PlaylistRules.diagnostics(of: golden.input)
        let same = found.first { $0.severity == .error && $0.code == error.code.rawValue }
        #expect(same?.line == error.line)
        #expect(same?.clause.hasPrefix("RFC 8216 §") == true || same?.clause.hasPrefix("rfc8216bis §") == true)
    }

    @Test("limits the findings per rule and reports how many more there are")
    func many() throws {
        let segments = String(repeating: "#EXTINF:9,\na.ts\n", count: 10_000)
        let found = PlaylistRules.diagnostics(of: Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(segments)".utf8))
        #expect(found.count == 9)
        #expect(found.last?.message == "9992 more findings of durationOverTarget" && found.last?.line == nil)
    }

    @Test("reports a defect that is mended once, beyond the limit too")
    func mendedOnce() throws {
        let segments = String(repeating: "#EXTINF:6\na.ts\n", count: 20)
        let found = PlaylistRules.diagnostics(of: Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(segments)".utf8))
        #expect(Set(found.map(\.code)) == ["noComma"] && found.count == 9)
    }

    @Test("warns of a text that ends within a line, unless the text is complete")
    func openEnd() throws {
        func codes(_ end: String) -> [String] {
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n\(end)"
            return PlaylistRules.diagnostics(of: Array(text.utf8)).map { "\($0.line ?? 0) \($0.code)" }
        }
        #expect(codes("a.ts") == ["4 openEnd"])
        #expect(codes("a.ts\n#EXT-X-ENDLIST") == [] && codes("a.ts\n# end") == [] && codes("a.ts\n") == [])
        #expect(codes("a.ts\n#EXTINF:6,") == ["5 openEnd", "5 missingURI"])
        func severities(_ text: String) -> [PlaylistDiagnostic.Severity] {
            let found = PlaylistRules.diagnostics(of: Array("#EXTM3U\n\(text)".utf8))
            return found.filter { $0.code == "openEnd" }.map(\.severity)
        }
        let media = "#EXT-X-TARGETDURATION:6\n"
        #expect(severities("\(media)#EXTINF:6,\na.ts") == [.warning])
        #expect(severities("\(media)#EXT-X-ENDLIST\n#EXTINF:6,\na.ts") == [.note])
        #expect(severities("#EXT-X-STREAM-INF:BANDWIDTH=1000000\nv.m3u8") == [.note])
    }

    @Test("reports URIs that are unresolvable, refer to the playlist itself, or are blocked by browsers")
    func references() throws {
        func codes(_ text: String) throws -> [String] {
            let playlist = try Playlist.parse(Array(("#EXTM3U\n" + text).utf8))
            return PlaylistRules.references(of: playlist, url: "https://h/m.m3u8") { uri in
                uri.hasPrefix("bad") ? nil : uri.hasPrefix("http") ? uri : "https://h/\(uri)"
            }.map { "\($0.line ?? 0) \($0.severity) \($0.code)" }
        }
        let media = """
            #EXT-X-KEY:METHOD=AES-128,URI="bad"
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="bad",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXT-X-MAP:URI="bad"
            #EXTINF:6,
            http://h/a.ts
            #EXT-X-GAP
            #EXTINF:6,
            bad
            #EXTINF:6,
            m.m3u8
            """
        #expect(
            try codes(media) == [
                "2 error unresolvable", "4 error unresolvable", "6 warning insecure", "11 error selfReference",
            ])
        let multivariant = """
            #EXT-X-SESSION-DATA:DATA-ID="a",URI="bad"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",URI="bad/audio"
            #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a"
            m.m3u8
            #EXT-X-CONTENT-STEERING:SERVER-URI="bad"
            """
        #expect(
            try codes(multivariant) == ["2 error unresolvable", "3 error unresolvable", "6 error unresolvable"])
    }

    @Test("orders severities")
    func severities() {
        let ordered: [PlaylistDiagnostic.Severity] = [.note, .warning, .error]
        #expect(ordered.shuffled().sorted() == ordered)
        #expect(!(ordered[2] < ordered[2]))
    }
}

@Suite("A check of a presentation")
struct PresentationCheckTests {
    private static let text = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",URI="subtitles"
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,SUBTITLES="s"
        low
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,SUBTITLES="s"
        high
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000,URI="trick"
        """

    private func codes(_ media: [Int: String], multivariants: Set<Int> = []) throws -> [String] {
        let playlists = try media.mapValues { try Fixtures.media("#EXTM3U\n" + $0) }
        return PlaylistRules.diagnostics(
            of: try Fixtures.multivariant(Self.text), media: playlists, multivariants: multivariants,
            url: "https://h.example/master.m3u8", resolving: { "https://h.example/\($0)" }
        ).map { "\($0.line ?? 0) \($0.code)" }
    }

    private func segments(_ target: Int, _ durations: [Double], _ more: String = "#EXT-X-ENDLIST\n") -> String {
        "#EXT-X-TARGETDURATION:\(target)\n" + durations.map { "#EXTINF:\($0),\na.ts\n" }.joined() + more
    }

    @Test("reports nothing if the playlists agree, even with longer subtitle segments")
    func clean() throws {
        let media = segments(6, [6, 6, 4])
        #expect(
            try codes([
                0: segments(16, [15.5]), 1: media, 2: media, 3: media + "#EXT-X-I-FRAMES-ONLY\n",
            ]).isEmpty)
        #expect(try codes([:]).isEmpty)
    }

    @Test("reports differences between the playlists")
    func differences() throws {
        let media = segments(6, [6, 6, 4])
        #expect(try codes([1: media, 2: segments(4, [4, 4, 4, 4])]) == ["6 targetDurationsDiffer"])
        #expect(try codes([1: media, 2: segments(6, [6, 6])]) == [])
        #expect(try codes([1: media, 2: segments(6, [6])]) == ["6 durationsDiffer"])
        #expect(try codes([1: media, 2: segments(6, [6, 6, 4], "")]) == ["6 typesDiffer"])
        #expect(try codes([1: media, 2: "#EXT-X-PLAYLIST-TYPE:VOD\n" + media]) == ["6 typesDiffer"])
        #expect(try codes([1: media, 2: "#EXT-X-DISCONTINUITY\n" + media]) == ["6 discontinuitiesDiffer"])
        #expect(try codes([1: media, 2: "#EXT-X-DISCONTINUITY-SEQUENCE:1\n" + media]) == ["6 discontinuitiesDiffer"])
        let dated = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n" + media
        #expect(try codes([1: dated, 2: media]) == ["6 datesDiffer"])
        #expect(try codes([3: media]) == ["7 iFrames"])
        #expect(try codes([2: "#EXT-X-I-FRAMES-ONLY\n" + media]) == ["5 iFrames"])
    }

    @Test("reports byte ranges that exceed BANDWIDTH")
    func peak() throws {
        let large = "#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n#EXT-X-BYTERANGE:900000@0\na.ts\n#EXT-X-ENDLIST\n"
        #expect(try codes([1: large]) == ["3 peakOverBandwidth"])
        #expect(try codes([2: large]) == [])
    }

    @Test("reports a multivariant playlist that lists itself or another one")
    func references() throws {
        #expect(try codes([:], multivariants: [0, 2]) == ["2 notMedia", "6 notMedia"])
        let found = PlaylistRules.diagnostics(
            of: try Fixtures.multivariant(Self.text), media: [:], url: "low", resolving: { $0 })
        #expect(found.map(\.code) == ["selfReference"])
        #expect(found[0].line == 4 && found[0].severity == .error)
    }
}

@Suite("The guide's page on checks")
struct CheckGuideTests {
    @Test("has each rule with its level and clause, and a sentence")
    func complete() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/weir/Weir.docc/Evidence/Checks.md")
        let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `") }
        // A check reads no list of assets, and writes no playlist.
        let codes = PlaylistError.Code.allCases.filter { $0 != .badAssetList && $0 != .unsafeName }
        let expected =
            CheckRule.allCases.map { "| `\($0.rawValue)` | \($0.severity.rawValue) | \($0.clause) | " }
            + codes.map { "| `\($0.rawValue)` | \($0.clause) | " }
            + ["| `notRead` | note, warning or error | RFC 8216 §4.1 | "]
        #expect(rows.count == expected.count)
        for (row, start) in zip(rows, expected) {
            #expect(row.hasPrefix(start))
            #expect(row.count > start.count + 10)
        }
    }
}
