/// The 32 tags of rfc8216bis and the de facto EXT-X-IMAGE-STREAM-INF. Any other line that starts with `#EXT` is `unknown`.
enum Tag: String, CaseIterable, Sendable {
    case m3u = "#EXTM3U"
    case version = "#EXT-X-VERSION"
    case independentSegments = "#EXT-X-INDEPENDENT-SEGMENTS"
    case start = "#EXT-X-START"
    case define = "#EXT-X-DEFINE"
    case targetDuration = "#EXT-X-TARGETDURATION"
    case mediaSequence = "#EXT-X-MEDIA-SEQUENCE"
    case discontinuitySequence = "#EXT-X-DISCONTINUITY-SEQUENCE"
    case endList = "#EXT-X-ENDLIST"
    case playlistType = "#EXT-X-PLAYLIST-TYPE"
    case iFramesOnly = "#EXT-X-I-FRAMES-ONLY"
    case inf = "#EXTINF"
    case byteRange = "#EXT-X-BYTERANGE"
    case discontinuity = "#EXT-X-DISCONTINUITY"
    case key = "#EXT-X-KEY"
    case map = "#EXT-X-MAP"
    case programDateTime = "#EXT-X-PROGRAM-DATE-TIME"
    case gap = "#EXT-X-GAP"
    case bitrate = "#EXT-X-BITRATE"
    case dateRange = "#EXT-X-DATERANGE"
    case partInf = "#EXT-X-PART-INF"
    case serverControl = "#EXT-X-SERVER-CONTROL"
    case part = "#EXT-X-PART"
    case preloadHint = "#EXT-X-PRELOAD-HINT"
    case renditionReport = "#EXT-X-RENDITION-REPORT"
    case skip = "#EXT-X-SKIP"
    case media = "#EXT-X-MEDIA"
    case streamInf = "#EXT-X-STREAM-INF"
    case iFrameStreamInf = "#EXT-X-I-FRAME-STREAM-INF"
    case imageStreamInf = "#EXT-X-IMAGE-STREAM-INF"
    case sessionData = "#EXT-X-SESSION-DATA"
    case sessionKey = "#EXT-X-SESSION-KEY"
    case contentSteering = "#EXT-X-CONTENT-STEERING"
    case unknown = "#EXT"

    /// True if the tag shows that a text without segments is a media playlist.
    var marksMedia: Bool {
        switch self {
        case .targetDuration, .mediaSequence, .endList, .playlistType, .part, .skip, .map: true
        default: false
        }
    }

    /// True for tags of a growing low-latency playlist (rfc8216bis §4.4.3.7, §4.4.3.8, §4.4.4.9, §4.4.5.2 to §4.4.5.4).
    var isLowLatency: Bool {
        switch self {
        case .partInf, .serverControl, .part, .preloadHint, .renditionReport, .skip: true
        default: false
        }
    }

    /// True if the value is an attribute list.
    var hasAttributes: Bool {
        switch self {
        case .start, .define, .key, .map, .dateRange, .partInf, .serverControl, .part, .preloadHint, .renditionReport,
            .skip, .media, .streamInf, .iFrameStreamInf, .imageStreamInf, .sessionData, .sessionKey, .contentSteering:
            true
        default: false
        }
    }

    var length: Int { rawValue.utf8.count }

    /// Returns the tag whose name starts at `range.lowerBound` and ends at the colon or the line's end; nil for a comment.
    static func find(in bytes: [UInt8], _ range: Range<Int>) -> Tag? {
        guard range.count >= 4, bytes.matches(range.lowerBound..<range.lowerBound + 4, "#EXT") else { return nil }
        let end = bytes.firstIndex(of: UInt8(ascii: ":"), in: range) ?? range.upperBound
        let length = end - range.lowerBound
        if length < byLength.count {
            for tag in byLength[length] where bytes.matches(range.lowerBound..<end, tag.rawValue) {
                return tag
            }
        }
        guard isEnd(bytes, range) else { return .unknown }
        return .endList
    }

    /// True for EXT-X-ENDLIST with text behind it, which players ignore.
    private static func isEnd(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        let end = range.lowerBound + endList.length
        guard end < range.upperBound, bytes.matches(range.lowerBound..<end, endList.rawValue) else { return false }
        let next = bytes[end]
        let isName = next == UInt8(ascii: "-") || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(next & 0xDF)
        return !isName
    }

    private static let byLength: [[Tag]] = {
        var table = [[Tag]](repeating: [], count: 1 + (allCases.map(\.length).max() ?? 0))
        for tag in allCases where tag != .unknown {
            table[tag.length].append(tag)
        }
        return table
    }()
}

extension Tag {
    /// The clause that defines the tag: in RFC 8216, or else in rfc8216bis.
    var clause: String {
        if let number = Self.clauses[self] {
            return "RFC 8216 §4.3.\(number)"
        }
        guard let number = Self.laterClauses[self] else { return "RFC 8216 §4.1" }
        return "rfc8216bis §4.4.\(number)"
    }

    private static let clauses: [Tag: String] = [
        .m3u: "1.1", .version: "1.2", .inf: "2.1", .byteRange: "2.2", .discontinuity: "2.3", .key: "2.4", .map: "2.5",
        .programDateTime: "2.6", .targetDuration: "3.1", .mediaSequence: "3.2", .discontinuitySequence: "3.3",
        .endList: "3.4", .playlistType: "3.5", .iFramesOnly: "3.6", .media: "4.1", .streamInf: "4.2",
        .iFrameStreamInf: "4.3", .sessionData: "4.4", .sessionKey: "4.5", .independentSegments: "5.1", .start: "5.2",
    ]

    private static let laterClauses: [Tag: String] = [
        .define: "2.3", .partInf: "3.7", .serverControl: "3.8", .gap: "4.7", .bitrate: "4.8", .part: "4.9",
        .dateRange: "5.1", .skip: "5.2", .preloadHint: "5.3", .renditionReport: "5.4", .contentSteering: "6.6",
    ]

    /// Kinds of playlist in which a tag is allowed (RFC 8216 §4.3).
    enum Scope { case any, media, multivariant }

    var scope: Scope {
        switch self {
        case .m3u, .version, .independentSegments, .start, .define, .unknown: .any
        case .media, .streamInf, .iFrameStreamInf, .imageStreamInf, .sessionData, .sessionKey, .contentSteering:
            .multivariant
        default: .media
        }
    }

    /// True if the tag may occur only once in a playlist.
    var isSingle: Bool {
        switch self {
        case .version, .independentSegments, .start, .targetDuration, .mediaSequence, .discontinuitySequence, .endList,
            .playlistType, .iFramesOnly, .partInf, .serverControl, .skip, .contentSteering:
            true
        default: false
        }
    }
}
