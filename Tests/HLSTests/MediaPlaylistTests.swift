import Testing

@testable import HLS

@Suite("A media playlist")
struct MediaPlaylistTests {
    @Test("has the tags that apply to the whole playlist")
    func header() throws {
        let playlist = try Fixtures.media(
            """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-TARGETDURATION:9.2
            #EXT-X-MEDIA-SEQUENCE:41
            #EXT-X-DISCONTINUITY-SEQUENCE:3
            #EXT-X-PLAYLIST-TYPE:EVENT
            #EXT-X-I-FRAMES-ONLY
            #EXTINF:9.009,
            a.ts
            """)
        #expect(playlist.version == 7)
        #expect(playlist.targetDuration == 10)
        #expect(playlist.mediaSequence == 41)
        #expect(playlist.discontinuitySequence == 3)
        #expect(playlist.playlistType == .event)
        #expect(playlist.isIFramesOnly && playlist.isLive && !playlist.hasEndList && !playlist.isLowLatency)
    }

    @Test(
        "ends at EXT-X-ENDLIST, whatever follows it on the line",
        arguments: [("", true), (";", true), (" end of list", true), ("<br>", true), ("S", false), ("-2", false)])
    func textBehindTheEnd(_ text: String, _ isEnd: Bool) throws {
        let playlist = try Fixtures.media("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na\n#EXT-X-ENDLIST\(text)\n")
        #expect(playlist.hasEndList == isEnd)
    }

    /// RFC 8216 §4.3.3.4: the tag may be anywhere.
    @Test(
        "ends wherever EXT-X-ENDLIST is, with all its segments, and has the last one",
        arguments: [
            "#EXT-X-ENDLIST\n#EXTINF:1,\na.ts\n#EXTINF:1,\nb.ts\n",
            "#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n#EXTINF:1,\nb.ts\n",
            "#EXTINF:1,\n#EXT-X-ENDLIST\na.ts\n#EXTINF:1,\nb.ts\n",
        ], ["", "#EXT-X-ENDLIST\n"])
    func endAnywhere(_ lines: String, _ again: String) throws {
        let text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n\(lines)"
        let playlist = try Fixtures.media(text + again)
        #expect(playlist.hasEndList && !playlist.isLive && playlist.segments.map(\.uri) == ["a.ts", "b.ts"])
        let written = try playlist.rendered(.bundle, cut: nil, gaps: []) { reference in
            guard case .segment(let segment) = reference else { return nil }
            return segment.uri
        }
        var kept = text
        if !again.isEmpty {
            kept = text.replacing(again, with: "") + again
        }
        let expected = "#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD" + kept.dropFirst("#EXTM3U".count)
        #expect(String(decoding: written, as: UTF8.self) == expected)
    }

    @Test("has the default values of RFC 8216 for absent tags")
    func defaults() throws {
        let playlist = try Fixtures.media("#EXTM3U\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n")
        #expect(playlist.version == 1)
        #expect(playlist.targetDuration == nil)
        #expect(playlist.mediaSequence == 0)
        #expect(playlist.playlistType == nil)
        #expect(!playlist.isLive)
    }

    @Test(
        "needs no segments if a tag identifies it",
        arguments: ["TARGETDURATION:6", "ENDLIST", "MEDIA-SEQUENCE:1"])
    func empty(_ tag: String) throws {
        let playlist = try Fixtures.media("#EXTM3U\n#EXT-X-\(tag)\n")
        #expect(playlist.segments.isEmpty && playlist.maps.isEmpty && playlist.keys.isEmpty && playlist.duration == 0)
    }

    @Test("applies the tags before a URI to that segment only")
    func segments() throws {
        let playlist = try Fixtures.media(
            """
            #EXTM3U
            #EXT-X-MEDIA-SEQUENCE:7
            #EXT-X-DISCONTINUITY
            #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000Z
            #EXTINF:6.0060,First, of two
            #EXT-X-GAP
              a.ts?x=1\t
            #EXTINF:5
            b.ts
            """)
        let first = playlist.segments[0]
        let second = playlist.segments[1]
        #expect(first.mediaSequenceNumber == 7 && second.mediaSequenceNumber == 8)
        #expect(first.uri == "a.ts?x=1" && first.line == 7)
        #expect(first.durationText == "6.0060" && first.duration == 6.006 && first.title == "First, of two")
        #expect(first.isDiscontinuity && first.isGap && first.programDateTime == "2026-01-01T00:00:00.000Z")
        #expect(second.uri == "b.ts" && second.title.isEmpty && second.duration == 5)
        #expect(!second.isDiscontinuity && !second.isGap && second.programDateTime == nil)
    }

    @Test(
        "parses durations to the nearest double",
        arguments: [
            "6", "6.", ".5", "0", "0.1", "9.009", "3.003000", "10.427083333333333333333", "123456789.123456789",
            "00000000000000000000006.5", "0.3333333333333333",
        ])
    func durations(_ text: String) throws {
        let playlist = try Fixtures.media("#EXTM3U\n#EXTINF:\(text),\na.ts\n")
        // An additional digit does not change the value; the standard library needs it to parse "6." and ".5".
        #expect(playlist.duration.seconds == Double("0" + text + (text.contains(".") ? "0" : "")))
    }

    @Test("resolves each byte range against the previous one")
    func byteRanges() throws {
        let playlist = try Fixtures.media(
            """
            #EXTM3U
            #EXTINF:1,
            #EXT-X-BYTERANGE:100@50
            a.ts
            #EXT-X-BYTERANGE:10
            #EXTINF:1,
            a.ts
            #EXTINF:1,
            #EXT-X-BYTERANGE: 5 @ 9223372036854775802
            a.ts
            #EXTINF:1,
            c.ts
            """)
        let expected = [
            SubRange(offset: 50, length: 100), SubRange(offset: 150, length: 10),
            SubRange(offset: .max - 5, length: 5), nil,
        ]
        #expect(playlist.segments.map(\.byteRange) == expected)
        #expect(playlist.segments[2].byteRange?.end == .max)
    }

    @Test("writes an omitted offset if the previous segment is renamed")
    func keptRanges() throws {
        let playlist = try Fixtures.media(
            "#EXTM3U\n#EXTINF:1,\n#EXT-X-BYTERANGE:100@50\na.ts\n#EXTINF:1,\n#EXT-X-BYTERANGE:10\na.ts\n")
        let mixed = try playlist.rendered { reference in
            if case .segment(let segment) = reference, segment.index == 0 {
                return "x.ts"
            }
            return nil
        }
        #expect(
            String(decoding: mixed, as: UTF8.self)
                == "#EXTM3U\n#EXTINF:1,\nx.ts\n#EXTINF:1,\n#EXT-X-BYTERANGE:10@150\na.ts\n")
        let view = MediaPlaylistView(keepsLowLatency: true, keepsByteRanges: true, isFinished: false)
        let absolute = try playlist.rendered(view) { _ in "https://o.example/a.ts" }
        let reread = try Fixtures.media(String(decoding: absolute, as: UTF8.self))
        #expect(reread.segments.map(\.byteRange) == playlist.segments.map(\.byteRange))
    }

    @Test("lists each distinct map once, in order of first appearance")
    func maps() throws {
        let playlist = try Fixtures.media(
            """
            #EXTM3U
            #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x1
            #EXT-X-MAP:URI="i",BYTERANGE="10@0"
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:1,
            a
            #EXT-X-MAP:URI="i",BYTERANGE="10@10"
            #EXTINF:1,
            b
            #EXT-X-MAP:BYTERANGE="10",URI="i"
            #EXTINF:1,
            c
            #EXT-X-MAP:URI="i"
            """)
        #expect(playlist.maps.map(\.byteRange?.description) == ["10@0", "10@10", nil])
        #expect(playlist.segments.map(\.map?.index) == [0, 1, 0])
        #expect(playlist.maps.map(\.line) == [3, 7, 13])
        #expect(playlist.maps[0].keys.map(\.uri) == ["k"])
        #expect(playlist.segments[0].keys.isEmpty)
        #expect(playlist.segments[2].map?.keys.isEmpty == true)
    }

    /// Where something is served in place of a missing segment, it is listed without its mark; where nothing is, the mark is added.
    @Test func gapsAreFilledOrMarked() throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.vtt\n#EXT-X-GAP\n#EXTINF:2,\n1.vtt\n#EXTINF:2,\n2.vtt\n"
        let playlist = try Fixtures.media(text + "#EXT-X-ENDLIST\n")
        func lines(_ view: MediaPlaylistView, gaps: Set<Int> = []) throws -> [String] {
            let written = String(decoding: try playlist.rendered(view, gaps: gaps) { _ in nil }, as: UTF8.self)
            return written.split(separator: "\n").map(String.init).filter {
                $0.hasSuffix(".vtt") || $0.hasSuffix("GAP")
            }
        }
        var view = MediaPlaylistView.stored
        #expect(try lines(view) == ["0.vtt", "2.vtt"])
        view.keepsGaps = true
        #expect(try lines(view, gaps: [1, 2]) == ["0.vtt", "#EXT-X-GAP", "1.vtt", "#EXT-X-GAP", "2.vtt"])
        for view in [MediaPlaylistView.stored, .plain, .growing] {
            var view = view
            view.fillsGaps = true
            #expect(try lines(view) == ["0.vtt", "1.vtt", "2.vtt"])
        }
    }
}
