/// The 32 tags of rfc8216bis and the de facto EXT-X-IMAGE-STREAM-INF. Any other line that starts with `#EXT` is
/// `unknown`.
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

    /// True if the tag applies only to a low-latency playlist that still grows (rfc8216bis §4.4.3.7, §4.4.3.8,
    /// §4.4.4.9, §4.4.5.2 to §4.4.5.4).
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

    /// Length of the name in bytes, including the `#`.
    var length: Int { rawValue.utf8.count }

    /// Returns the tag whose name starts at `range.lowerBound` and ends at the colon or the line's end; nil for a
    /// comment.
    static func find(in bytes: [UInt8], _ range: Range<Int>) -> Tag? {
        guard range.count >= 4, bytes.matches(range.lowerBound..<range.lowerBound + 4, "#EXT") else { return nil }
        let end = bytes.firstIndex(of: UInt8(ascii: ":"), in: range) ?? range.upperBound
        let length = end - range.lowerBound
        guard length < byLength.count else { return .unknown }
        for tag in byLength[length] where bytes.matches(range.lowerBound..<end, tag.rawValue) { return tag }
        return .unknown
    }

    private static let byLength: [[Tag]] = {
        var table = [[Tag]](repeating: [], count: 1 + (allCases.map(\.length).max() ?? 0))
        for tag in allCases where tag != .unknown { table[tag.length].append(tag) }
        return table
    }()
}

extension Tag {
    /// The clause that defines the tag: in RFC 8216, or else in rfc8216bis.
    var clause: String {
        switch self {
        case .m3u: "RFC 8216 §4.3.1.1"
        case .version: "RFC 8216 §4.3.1.2"
        case .inf: "RFC 8216 §4.3.2.1"
        case .byteRange: "RFC 8216 §4.3.2.2"
        case .discontinuity: "RFC 8216 §4.3.2.3"
        case .key: "RFC 8216 §4.3.2.4"
        case .map: "RFC 8216 §4.3.2.5"
        case .programDateTime: "RFC 8216 §4.3.2.6"
        case .dateRange: "rfc8216bis §4.4.5.1"
        case .targetDuration: "RFC 8216 §4.3.3.1"
        case .mediaSequence: "RFC 8216 §4.3.3.2"
        case .discontinuitySequence: "RFC 8216 §4.3.3.3"
        case .endList: "RFC 8216 §4.3.3.4"
        case .playlistType: "RFC 8216 §4.3.3.5"
        case .iFramesOnly: "RFC 8216 §4.3.3.6"
        case .independentSegments: "RFC 8216 §4.3.5.1"
        case .start: "RFC 8216 §4.3.5.2"
        default: laterClause
        }
    }

    private var laterClause: String {
        switch self {
        case .media: "RFC 8216 §4.3.4.1"
        case .streamInf: "RFC 8216 §4.3.4.2"
        case .iFrameStreamInf: "RFC 8216 §4.3.4.3"
        case .sessionData: "RFC 8216 §4.3.4.4"
        case .sessionKey: "RFC 8216 §4.3.4.5"
        case .define: "rfc8216bis §4.4.2.3"
        case .partInf: "rfc8216bis §4.4.3.7"
        case .serverControl: "rfc8216bis §4.4.3.8"
        case .gap: "rfc8216bis §4.4.4.7"
        case .bitrate: "rfc8216bis §4.4.4.8"
        case .part: "rfc8216bis §4.4.4.9"
        case .skip: "rfc8216bis §4.4.5.2"
        case .preloadHint: "rfc8216bis §4.4.5.3"
        case .renditionReport: "rfc8216bis §4.4.5.4"
        case .contentSteering: "rfc8216bis §4.4.6.6"
        default: "RFC 8216 §4.1"
        }
    }

    /// Kinds of playlist in which a tag is allowed (RFC 8216 §4.3).
    enum Scope {
        case any
        case media
        case multivariant
    }

    /// The kind of playlist in which the tag is allowed.
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
