import Foundation
import Testing

@testable import HLS

/// A defect of a playlist, with what players and Weir make of it. The guide's page on mends is generated from these rows.
struct Mend: CustomTestStringConvertible, Sendable {
    /// The place of the example in a text that is otherwise correct.
    enum Place: Sendable {
        /// After the version and target duration of a media playlist.
        case head
        /// After the first segment of a media playlist.
        case body
        /// Before the only variant of a multivariant playlist.
        case multivariant
        /// The whole text.
        case whole
    }

    let defect: String
    let place: Place
    let input: String
    /// The text for players in place of `input`.
    let output: String
    let code: PlaylistError.Code?
    let hlsJS: String
    let ffmpeg: String
    let weir: String

    init(
        _ defect: String, _ place: Place, _ input: String, _ output: String, _ code: PlaylistError.Code?,
        hlsJS: String, ffmpeg: String, weir: String
    ) {
        self.defect = defect
        self.place = place
        self.input = input
        self.output = output
        self.code = code
        self.hlsJS = hlsJS
        self.ffmpeg = ffmpeg
        self.weir = weir
    }

    var testDescription: String { defect }

    func text(_ example: String) -> String {
        let lines = example.isEmpty ? "" : example + "\n"
        return switch place {
        case .head:
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n\(lines)#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"
        case .body:
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n\(lines)#EXT-X-ENDLIST\n"
        case .multivariant: "#EXTM3U\n#EXT-X-VERSION:6\n\(lines)#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
        // A text is truncated only without a line end.
        case .whole: example.hasSuffix("ENDL") ? example : lines
        }
    }
}

extension Mend {
    static let all = texts + values + segments + attributes + multivariant

    private static let texts: [Mend] = [
        Mend(
            "EXT-X-ENDLIST in the head and at the end", .whole,
            "#EXTM3U\n#EXT-X-ENDLIST\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n",
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n", .duplicateTag,
            hlsJS: "refuses", ffmpeg: "plays; it ignores the one in the head", weir: "keeps the last one"),
        Mend(
            "text after `#EXTM3U`", .whole,
            "#EXTM3U x-tvg-url=\"u\"\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts",
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts", nil,
            hlsJS: "refuses a media playlist", ffmpeg: "refuses", weir: "omits the text"),
        Mend(
            "lines that end in CR alone", .whole,
            "#EXTM3U\r#EXT-X-VERSION:6\r#EXT-X-TARGETDURATION:6\r#EXTINF:6,\ra.ts\r#EXT-X-ENDLIST\n",
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n", .controlCharacter,
            hlsJS: "plays", ffmpeg: "plays", weir: "writes LF"),
        Mend(
            "NUL", .body, "#EXTINF:6,\nb.ts\u{0}", "#EXTINF:6,\nb.ts\n", .controlCharacter,
            hlsJS: "requests a name with NUL", ffmpeg: "ends the line", weir: "ends the line"),
        Mend(
            "^Z at the end", .body, "\u{1A}", "", .unannouncedURI,
            hlsJS: "ignores it", ffmpeg: "ignores it", weir: "omits it"),
        Mend(
            "blanks around URIs and tags", .body, "  #EXTINF:6,\n b.ts \t", "#EXTINF:6,\nb.ts", nil,
            hlsJS: "plays; a blank at the end becomes part of the name", ffmpeg: "plays", weir: "omits the blanks"),
        Mend(
            "a truncated tag at the end", .whole,
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDL",
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts", .truncated,
            hlsJS: "plays as live", ffmpeg: "plays as live", weir: "omits the tag; the playlist is live"),
    ]

    private static let values: [Mend] = [
        Mend(
            "EXT-X-VERSION that is no number", .whole,
            "#EXTM3U\n#EXT-X-VERSION:NaN\n#EXT-X-TARGETDURATION:6\n#EXTINF:6.0,\na.ts\n#EXT-X-ENDLIST",
            "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n#EXTINF:6.0,\na.ts\n#EXT-X-ENDLIST", .badValue,
            hlsJS: "ignores it", ffmpeg: "ignores it", weir: "writes the version that the content needs"),
        Mend(
            "EXT-X-MEDIA-SEQUENCE that is empty", .head, "#EXT-X-MEDIA-SEQUENCE:", "", .badValue,
            hlsJS: "ignores it", ffmpeg: "takes 0", weir: "takes 0"),
        Mend(
            "EXT-X-MEDIA-SEQUENCE that is negative", .head, "#EXT-X-MEDIA-SEQUENCE:-5", "", .badValue,
            hlsJS: "ignores it", ffmpeg: "takes a large number", weir: "takes 0"),
        Mend(
            "EXT-X-MEDIA-SEQUENCE with a fraction", .head, "#EXT-X-MEDIA-SEQUENCE:1.0", "#EXT-X-MEDIA-SEQUENCE:1",
            .badValue,
            hlsJS: "takes 1", ffmpeg: "takes 1", weir: "takes 1"),
        Mend(
            "EXT-X-MEDIA-SEQUENCE of 2^64-1", .head, "#EXT-X-MEDIA-SEQUENCE:18446744073709551615", "", .badValue,
            hlsJS: "loses count", ffmpeg: "omits the highest bits", weir: "takes 0"),
        Mend(
            "EXT-X-DISCONTINUITY-SEQUENCE that is no number", .head, "#EXT-X-DISCONTINUITY-SEQUENCE:none", "",
            .badValue,
            hlsJS: "ignores it", ffmpeg: "ignores it", weir: "omits it"),
        Mend(
            "no EXT-X-TARGETDURATION", .whole,
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXTINF:5.2,\na.ts\n#EXT-X-ENDLIST",
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-VERSION:6\n#EXTINF:5.2,\na.ts\n#EXT-X-ENDLIST", nil,
            hlsJS: "refuses", ffmpeg: "plays", weir: "writes the longest duration"),
        Mend(
            "EXT-X-TARGETDURATION that is no integer", .whole,
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:5.2\n#EXTINF:5.2,\na.ts\n#EXT-X-ENDLIST",
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:5.2,\na.ts\n#EXT-X-ENDLIST", .badValue,
            hlsJS: "takes 5", ffmpeg: "takes 5", weir: "rounds it up"),
        Mend(
            "EXT-X-PLAYLIST-TYPE in small letters", .head, "#EXT-X-PLAYLIST-TYPE:vod", "#EXT-X-PLAYLIST-TYPE:VOD",
            .badValue,
            hlsJS: "takes VOD", ffmpeg: "ignores it", weir: "writes capitals"),
        Mend(
            "a VOD playlist without EXT-X-ENDLIST", .whole,
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6,\na.ts",
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST",
            .missingEnd,
            hlsJS: "reloads it without end", ffmpeg: "reloads it without end", weir: "writes the end"),
        Mend(
            "a tag twice that may occur once", .head, "#EXT-X-TARGETDURATION:6\n#EXT-X-VERSION:6", "", .duplicateTag,
            hlsJS: "refuses", ffmpeg: "takes the last", weir: "writes the last"),
        Mend(
            "EXT-X-MEDIA-SEQUENCE after a segment", .whole,
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-MEDIA-SEQUENCE:4\n#EXT-X-ENDLIST",
            "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:4\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST",
            nil, hlsJS: "refuses", ffmpeg: "takes it", weir: "moves it to the head"),
        Mend(
            "EXT-X-BITRATE that is no number", .body, "#EXT-X-BITRATE:fast", "", .badValue,
            hlsJS: "ignores it", ffmpeg: "ignores it", weir: "omits it"),
    ]

    private static let segments: [Mend] = [
        Mend(
            "EXTINF with a unit", .body, "#EXTINF:2.5s,\nb.ts", "#EXTINF:2.5,\nb.ts", .badValue,
            hlsJS: "takes 2.5", ffmpeg: "takes 2.5", weir: "takes 2.5"),
        Mend(
            "EXTINF with an exponent", .body, "#EXTINF:.2e1,\nb.ts", "#EXTINF:2,\nb.ts", .badValue,
            hlsJS: "takes 0.2", ffmpeg: "takes 2", weir: "takes 2"),
        Mend(
            "EXTINF of -1", .body, "#EXTINF:-1,Radio\nb.ts", "#EXTINF:6,Radio\nb.ts", .badValue,
            hlsJS: "skips the segment", ffmpeg: "plays it", weir: "takes the target duration"),
        Mend(
            "EXTINF without a comma", .body, "#EXTINF:6\nb.ts", "#EXTINF:6,\nb.ts", .badValue,
            hlsJS: "plays", ffmpeg: "plays", weir: "writes the comma"),
        Mend(
            "EXTINF without a URI", .body, "#EXTINF:3,\n#EXTINF:6,\nb.ts\n#EXTINF:6,", "#EXTINF:6,\nb.ts", .missingURI,
            hlsJS: "ignores it", ffmpeg: "ignores it", weir: "omits it"),
        Mend(
            "a URI without EXTINF", .body, "stray.ts\n#EXTINF:6,\nb.ts", "#EXTINF:6,\nb.ts", .unannouncedURI,
            hlsJS: "plays it with duration 0", ffmpeg: "ignores it", weir: "omits it"),
        Mend(
            "blank lines and comments between EXTINF and URI", .body, "#EXTINF:6,\n\n# note\nb.ts", "#EXTINF:6,\nb.ts",
            nil, hlsJS: "plays", ffmpeg: "plays", weir: "omits them"),
        Mend(
            "EXT-X-BYTERANGE without an offset on the first segment", .whole,
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n#EXT-X-BYTERANGE:100\na.ts\n#EXT-X-ENDLIST",
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n#EXT-X-BYTERANGE:100@0\na.ts\n#EXT-X-ENDLIST",
            .missingOffset, hlsJS: "takes 0", ffmpeg: "takes 0", weir: "takes 0"),
        Mend(
            "EXT-X-BYTERANGE without an offset in another resource", .body,
            "#EXTINF:6,\n#EXT-X-BYTERANGE:10@5\nb.ts\n#EXTINF:6,\n#EXT-X-BYTERANGE:10\nc.ts",
            "#EXTINF:6,\n#EXT-X-BYTERANGE:10@5\nb.ts\n#EXTINF:6,\n#EXT-X-BYTERANGE:10@15\nc.ts", .missingOffset,
            hlsJS: "continues", ffmpeg: "continues", weir: "continues"),
        Mend(
            "EXT-X-BYTERANGE with an empty offset", .body,
            "#EXTINF:6,\n#EXT-X-BYTERANGE:10@5\nb.ts\n#EXTINF:6,\n#EXT-X-BYTERANGE:10@\nb.ts",
            "#EXTINF:6,\n#EXT-X-BYTERANGE:10@5\nb.ts\n#EXTINF:6,\n#EXT-X-BYTERANGE:10@15\nb.ts", .missingOffset,
            hlsJS: "requests the whole resource", ffmpeg: "takes 0", weir: "continues the previous range, or takes 0"),
        Mend(
            "EXT-X-BYTERANGE twice for a segment", .body,
            "#EXT-X-BYTERANGE:1@0\n#EXT-X-BYTERANGE:2@0\n#EXTINF:6,\nb.ts",
            "#EXT-X-BYTERANGE:2@0\n#EXTINF:6,\nb.ts", .duplicateTag,
            hlsJS: "takes the last", ffmpeg: "takes the last", weir: "takes the last"),
        Mend(
            "EXT-X-BYTERANGE that cannot be read", .body, "#EXT-X-BYTERANGE:x\n#EXTINF:6,\nb.ts", "", .badValue,
            hlsJS: "requests the whole resource", ffmpeg: "requests nothing useful", weir: "omits the segment"),
        Mend(
            "EXT-X-KEY without METHOD", .head, "#EXT-X-KEY:URI=\"k\"", "", .missingAttribute,
            hlsJS: "ignores it", ffmpeg: "plays as clear", weir: "omits it"),
        Mend(
            "an IV that is no hexadecimal number", .head, "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=12",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", .badValue,
            hlsJS: "takes zeros", ffmpeg: "takes the sequence number", weir: "omits the IV"),
        Mend(
            "EXT-X-MAP without a URI", .head, "#EXT-X-MAP:BYTERANGE=\"1@0\"", "", .missingAttribute,
            hlsJS: "requests the playlist", ffmpeg: "requests the playlist", weir: "omits it"),
        Mend(
            "EXT-X-STREAM-INF in a media playlist", .body, "#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8", "", .mixedTags,
            hlsJS: "plays the segments", ffmpeg: "plays the variant", weir: "plays the segments"),
    ]

    private static let attributes: [Mend] = [
        Mend(
            "a date range with a bad DURATION", .head,
            "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:00Z\",DURATION=-1",
            "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:00Z\"", .badValue,
            hlsJS: "ignores the tag", ffmpeg: "ignores the tag", weir: "omits the attribute"),
        Mend(
            "EXT-X-SERVER-CONTROL that cannot be read", .head, "#EXT-X-SERVER-CONTROL:HOLD-BACK=x", "", .badValue,
            hlsJS: "ignores it", ffmpeg: "ignores it", weir: "omits it"),
        Mend(
            "EXT-X-PART-INF that cannot be read", .head, "#EXT-X-PART-INF:PART-TARGET=none", "", .missingAttribute,
            hlsJS: "plays whole segments", ffmpeg: "ignores it", weir: "omits it"),
        Mend(
            "EXT-X-START that cannot be read", .head, "#EXT-X-START:TIME-OFFSET=soon", "", .missingAttribute,
            hlsJS: "ignores it", ffmpeg: "ignores it", weir: "omits it"),
        Mend(
            "blanks around attributes", .multivariant, "#EXT-X-MEDIA: TYPE = AUDIO , GROUP-ID=\"a\", NAME=\"b\",",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"b\"", nil,
            hlsJS: "plays", ffmpeg: "plays", weir: "omits them: VLC plays nothing"),
        Mend(
            "an attribute twice", .multivariant, "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"b\",NAME=\"c\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"c\"", .malformedAttributes,
            hlsJS: "takes the last", ffmpeg: "takes the last", weir: "takes the last"),
        Mend(
            "a quote that is not closed", .multivariant, "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"b",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"b\"", .malformedAttributes,
            hlsJS: "ends at the next comma", ffmpeg: "ends at the line's end", weir: "ends at the next comma"),
        Mend(
            "DEFAULT that is neither YES nor NO", .multivariant,
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"b\",DEFAULT=TRUE",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"b\"", .badValue,
            hlsJS: "takes NO", ffmpeg: "takes NO", weir: "omits it"),
    ]

    private static func variant(_ attributes: String) -> String { "#EXT-X-STREAM-INF:\(attributes)\na.m3u8" }

    private static let multivariant: [Mend] = [
        Mend(
            "RESOLUTION with ×", .multivariant, variant("BANDWIDTH=1,RESOLUTION=160×90"),
            variant("BANDWIDTH=1,RESOLUTION=160x90"), .badValue,
            hlsJS: "ignores it", ffmpeg: "ignores it", weir: "reads it"),
        Mend(
            "FRAME-RATE as a ratio", .multivariant, variant("BANDWIDTH=1,FRAME-RATE=30000/1001"),
            variant("BANDWIDTH=1,FRAME-RATE=29.97"), .badValue,
            hlsJS: "takes 30000", ffmpeg: "ignores it", weir: "takes the quotient"),
        Mend(
            "BANDWIDTH with a unit", .multivariant, variant("BANDWIDTH=800k"), variant("BANDWIDTH=800000"), .badValue,
            hlsJS: "takes 800", ffmpeg: "takes 800", weir: "takes 800,000"),
        Mend(
            "BANDWIDTH that is negative", .multivariant, variant("BANDWIDTH=-1"), variant(""), .badValue,
            hlsJS: "takes -1", ffmpeg: "takes -1", weir: "omits it"),
        Mend(
            "BANDWIDTH with two equals signs", .multivariant, variant("BANDWIDTH==800000"),
            variant("BANDWIDTH=800000"), .badValue,
            hlsJS: "ignores it", ffmpeg: "takes 0", weir: "takes 800,000"),
        Mend(
            "more than 128 attributes", .multivariant,
            variant("BANDWIDTH=1," + (1...130).map { "X-\($0)=1" }.joined(separator: ",")),
            variant("BANDWIDTH=1," + (1...127).map { "X-\($0)=1" }.joined(separator: ",")), .overLimit,
            hlsJS: "reads them", ffmpeg: "reads them", weir: "reads the first 128"),
        Mend(
            "BANDWIDTH beyond all numbers", .multivariant,
            variant("BANDWIDTH=99999999999999999999,CODECS=\"mp4a.40.2\""),
            variant("CODECS=\"mp4a.40.2\""), .badValue,
            hlsJS: "takes the largest number", ffmpeg: "takes any number", weir: "omits it"),
        Mend(
            "CODECS without quotes", .multivariant, variant("CODECS=avc1.42c00a,mp4a.40.2,BANDWIDTH=1"),
            variant("CODECS=\"avc1.42c00a,mp4a.40.2\",BANDWIDTH=1"), .malformedAttributes,
            hlsJS: "loses the next attribute", ffmpeg: "loses the next attribute", weir: "reads the list"),
        Mend(
            "EXT-X-MEDIA of an unknown TYPE", .multivariant,
            "#EXT-X-MEDIA:TYPE=SMELL,GROUP-ID=\"a\",NAME=\"b\",URI=\"c.m3u8\"",
            "", .missingAttribute, hlsJS: "ignores it", ffmpeg: "ignores it", weir: "omits it"),
        Mend(
            "EXT-X-MEDIA without GROUP-ID", .multivariant, "#EXT-X-MEDIA:TYPE=AUDIO,NAME=\"b\",URI=\"c.m3u8\"", "",
            .missingAttribute, hlsJS: "ignores it", ffmpeg: "opens it", weir: "omits it"),
        Mend(
            "closed captions with a URI", .multivariant,
            "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"b\",INSTREAM-ID=\"CC1\",URI=\"c.m3u8\"",
            "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"b\",INSTREAM-ID=\"CC1\"", .badValue,
            hlsJS: "ignores it", ffmpeg: "ignores it", weir: "omits the URI"),
        Mend(
            "EXT-X-I-FRAME-STREAM-INF without a URI", .multivariant, "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1", "",
            .missingAttribute, hlsJS: "ignores it", ffmpeg: "ignores it", weir: "omits it"),
        Mend(
            "EXT-X-STREAM-INF without a URI", .multivariant, "#EXT-X-STREAM-INF:BANDWIDTH=2", "", .missingURI,
            hlsJS: "gives it the next URI", ffmpeg: "ignores it", weir: "omits it"),
        Mend(
            "an empty line between EXT-X-STREAM-INF and its URI", .multivariant,
            "#EXT-X-STREAM-INF:BANDWIDTH=2\n# note\n\nw.m3u8", "#EXT-X-STREAM-INF:BANDWIDTH=2\nw.m3u8",
            .interruptedSegment, hlsJS: "plays", ffmpeg: "plays", weir: "omits it: VLC plays nothing"),
        Mend(
            "a URI without EXT-X-STREAM-INF", .multivariant, "lone.m3u8", "", .unannouncedURI,
            hlsJS: "ignores it", ffmpeg: "ignores it", weir: "omits it"),
        Mend(
            "a variable that is not defined", .multivariant,
            "#EXT-X-SESSION-DATA:DATA-ID=\"{$a}\",VALUE=\"b\"", "#EXT-X-SESSION-DATA:DATA-ID=\"{$a}\",VALUE=\"b\"",
            .missingVariable, hlsJS: "refuses", ffmpeg: "requests the reference as it is",
            weir: "requests the reference as it is"),
        Mend(
            "tags of a media playlist", .multivariant, "#EXT-X-TARGETDURATION:6", "", .mixedTags,
            hlsJS: "takes it for a media playlist and refuses", ffmpeg: "plays", weir: "omits them"),
    ]
}

@Suite("A defect")
struct MendTests {
    @Test("leaves what is whole to be played", arguments: Mend.all)
    func mended(_ mend: Mend) throws {
        let playlist = try Playlist.parse(Array(mend.text(mend.input).utf8))
        let output =
            switch playlist {
            case .media(let media): try media.rendered(.plain) { _ in nil }
            case .multivariant(let multivariant): try multivariant.rendered { _ in nil }
            }
        #expect(String(decoding: output, as: UTF8.self) == mend.text(mend.output))
        if let code = mend.code {
            #expect(playlist.text.mends.contains { $0.code == code }, "\(playlist.text.mends)")
        }
        #expect(playlist.text.write() == Array(mend.text(mend.input).utf8))
    }

    @Test("is gone after mending", arguments: Mend.all)
    func stable(_ mend: Mend) throws {
        let once = try Playlist.parse(Array(mend.text(mend.output).utf8))
        // Nothing defines the variable in the mended text either.
        #expect(once.text.mends.allSatisfy { $0.code == .missingVariable })
        #expect(!once.text.isChanged)
    }

    @Test("in a list leaves the values of attributes that the tag does not have")
    func unknownAttributes() throws {
        let text = "#EXTM3U\n#EXT-X-MAP:URI=\"i\",CODECS=&\"a\",lone\n#EXTINF:6,\na\n"
        let output = String(decoding: try Fixtures.media(text).rendered { _ in nil }, as: UTF8.self)
        #expect(output == text.replacing(",lone", with: ""))
    }

    @Test("of the encoding keeps names, and asks the origin for the same bytes")
    func encoding() throws {
        let text = Array("#EXTM3U\n#EXT-X-MAP:URI=\"i~\"\n#EXTINF:6,caf~\n~.ts\n#EXTINF:6,ü\né.ts\n".utf8)
        let latin = text.map { $0 == UInt8(ascii: "~") ? 0xE9 : $0 }
        guard case .media(let playlist) = try Playlist.parse(latin) else { throw Fixtures.NotExpected() }
        #expect(playlist.segments.map(\.uri) == ["%E9.ts", "é.ts"])
        #expect(playlist.segments.map(\.title) == ["café", "ü"])
        #expect(playlist.maps[0].uri == "i%E9")
        #expect(playlist.text.mends.map(\.line) == [2, 3, 4])
        #expect(playlist.text.write() == latin)
    }

    @Test("of every line does not slow the parser down, and not every one is remembered")
    func many() throws {
        let text = "#EXTM3U\n" + String(repeating: "#EXTINF:1s,\n\na.ts\nb.ts\n", count: 5_000)
        let playlist = try Fixtures.media(text)
        #expect(playlist.segments.count == 5_000)
        #expect(playlist.text.mends.count == PlaylistText.maximumMends)
    }

    @Test(
        "that leaves nothing to play is an error",
        arguments: [
            "#EXTINF:1,\n", "#EXT-X-STREAM-INF:BANDWIDTH=1\n", "a.ts\n", "#EXTINF:1,\n#EXT-X-BYTERANGE:x\na.ts\n",
            "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1\n",
        ])
    func fatal(_ lines: String) {
        #expect(throws: PlaylistError.self) { try Playlist.parse(Array("#EXTM3U\n\(lines)".utf8)) }
    }

    @Test("of a missing group folds no mirrors")
    func missingGroups() throws {
        let playlist = try Fixtures.multivariant(
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            http://a.example/v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="b"
            http://b.example/v.m3u8
            """)
        #expect(playlist.mirrors == [[0], [1]])
    }
}

/// The guide's page on mends has one row for each row of the table. `tools/make/mends` writes it.
@Suite("The guide's table of mends")
struct MendGuideTests {
    private static let start = "| defect | hls.js 1.6 | ffmpeg | Weir |\n| --- | --- | --- | --- |\n"

    private static var table: String {
        let rows = Mend.all.map { "| \($0.defect) | \($0.hlsJS) | \($0.ffmpeg) | \($0.weir) |" }
        return start + rows.joined(separator: "\n") + "\n"
    }

    @Test("is that of the tests")
    func current() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/weir/Weir.docc/Evidence/Mends.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let first = try #require(text.firstRange(of: Self.start)?.lowerBound)
        let end = text[first...].firstRange(of: "\n\n")?.lowerBound ?? text.endIndex
        if ProcessInfo.processInfo.environment["WEIR_WRITE_GUIDE"] != nil {
            let new = text.replacingCharacters(in: first..<end, with: Self.table.dropLast())
            try new.write(to: page, atomically: true, encoding: .utf8)
        } else {
            #expect(String(text[first..<end]) == String(Self.table.dropLast()), "run tools/make/mends")
        }
    }
}
