extension Tag {
    /// Where the tag is defined: in RFC 8216, or where that has it not, in rfc8216bis.
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

    /// Which kinds of playlist a tag may stand in (RFC 8216 §4.3).
    enum Home {
        case any
        case media
        case multivariant
    }

    /// Where the tag may stand.
    var home: Home {
        switch self {
        case .m3u, .version, .independentSegments, .start, .define, .unknown: .any
        case .media, .streamInf, .iFrameStreamInf, .imageStreamInf, .sessionData, .sessionKey, .contentSteering:
            .multivariant
        default: .media
        }
    }

    /// Whether the tag may stand once in a playlist.
    var isSingle: Bool {
        switch self {
        case .version, .independentSegments, .start, .targetDuration, .mediaSequence, .discontinuitySequence, .endList,
            .playlistType, .iFramesOnly, .partInf, .serverControl, .skip, .contentSteering:
            true
        default: false
        }
    }
}
