/// One EXT-X-STREAM-INF with its URI line (RFC 8216 §4.3.4.2).
public struct Variant: Sendable {
    /// The place among the playlist's variants, from 0.
    public internal(set) var index: Int
    /// The URI as written, without blanks at its ends.
    public let uri: String
    /// The place of the URI in `MultivariantPlaylist.renditionURIs`: equal for lines that name the same rendition.
    public internal(set) var renditionIndex: Int
    /// BANDWIDTH, the peak, in bits a second; 0 where it is absent, which players tolerate.
    public let bandwidth: Int
    /// AVERAGE-BANDWIDTH in bits a second.
    public let averageBandwidth: Int?
    /// RESOLUTION.
    public let resolution: Resolution?
    /// FRAME-RATE in frames a second.
    public let frameRate: Double?
    /// All attributes, for whatever has no property here.
    public let attributes: AttributeList
    /// The number of the tag's line, from 1.
    public let line: Int
    /// The number of the URI's line, from 1.
    public let uriLine: Int

    /// CODECS, split at commas.
    public var codecs: [String] { attributes["CODECS"].map(Self.split) ?? [] }
    /// AUDIO: the GROUP-ID of its audio renditions.
    public var audio: String? { attributes["AUDIO"] }
    /// VIDEO: the GROUP-ID of its video renditions.
    public var video: String? { attributes["VIDEO"] }
    /// SUBTITLES: the GROUP-ID of its subtitle renditions.
    public var subtitles: String? { attributes["SUBTITLES"] }
    /// CLOSED-CAPTIONS: the GROUP-ID of its closed captions; nil for the enumerated NONE as well.
    public var closedCaptions: String? { group(.closedCaptions) }
    /// VIDEO-RANGE: SDR, HLG or PQ.
    public var videoRange: String? { attributes["VIDEO-RANGE"] }
    /// STABLE-VARIANT-ID (rfc8216bis §4.4.6.2): the same for the same variant in every pathway and after every reload.
    public var stableID: String? { attributes["STABLE-VARIANT-ID"] }
    /// PATHWAY-ID (rfc8216bis §4.4.6.2): the pathway of content steering that it belongs to; `.` where it is absent.
    public var pathwayID: String { attributes["PATHWAY-ID"] ?? "." }
    /// SCORE (rfc8216bis §4.4.6.2): the larger, the more its author prefers it; nil where it is absent.
    public var score: Double? { try? attributes.decimalFloat("SCORE") }
    /// HDCP-LEVEL: TYPE-0, TYPE-1 or NONE.
    public var hdcpLevel: String? { attributes["HDCP-LEVEL"] }
    /// SUPPLEMENTAL-CODECS (rfc8216bis §4.4.6.2): codecs with their brands, `codec/brand/…`, split at commas.
    public var supplementalCodecs: [String] { attributes["SUPPLEMENTAL-CODECS"].map(Self.split) ?? [] }
    /// ALLOWED-CPC (rfc8216bis §4.4.6.2): the content protections that are good enough for it, as written.
    public var allowedProtection: String? { attributes["ALLOWED-CPC"] }
    /// REQ-VIDEO-LAYOUT (rfc8216bis §4.4.6.2): what a player must be able to show, such as `CH-STEREO`.
    public var requiredVideoLayout: String? { attributes["REQ-VIDEO-LAYOUT"] }
    /// NAME, which no text defines for variants and many packagers write.
    public var name: String? { attributes["NAME"] }

    /// The GROUP-ID that the variant refers to for a type of rendition.
    public func group(_ type: Media.Kind) -> String? {
        guard type == .closedCaptions, let attribute = attributes.find(type.rawValue), !attribute.isQuoted else {
            return attributes[type.rawValue]
        }
        let text = attributes[type.rawValue]
        return text == "NONE" ? nil : text
    }

    /// Reads a tag's line; the URI line has been found already.
    init(
        _ text: PlaylistText, line: Int, uriLine: Int, uri: String, index: Int, renditionIndex: Int,
        _ limits: PlaylistLimits
    ) throws(PlaylistError) {
        attributes = try text.attributes(line, limits)
        self.index = index
        self.renditionIndex = renditionIndex
        self.line = line + 1
        self.uriLine = uriLine + 1
        self.uri = uri
        bandwidth = try attributes.decimalInteger("BANDWIDTH") ?? 0
        averageBandwidth = try attributes.decimalInteger("AVERAGE-BANDWIDTH")
        resolution = try attributes.resolution("RESOLUTION")
        frameRate = try attributes.decimalFloat("FRAME-RATE")
    }

    private static func split(_ list: String) -> [String] {
        list.utf8.split(separator: UInt8(ascii: ",")).map { codec in
            let bytes = [UInt8](codec)
            return bytes.text(bytes.trimmed(0..<bytes.count))
        }
    }
}

extension Variant {
    /// Whether it has codecs, and all of them are for sound.
    public var isAudioOnly: Bool {
        let sounds = ["mp4a", "ac-3", "ec-3", "opus", "flac", "fLaC", "Opus", "alac", "mp3"]
        return !codecs.isEmpty && codecs.allSatisfy { codec in sounds.contains { codec.hasPrefix($0) } }
    }
}
