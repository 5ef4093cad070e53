import Testing

@testable import HLS

@Suite("Low latency")
struct LowLatencyTests {
    private static let header = """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXT-X-PART-INF:PART-TARGET=1.004
        #EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24.0,HOLD-BACK=12,PART-HOLD-BACK=3.012,CAN-BLOCK-RELOAD=YES
        #EXT-X-MEDIA-SEQUENCE:10

        """

    @Test("has the origin's delivery directives")
    func header() throws {
        let playlist = try Fixtures.media(Self.header)
        let control = try #require(playlist.serverControl)
        #expect(playlist.isLowLatency && !playlist.isDeltaUpdate && playlist.skippedSegments == nil)
        #expect(playlist.partTarget == 1.004)
        #expect(control.canSkipUntil == 24 && control.holdBack == 12 && control.partHoldBack == 3.012)
        #expect(control.canBlockReload && !control.canSkipDateRanges && control.line == 4)
    }

    @Test("assigns each part its segment, listed or not, and its Part Index")
    func parts() throws {
        let playlist = try Fixtures.media(
            Self.header + """
                #EXT-X-MAP:URI="i.mp4"
                #EXT-X-KEY:METHOD=AES-128,URI="k"
                #EXT-X-PART:DURATION=1,URI="10.0",INDEPENDENT=YES
                #EXT-X-PART:URI="10.1",DURATION=1.004,GAP=YES
                #EXTINF:2,
                10
                #EXT-X-KEY:METHOD=NONE
                #EXT-X-PART:DURATION=.5,URI="11.0"
                """)
        let parts = playlist.parts
        #expect(parts.map(\.uri) == ["10.0", "10.1", "11.0"])
        #expect(parts.map(\.mediaSequenceNumber) == [10, 10, 11])
        #expect(parts.map(\.partIndex) == [0, 1, 0])
        #expect(parts.map(\.duration) == [1, 1.004, 0.5])
        #expect(parts.map(\.isIndependent) == [true, false, false])
        #expect(parts.map(\.isGap) == [false, true, false])
        #expect(parts.map { $0.keys.map(\.uri) } == [["k"], ["k"], []])
        #expect(parts.map(\.map?.uri) == ["i.mp4", "i.mp4", "i.mp4"])
        #expect(parts.map(\.line) == [8, 9, 13])
    }

    @Test("resolves a part's range against the previous part of the same resource")
    func ranges() throws {
        let ranges = ["10@5", "20", nil, "7@0"]
        let lines = ranges.map { "#EXT-X-PART:DURATION=1,URI=\"a\"" + ($0.map { ",BYTERANGE=\"\($0)\"" } ?? "") }
        let playlist = try Fixtures.media(Self.header + lines.joined(separator: "\n"))
        #expect(playlist.parts.map(\.byteRange?.description) == ["10@5", "20@15", nil, "7@0"])
        let other = try Fixtures.media(Self.header + lines[0] + "\n#EXT-X-PART:DURATION=1,URI=\"b\",BYTERANGE=\"3\"\n")
        #expect(other.parts.last?.byteRange?.description == "3@15")
        for range in ["0@3", "x"] {
            let text = Self.header + lines[0] + "\n#EXT-X-PART:DURATION=1,URI=\"a\",BYTERANGE=\"\(range)\"\n"
            #expect(try Fixtures.media(text).parts.map(\.byteRange?.description) == ["10@5"])
        }
    }

    @Test("writes a part's offset if the previous part is renamed")
    func explicitRanges() throws {
        let playlist = try Fixtures.media(
            Self.header + """
                #EXT-X-PART:DURATION=1,URI="a",BYTERANGE="10@5"
                #EXT-X-PART:DURATION=1,URI="a",BYTERANGE="20"
                """)
        let mixed = try playlist.rendered { reference in
            if case .part(let part) = reference, part.index == 0 {
                return "b"
            }
            return nil
        }
        let reread = try Fixtures.media(String(decoding: mixed, as: UTF8.self))
        #expect(reread.parts.map(\.uri) == ["b", "a"])
        #expect(reread.parts.map(\.byteRange?.description) == [nil, "20@15"])
        let view = MediaPlaylistView(keepsLowLatency: true, keepsByteRanges: true, isFinished: false)
        let absolute = try playlist.rendered(view) { _ in "https://o.example/a" }
        let whole = try Fixtures.media(String(decoding: absolute, as: UTF8.self))
        #expect(whole.parts.map(\.byteRange?.description) == ["10@5", "20@15"])
    }

    @Test("has hints, reports and the segments that a delta update omits")
    func hints() throws {
        let playlist = try Fixtures.media(
            Self.header + """
                #EXT-X-SKIP:SKIPPED-SEGMENTS=3,RECENTLY-REMOVED-DATERANGES="a\tb c"
                #EXT-X-PART:DURATION=1,URI="p"
                #EXT-X-PRELOAD-HINT:TYPE=PART,URI="p",BYTERANGE-START=7
                #EXT-X-PRELOAD-HINT:TYPE=MAP,URI="i",BYTERANGE-LENGTH=9
                #EXT-X-PRELOAD-HINT:TYPE=NEW,URI="n"
                #EXT-X-RENDITION-REPORT:URI="../other.m3u8",LAST-MSN=13,LAST-PART=2
                #EXT-X-RENDITION-REPORT:URI="third.m3u8"
                """)
        #expect(playlist.isDeltaUpdate && playlist.skippedSegments == 3)
        #expect(playlist.skip?.removedDateRanges == ["a", "b c"])
        #expect(playlist.parts[0].mediaSequenceNumber == 13)
        #expect(playlist.preloadHints.map(\.kind) == [.part, .map, .other])
        #expect(playlist.preloadHints.map(\.start) == [7, 0, 0])
        #expect(playlist.preloadHints.map(\.length) == [nil, 9, nil])
        #expect(playlist.renditionReports.map(\.uri) == ["../other.m3u8", "third.m3u8"])
        #expect(playlist.renditionReports.map(\.lastMediaSequenceNumber) == [13, nil])
        #expect(playlist.renditionReports.map(\.lastPart) == [2, nil])
    }

    @Test("keeps the version that a delta update needs in a corrected view, and no higher one")
    func version() throws {
        let view = MediaPlaylistView(keepsLowLatency: true, isFinished: false)
        for (skip, version) in [("3", 9), ("3,RECENTLY-REMOVED-DATERANGES=\"a\"", 10)] {
            let text = Self.header.replacing("#EXTM3U", with: "#EXTM3U\n#EXT-X-VERSION:12")
            let playlist = try Fixtures.media(text + "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skip)\n#EXTINF:1,\na\n")
            let mended = try Fixtures.media(String(decoding: try playlist.rendered(view) { _ in nil }, as: UTF8.self))
            #expect(mended.version == version)
        }
    }

    @Test(
        "loses a tag or attribute that is missing or invalid, and says in which line",
        arguments: [
            ("PART:DURATION=1", PlaylistError.Code.missingAttribute), ("PART:URI=\"a\"", .missingAttribute),
            ("PART:URI=\"\",DURATION=1", .missingAttribute), ("PART:URI=\"a\",DURATION=x", .missingAttribute),
            ("PART-INF:X=1", .missingAttribute), ("PRELOAD-HINT:URI=\"a\"", .missingAttribute),
            ("PRELOAD-HINT:TYPE=PART", .missingAttribute),
            ("PRELOAD-HINT:TYPE=PART,URI=\"a\",BYTERANGE-LENGTH=0", .badValue),
            ("PRELOAD-HINT:TYPE=PART,URI=\"a\",BYTERANGE-START=-1", .badValue),
            ("RENDITION-REPORT:LAST-MSN=1", .missingAttribute),
            ("RENDITION-REPORT:URI=\"a\",LAST-MSN=-1", .badValue),
            ("SERVER-CONTROL:HOLD-BACK=long", .badValue),
        ])
    func malformed(_ line: String, _ code: PlaylistError.Code) throws {
        let mends = try Fixtures.media(Self.header + "#EXT-X-\(line)\n").text.mends
        #expect(mends.map(\.code) == [code])
        #expect(mends.map(\.line) == [6])
    }
}
