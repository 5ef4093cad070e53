import Testing

@testable import HLS

@Suite("A refetched playlist")
struct MatchingTests {
    /// A playlist of 6 s segments with these numbers, and `#` lines before some of them.
    private func media(
        _ numbers: Range<Int>, _ lines: [Int: String] = [:], durations: [Int: String] = [:], header: String = "",
        isEnded: Bool = false
    ) throws -> MediaPlaylist {
        let segments = numbers.map { number in
            "\(lines[number].map { $0 + "\n" } ?? "")#EXTINF:\(durations[number] ?? "6.000"),\n\(number).ts?t=\(header.count)\n"
        }
        let end = isEnded ? "#EXT-X-ENDLIST\n" : ""
        return try Fixtures.media(
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
                + header + segments.joined() + end)
    }

    @Test("is the same, has grown, has slid, or is stale")
    func windows() throws {
        let known = try media(10..<15)
        #expect(try media(10..<15, header: "# another token\n").relation(to: known) == .same)
        #expect(try media(10..<17).relation(to: known) == .grown(added: 2))
        #expect(try media(10..<15, isEnded: true).relation(to: known) == .grown(added: 0))
        #expect(try media(12..<17).relation(to: known) == .slid(removed: 2, added: 2))
        #expect(try media(12..<15).relation(to: known) == .slid(removed: 2, added: 0))
        #expect(try media(15..<20).relation(to: known) == .slid(removed: 5, added: 5))
        #expect(try media(90..<95).relation(to: known) == .slid(removed: 5, added: 5))
        #expect(try media(10..<13).relation(to: known) == .stale)
        #expect(try media(8..<13).relation(to: known) == .stale)
        #expect(try media(5..<10).relation(to: known) == .stale)
        #expect(try media(10..<10).relation(to: known) == .stale)
        #expect(try media(10..<12).relation(to: media(10..<10)) == .grown(added: 2))
        #expect(try media(12..<15).relation(to: media(10..<10)) == .grown(added: 3))
        #expect(try media(12..<12).relation(to: media(10..<10)) == .same)
    }

    @Test("has changed if its numbers restart or its end is removed")
    func restarts() throws {
        let known = try media(10..<15)
        #expect(try media(0..<3).relation(to: known) == .changed(at: nil))
        #expect(try media(8..<20).relation(to: known) == .changed(at: nil))
        #expect(try media(10..<13, isEnded: true).relation(to: known) == .changed(at: 13))
        #expect(try media(12..<14).relation(to: known) == .changed(at: 14))
        let ended = try media(10..<15, isEnded: true)
        #expect(try media(10..<15, isEnded: true).relation(to: ended) == .same)
        #expect(try media(10..<15).relation(to: ended) == .changed(at: nil))
        #expect(try media(10..<16, isEnded: true).relation(to: ended) == .changed(at: nil))
        #expect(try media(11..<15, isEnded: true).relation(to: ended) == .changed(at: nil))
        #expect(try media(9..<14).relation(to: ended) == .changed(at: nil))
    }

    @Test("has changed if a segment has another duration, range, date, key or section")
    func contents() throws {
        let date = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000Z"
        let known = try media(10..<15, [12: date])
        #expect(try media(10..<15, durations: [13: "6.004"]).relation(to: known) == .same)
        #expect(try media(10..<15, durations: [13: "5.9"]).relation(to: known) == .changed(at: 13))
        #expect(try media(10..<15, [11: "#EXT-X-BYTERANGE:5@0"]).relation(to: known) == .changed(at: 11))
        #expect(try media(10..<15, [14: "#EXT-X-DISCONTINUITY"]).relation(to: known) == .changed(at: 14))
        #expect(try media(10..<15, [13: "#EXT-X-KEY:METHOD=AES-128,URI=\"k\""]).relation(to: known) == .changed(at: 13))
        #expect(try media(10..<15, [12: "#EXT-X-MAP:URI=\"i\""]).relation(to: known) == .changed(at: 12))
        let zone = date.replacing("00:00:00.000Z", with: "01:00:00.200+01:00")
        #expect(try media(10..<15, [12: zone]).relation(to: known) == .same)
        #expect(
            try media(12..<16, [12: zone + "\n#EXT-X-DISCONTINUITY"]).relation(to: known) == .slid(removed: 2, added: 1)
        )
        #expect(try media(10..<15, [12: date.replacing("00:00Z", with: "02:00Z")]).relation(to: known) == .same)
        let later = date.replacing("00:00.000Z", with: "00:01.000Z")
        #expect(try media(10..<15, [12: later]).relation(to: known) == .changed(at: 12))
    }

    @Test("may add only parts, or omit known segments")
    func lowLatency() throws {
        let known = try media(10..<15)
        let parts = try Fixtures.media(
            String(decoding: try media(10..<15).text.write(), as: UTF8.self) + "#EXT-X-PART:URI=\"p\",DURATION=1\n")
        #expect(parts.relation(to: known) == .grown(added: 0))
        #expect(parts.relation(to: parts) == .same)
        func delta(_ skipped: Int, _ durations: String) throws -> MediaPlaylist {
            try Fixtures.media(
                "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:11\n#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped)\n#EXTINF:\(durations),\na\n"
            )
        }
        #expect(try delta(3, "6").relation(to: known) == .slid(removed: 1, added: 0))
        #expect(try delta(4, "4").relation(to: known) == .slid(removed: 1, added: 1))
        #expect(try delta(3, "4").relation(to: known) == .changed(at: 14))
        #expect(try delta(5, "6").relation(to: known) == .changed(at: nil))
    }
}

@Suite("Mirrors")
struct MirrorTests {
    private static let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS=\"avc1.4d401f\""

    private func mirrors(_ lines: String) throws -> [[Int]] { try Fixtures.multivariant("#EXTM3U\n" + lines).mirrors }

    @Test("are variants with equal attributes on different hosts, in any order")
    func redundant() throws {
        let same = "#EXT-X-STREAM-INF:CODECS=\"avc1.4d401f\",BANDWIDTH=1000000"
        #expect(
            try mirrors(
                "\(Self.variant)\nhttps://a.example/v\n\(same)\nHTTPS://B.example/v\n\(same)\n//c.example/v\n")
                == [[0, 1, 2]])
        #expect(try mirrors("\(Self.variant)\nlow/v\n\(same)\nhttps://b.example/v\n") == [[0, 1]])
    }

    @Test("have equal attributes and different hosts")
    func different() throws {
        let larger = Self.variant.replacing("1000000", with: "2000000")
        #expect(try mirrors("\(Self.variant)\nhttps://a.example/v\n\(larger)\nhttps://b.example/v\n") == [[0], [1]])
        #expect(
            try mirrors("\(Self.variant)\nhttps://a.example/v\n\(Self.variant)\nhttps://A.EXAMPLE/w\n") == [[0], [1]])
        #expect(try mirrors("\(Self.variant)\na/v\n\(Self.variant)\nb/v\n") == [[0], [1]])
        #expect(try mirrors("\(Self.variant)\nv\n\(Self.variant)\nv\n") == [[0]])
    }

    @Test("are variants in different pathways, with the renditions of their groups")
    func pathways() throws {
        let lines = ["A", "B"].map { pathway in
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-\(pathway)",NAME="English",LANGUAGE="en",URI="\(pathway)/en"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-\(pathway)",NAME="Deutsch",LANGUAGE="de",URI="\(pathway)/de"
            \(Self.variant),AUDIO="audio-\(pathway)",PATHWAY-ID="\(pathway)"
            \(pathway)/v
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9000,URI="\(pathway)/i",PATHWAY-ID="\(pathway)"

            """
        }
        #expect(try mirrors(lines.joined()) == [[0, 4], [1, 5], [2, 6], [3, 7]])
        let other = lines[1].replacing("NAME=\"Deutsch\"", with: "NAME=\"Svenska\"")
        #expect(try mirrors(lines[0] + other) == [[0], [1], [2], [3, 7], [4], [5], [6]])
    }

    @Test("are variants with equal stable ids, even if other attributes differ")
    func stableIDs() throws {
        let text = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",STABLE-RENDITION-ID="en",URI="1/en"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Anglais",STABLE-RENDITION-ID="en",URI="2/en"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="b",NAME="Anglais",STABLE-RENDITION-ID="en",URI="2/s"
            #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a",STABLE-VARIANT-ID="v"
            1/v
            #EXT-X-STREAM-INF:BANDWIDTH=1000001,AUDIO="b",STABLE-VARIANT-ID="v"
            2/v
            #EXT-X-STREAM-INF:BANDWIDTH=1000001,AUDIO="b",STABLE-VARIANT-ID="w"
            2/w
            """
        #expect(try mirrors(text) == [[0, 1], [2], [3, 4], [5]])
    }

    @Test("are found in an earlier text with other URIs")
    func places() throws {
        let before = try Fixtures.multivariant(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",URI="en?t=1"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",URI="en2?t=1"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            low?t=1
            #EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="b"
            high?t=1
            #EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="b"
            https://backup.example/high?t=1
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i?t=1"
            """)
        let after = try Fixtures.multivariant(
            """
            #EXTM3U
            #EXT-X-STREAM-INF:AUDIO="b",BANDWIDTH=2
            high?t=2
            #EXT-X-STREAM-INF:AUDIO="b",BANDWIDTH=2
            https://backup.example/high?t=2
            #EXT-X-STREAM-INF:AUDIO="b",BANDWIDTH=3
            new?t=2
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            low?t=2
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i?t=2"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",URI="en?t=2"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",URI="en2?t=2"
            """)
        #expect(after.renditionIndices(in: before) == [3, 4, nil, 2, 5, 0, 1])
        #expect(before.renditionIndices(in: before) == [0, 1, 2, 3, 4, 5])
    }
}
