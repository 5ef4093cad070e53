import Testing

@testable import HLS

@Suite("A tag")
struct TagTests {
    @Test("is recognized for each name in rfc8216bis and one de facto name")
    func names() {
        let names = """
            EXTM3U EXT-X-VERSION EXT-X-INDEPENDENT-SEGMENTS EXT-X-START EXT-X-DEFINE EXT-X-TARGETDURATION \
            EXT-X-MEDIA-SEQUENCE EXT-X-DISCONTINUITY-SEQUENCE EXT-X-ENDLIST EXT-X-PLAYLIST-TYPE EXT-X-I-FRAMES-ONLY \
            EXT-X-PART-INF EXT-X-SERVER-CONTROL EXTINF EXT-X-BYTERANGE EXT-X-DISCONTINUITY EXT-X-KEY EXT-X-MAP \
            EXT-X-PROGRAM-DATE-TIME EXT-X-GAP EXT-X-BITRATE EXT-X-PART EXT-X-DATERANGE EXT-X-SKIP EXT-X-PRELOAD-HINT \
            EXT-X-RENDITION-REPORT EXT-X-MEDIA EXT-X-STREAM-INF EXT-X-I-FRAME-STREAM-INF EXT-X-SESSION-DATA \
            EXT-X-SESSION-KEY EXT-X-CONTENT-STEERING
            """.split(separator: " ")
        #expect(names.count == 32)
        for name in names {
            let bytes = Array("#\(name)".utf8)
            #expect(Tag.find(in: bytes, 0..<bytes.count)?.rawValue == "#\(name)")
        }
        #expect(Set(Tag.allCases.map(\.rawValue)) == Set(names.map { "#\($0)" } + ["#EXT-X-IMAGE-STREAM-INF", "#EXT"]))
    }

    @Test("of a date range has its times, cues, splices and presentations")
    func dateRange() throws {
        let playlist = try Fixtures.media(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-DATERANGE:ID="a",CLASS="c",START-DATE="2026-03-01T00:00:00Z",CUE="PRE,ONCE",\
            END-DATE="2026-03-01T00:00:12.5Z",DURATION=12.5,PLANNED-DURATION=13,END-ON-NEXT=YES,SCTE35-CMD=0xFC01,\
            SCTE35-OUT=0xfc02,SCTE35-IN=0xFC3,X-ASSET-URI="u",X-ASSET-LIST="l"
            #EXT-X-DATERANGE:START-DATE="yesterday",DURATION=x,SCTE35-CMD=1
            """)
        let full = playlist.dateRanges[0]
        let odd = playlist.dateRanges[1]
        #expect(full.id == "a" && full.rangeClass == "c" && full.cues == ["PRE", "ONCE"] && full.line == 3)
        #expect(full.startDate == DateTime("2026-03-01T00:00:00Z"))
        #expect(full.endDate == full.startDate?.adding(seconds: 12.5))
        #expect(full.duration == 12.5 && full.endsOnNext)
        #expect(try full.attributes.hexadecimal("SCTE35-CMD") == [0xFC, 1])
        #expect(full.assetURI == "u" && full.assetList == "l" && full.isInterstitial)
        #expect(odd.id.isEmpty && odd.startDate == nil && odd.duration == nil)
        #expect(odd.index == 1 && odd.cues.isEmpty && !odd.endsOnNext && !odd.isInterstitial)
    }

    @Test("of a start has its offset, positive or negative, or none")
    func start() throws {
        func start(_ attributes: String) throws -> Start? {
            try Fixtures.media("#EXTM3U\n#EXT-X-START:\(attributes)\n#EXT-X-ENDLIST\n").start
        }
        #expect(try start("TIME-OFFSET=-12.5")?.timeOffset == .beforeEnd(12.5))
        #expect(try start("PRECISE=YES,TIME-OFFSET=0")?.timeOffset == .afterStart(0))
        #expect(try start("TIME-OFFSET=-0")?.timeOffset == .afterStart(0))
        for odd in ["", "PRECISE=YES", "TIME-OFFSET=", "TIME-OFFSET=-", "TIME-OFFSET=--1", "TIME-OFFSET=soon"] {
            #expect(try start(odd) == nil)
        }
    }

    @Test("of a bit rate applies until the next one, but not to byte ranges")
    func bitRate() throws {
        let playlist = try Fixtures.media(
            """
            #EXTM3U
            #EXTINF:1,
            a
            #EXT-X-BITRATE:1200
            #EXTINF:1,
            b
            #EXTINF:1,
            #EXT-X-BYTERANGE:1@0
            c
            #EXTINF:1,
            d
            #EXT-X-BITRATE:many
            #EXTINF:1,
            e
            """)
        #expect(playlist.segments.map(\.bitRate) == [nil, 1_200_000, nil, 1_200_000, 1_200_000])
    }

    @Test("of steering, images or variants has the attributes for mirrors and players")
    func multivariant() throws {
        let playlist = try Fixtures.multivariant(
            """
            #EXTM3U
            #EXT-X-VERSION:13
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-START:TIME-OFFSET=3
            #EXT-X-CONTENT-STEERING:SERVER-URI="s",PATHWAY-ID="A"
            #EXT-X-CONTENT-STEERING:PATHWAY-ID="B"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="n",URI="a",STABLE-RENDITION-ID="r1",ASSOC-LANGUAGE="sv",\
            BIT-DEPTH=24,SAMPLE-RATE=48000,INSTREAM-ID="x"
            #EXT-X-STREAM-INF:BANDWIDTH=1,STABLE-VARIANT-ID="v1",PATHWAY-ID="A",SCORE=2.5,HDCP-LEVEL=TYPE-1,\
            SUPPLEMENTAL-CODECS="dvh1.08.07/db4h",ALLOWED-CPC="com.example:SMART-TV/PC",REQ-VIDEO-LAYOUT="CH-STEREO"
            v
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i",STABLE-VARIANT-ID="i1",VIDEO="g"
            #EXT-X-IMAGE-STREAM-INF:BANDWIDTH=1,URI="t"
            #EXT-X-IMAGE-STREAM-INF:BANDWIDTH=1
            #EXT-X-SESSION-DATA:DATA-ID="d",VALUE="x",LANGUAGE="en"
            #EXT-X-SESSION-DATA:DATA-ID="d",URI="x",FORMAT=RAW
            #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="k",KEYFORMAT="f",KEYFORMATVERSIONS="1/2/5"
            """)
        let variant = playlist.variants[0]
        let media = playlist.media[0]
        #expect(playlist.version == 13 && playlist.hasIndependentSegments)
        #expect(playlist.start?.timeOffset == .afterStart(3))
        #expect(playlist.contentSteering?.serverURI == "s" && playlist.contentSteering?.pathwayID == "A")
        #expect(variant.stableID == "v1" && variant.pathwayID == "A" && variant.requiredVideoLayout == "CH-STEREO")
        #expect(media.stableID == "r1" && media.pathwayID == "." && media.instreamID == "x")
        #expect(playlist.iFrameVariants[0].stableID == "i1" && playlist.iFrameVariants[0].video == "g")
        #expect(playlist.iFrameVariants[0].pathwayID == ".")
        #expect(playlist.imageVariants.map(\.uri) == ["t"])
        #expect(playlist.sessionData.map(\.format) == ["JSON", "RAW"])
        #expect(playlist.sessionData[0].value == "x" && playlist.sessionData[0].language == "en")
        #expect(playlist.sessionKeys[0].attributes["KEYFORMATVERSIONS"] == "1/2/5")
    }
}
