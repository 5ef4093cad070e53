/// One EXT-X-MEDIA (RFC 8216 §4.3.4.1): a rendition that variants refer to by its group.
public struct Media: Sendable {
    /// TYPE; raw values are as in the playlist, and name the attribute of EXT-X-STREAM-INF that refers to the group.
    public enum Kind: String, CaseIterable, Sendable {
        case audio = "AUDIO"
        case video = "VIDEO"
        case subtitles = "SUBTITLES"
        case closedCaptions = "CLOSED-CAPTIONS"
    }

    /// What a group is known by.
    struct Group: Hashable, Sendable {
        let type: Kind
        let id: String
    }

    /// The place among the playlist's EXT-X-MEDIA lines, from 0.
    public internal(set) var index: Int
    /// TYPE.
    public let type: Kind
    /// GROUP-ID.
    public let groupID: String
    /// NAME; empty where it is absent, which players tolerate.
    public let name: String
    /// URI as written; nil where the media is muxed into the variants, and for closed captions.
    public let uri: String?
    /// The place of the URI in `MultivariantPlaylist.renditionURIs`; nil without one.
    public internal(set) var renditionIndex: Int?
    /// DEFAULT=YES.
    public let isDefault: Bool
    /// AUTOSELECT=YES, or DEFAULT=YES, which implies it.
    public let isAutoselect: Bool
    /// FORCED=YES.
    public let isForced: Bool
    /// All attributes, for whatever has no property here.
    public let attributes: AttributeList
    /// The number of the line, from 1.
    public let line: Int

    /// LANGUAGE, a tag of RFC 5646.
    public var language: String? { attributes["LANGUAGE"] }
    /// ASSOC-LANGUAGE, a tag of RFC 5646: another language that goes with it, such as written beside spoken.
    public var associatedLanguage: String? { attributes["ASSOC-LANGUAGE"] }
    /// INSTREAM-ID: which captions of the video it means, `CC1` to `CC4` or `SERVICE1` to `SERVICE63`.
    public var instreamID: String? { attributes["INSTREAM-ID"] }
    /// STABLE-RENDITION-ID (rfc8216bis §4.4.6.1): the same for the same rendition in every pathway and after every
    /// reload.
    public var stableID: String? { attributes["STABLE-RENDITION-ID"] }
    /// PATHWAY-ID, which steering's clones carry here; `.` where it is absent.
    public var pathwayID: String { attributes["PATHWAY-ID"] ?? "." }
    /// BIT-DEPTH of an audio sample in bits.
    public var bitDepth: Int? { try? attributes.decimalInteger("BIT-DEPTH") }
    /// SAMPLE-RATE of audio in hertz.
    public var sampleRate: Int? { try? attributes.decimalInteger("SAMPLE-RATE") }
    /// CHANNELS, such as `2` or `16/JOC`.
    public var channels: String? { attributes["CHANNELS"] }
    /// CHARACTERISTICS, a comma-separated list of uniform type identifiers, as written.
    public var characteristics: String? { attributes["CHARACTERISTICS"] }

    var group: Group { Group(type: type, id: groupID) }

    /// Reads a line; `rendition` gives the place of a URI.
    init(
        _ text: PlaylistText, _ line: Int, index: Int, _ limits: PlaylistLimits, rendition: (String) -> Int
    ) throws(PlaylistError) {
        attributes = try text.attributes(line, limits)
        self.index = index
        self.line = line + 1
        guard let type = Kind(rawValue: try attributes.required("TYPE")) else {
            throw text.error(.badValue, line, "TYPE is not AUDIO, VIDEO, SUBTITLES or CLOSED-CAPTIONS")
        }
        self.type = type
        groupID = try attributes.required("GROUP-ID")
        name = attributes["NAME"] ?? ""
        uri = type == .closedCaptions ? nil : attributes["URI"].flatMap { $0.isEmpty ? nil : $0 }
        renditionIndex = uri.map(rendition)
        isDefault = attributes.flag("DEFAULT")
        isAutoselect = isDefault || attributes.flag("AUTOSELECT")
        isForced = attributes.flag("FORCED")
    }
}
