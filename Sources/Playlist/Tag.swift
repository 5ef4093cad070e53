/// The 32 tags of rfc8216bis, and EXT-X-IMAGE-STREAM-INF, which the field has besides; every other line that starts
/// with `#EXT` is `unknown`.
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

    /// Whether the tag has a meaning only while a playlist grows at low latency (rfc8216bis §4.4.3.7, §4.4.3.8,
    /// §4.4.4.9, §4.4.5.2 to §4.4.5.4).
    var isLowLatency: Bool {
        switch self {
        case .partInf, .serverControl, .part, .preloadHint, .renditionReport, .skip: true
        default: false
        }
    }

    /// Whether the value is an attribute list.
    var hasAttributes: Bool {
        switch self {
        case .start, .define, .key, .map, .dateRange, .partInf, .serverControl, .part, .preloadHint, .renditionReport,
            .skip, .media, .streamInf, .iFrameStreamInf, .imageStreamInf, .sessionData, .sessionKey, .contentSteering:
            true
        default: false
        }
    }

    /// The length of the name in bytes, the `#` included.
    var length: Int { rawValue.utf8.count }

    /// The tag whose name, up to the colon or the end, starts at `range.lowerBound`; nil for a comment.
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
