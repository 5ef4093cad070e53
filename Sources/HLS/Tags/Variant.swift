public import SafeText

protocol VariantLine {
    var index: Int { get set }
    var uri: String { get }
    var renditionIndex: Int { get set }
    var attributes: AttributeList { get }
}

extension VariantLine {
    /// STABLE-VARIANT-ID (rfc8216bis §4.4.6.2): identifies the variant across pathways and reloads.
    var stableID: String? { attributes["STABLE-VARIANT-ID"] }
    /// PATHWAY-ID (rfc8216bis §4.4.6.2): its pathway for content steering; `.` if absent.
    var pathwayID: String { attributes["PATHWAY-ID"] ?? "." }
}

/// One EXT-X-STREAM-INF with its URI line (RFC 8216 §4.3.4.2).
public struct Variant: VariantLine, Sendable {
    /// Index among the playlist's variants, from 0.
    public internal(set) var index: Int
    /// URI as written, without blanks at its ends.
    public let uri: String
    /// Index of the URI in `MultivariantPlaylist.renditionURIs`; equal for lines that name the same rendition.
    public internal(set) var renditionIndex: Int
    /// BANDWIDTH, the peak bit rate; zero if absent, which players accept.
    public let bandwidth: BitRate
    /// AVERAGE-BANDWIDTH.
    public let averageBandwidth: BitRate?
    /// RESOLUTION.
    public let resolution: Resolution?
    /// FRAME-RATE in frames per second.
    public let frameRate: Ratio?
    /// All attributes, including those without a property.
    public let attributes: AttributeList
    /// Line number of the tag, from 1.
    public let line: Int
    /// Line number of the URI, from 1.
    public let uriLine: Int
    /// CODECS, split at commas.
    public var codecs: [String] { attributes["CODECS"].map(Self.split) ?? [] }
    /// AUDIO: the GROUP-ID of its audio renditions.
    public var audio: String? { attributes["AUDIO"] }
    /// VIDEO: the GROUP-ID of its video renditions.
    public var video: String? { attributes["VIDEO"] }
    /// SUBTITLES: the GROUP-ID of its subtitle renditions.
    public var subtitles: String? { attributes["SUBTITLES"] }
    /// CLOSED-CAPTIONS: the GROUP-ID of its closed captions; also nil for the enumerated NONE.
    public var closedCaptions: String? { group(.closedCaptions) }
    /// VIDEO-RANGE: SDR, HLG or PQ.
    public var videoRange: String? { attributes["VIDEO-RANGE"] }
    /// REQ-VIDEO-LAYOUT (rfc8216bis §4.4.6.2): the layout that a player must support, such as `CH-STEREO`.
    public var requiredVideoLayout: String? { attributes["REQ-VIDEO-LAYOUT"] }
    /// NAME, which many packagers write although no specification defines it for variants.
    public var name: String? { attributes["NAME"] }

    /// Returns the GROUP-ID that the variant refers to for a type of rendition.
    public func group(_ type: Media.Kind) -> String? {
        let id = attributes[type.rawValue]
        let isNone = type == .closedCaptions && id == "NONE" && attributes.find(type.rawValue)?.isQuoted == false
        guard !isNone else { return nil }
        return id
    }

    var groups: [Media.Group] {
        Media.Kind.allCases.compactMap { type -> Media.Group? in
            guard let id = group(type) else { return nil }
            return Media.Group(type: type, id: id)
        }
    }

    init(
        _ text: PlaylistText, line: Int, uriLine: Int, uri: String, index: Int, renditionIndex: Int
    ) throws(PlaylistError) {
        attributes = text.attributes(line)
        self.index = index
        self.renditionIndex = renditionIndex
        self.line = line + 1
        self.uriLine = uriLine + 1
        self.uri = uri
        bandwidth = try attributes.bitRate("BANDWIDTH") ?? .zero
        averageBandwidth = try attributes.bitRate("AVERAGE-BANDWIDTH")
        resolution = try attributes.resolution("RESOLUTION")
        frameRate = try attributes.ratio("FRAME-RATE")
    }

    private static func split(_ list: String) -> [String] {
        list.utf8.split(separator: UInt8(ascii: ",")).map { codec in
            let bytes = [UInt8](codec)
            return bytes.text(bytes.trimmed(0..<bytes.count))
        }
    }

    /// True if the variant has CODECS and all of them are audio codecs.
    public var isAudioOnly: Bool {
        let audioCodecs = ["mp4a", "ac-3", "ec-3", "opus", "flac", "fLaC", "Opus", "alac", "mp3"]
        return !codecs.isEmpty && codecs.allSatisfy { codec in audioCodecs.contains { codec.hasPrefix($0) } }
    }
}

/// One EXT-X-I-FRAME-STREAM-INF (RFC 8216 §4.3.4.3): a media playlist of I-frames for trick play.
public struct IFrameVariant: VariantLine, Sendable {
    /// Index among the playlist's I-frame variants, from 0.
    public internal(set) var index: Int
    /// URI as written.
    public let uri: String
    /// Index of the URI in `MultivariantPlaylist.renditionURIs`.
    public internal(set) var renditionIndex: Int
    /// BANDWIDTH, the peak bit rate; zero if absent.
    public let bandwidth: BitRate
    /// RESOLUTION.
    public let resolution: Resolution?
    /// All attributes.
    public let attributes: AttributeList
    /// Line number, from 1.
    public let line: Int
    /// VIDEO: the GROUP-ID of its video renditions.
    public var video: String? { attributes["VIDEO"] }
    var groups: [Media.Group] {
        guard let video else { return [] }
        return [Media.Group(type: .video, id: video)]
    }

    init(_ text: PlaylistText, _ line: Int, index: Int, rendition: (String) -> Int) throws(PlaylistError) {
        attributes = text.attributes(line)
        self.index = index
        self.line = line + 1
        uri = try attributes.required("URI")
        bandwidth = try attributes.bitRate("BANDWIDTH") ?? .zero
        resolution = try attributes.resolution("RESOLUTION")
        renditionIndex = rendition(uri)
    }
}

/// One EXT-X-IMAGE-STREAM-INF, a de facto tag for thumbnails: a media playlist of pictures.
///
/// Players fetch it only to show seek previews and play without it, so it does not count as a rendition.
public struct ImageVariant: Sendable {
    /// Index among the playlist's image variants, from 0.
    public let index: Int
    /// URI as written.
    public let uri: String
    /// All attributes.
    public let attributes: AttributeList
    /// Line number, from 1.
    public let line: Int
    /// RESOLUTION of one picture; nil if absent or invalid.
    public var resolution: Resolution? { try? attributes.resolution("RESOLUTION") }

    /// Parses a line; nil without a URI. The line is then preserved unchanged.
    init?(_ text: PlaylistText, _ line: Int, index: Int) throws(PlaylistError) {
        attributes = text.attributes(line)
        guard let uri = attributes["URI"], !uri.isEmpty else { return nil }
        self.uri = uri
        self.index = index
        self.line = line + 1
    }
}
