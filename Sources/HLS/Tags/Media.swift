/// One EXT-X-MEDIA (RFC 8216 §4.3.4.1): a rendition that variants refer to by its group.
public struct Media: Sendable {
    /// TYPE. The raw value is also the EXT-X-STREAM-INF attribute that refers to the group.
    public enum Kind: String, CaseIterable, Sendable {
        case audio = "AUDIO"
        case video = "VIDEO"
        case subtitles = "SUBTITLES"
        case closedCaptions = "CLOSED-CAPTIONS"
    }

    struct Group: Hashable, Sendable {
        let type: Kind
        let id: String
    }

    /// Index among the playlist's EXT-X-MEDIA lines, from 0.
    public internal(set) var index: Int
    /// TYPE.
    public let type: Kind
    /// GROUP-ID.
    public let groupID: String
    /// NAME; empty if absent, which players accept.
    public let name: String
    /// URI as written; nil for media muxed into the variants, and for closed captions.
    public let uri: String?
    /// Index of the URI in `MultivariantPlaylist.renditionURIs`; nil without a URI.
    public internal(set) var renditionIndex: Int?
    /// DEFAULT=YES.
    public let isDefault: Bool
    /// AUTOSELECT=YES, or DEFAULT=YES, which implies it.
    public let isAutoselect: Bool
    /// FORCED=YES.
    public let isForced: Bool
    /// All attributes, including those without a property.
    public let attributes: AttributeList
    /// Line number, from 1.
    public let line: Int
    /// LANGUAGE, an RFC 5646 tag.
    public var language: String? { attributes["LANGUAGE"] }
    /// INSTREAM-ID: the captions within the video, `CC1` to `CC4` or `SERVICE1` to `SERVICE63`.
    public var instreamID: String? { attributes["INSTREAM-ID"] }
    /// STABLE-RENDITION-ID (rfc8216bis §4.4.6.1): identifies the rendition across pathways and reloads.
    public var stableID: String? { attributes["STABLE-RENDITION-ID"] }
    /// PATHWAY-ID, which pathway clones of content steering have on this tag; `.` if absent.
    public var pathwayID: String { attributes["PATHWAY-ID"] ?? "." }
    /// CHANNELS, such as `2` or `16/JOC`.
    public var channels: String? { attributes["CHANNELS"] }
    /// CHARACTERISTICS, a comma-separated list of uniform type identifiers, as written.
    public var characteristics: String? { attributes["CHARACTERISTICS"] }
    var group: Group { Group(type: type, id: groupID) }

    init(_ text: PlaylistText, _ line: Int, index: Int, rendition: (String) -> Int) throws(PlaylistError) {
        attributes = text.attributes(line)
        self.index = index
        self.line = line + 1
        guard let type = Kind(rawValue: try attributes.required("TYPE")) else {
            throw text.error(.badValue, line: line, "TYPE is not AUDIO, VIDEO, SUBTITLES or CLOSED-CAPTIONS")
        }
        self.type = type
        groupID = try attributes.required("GROUP-ID")
        name = attributes["NAME"] ?? ""
        if type != .closedCaptions, let uri = attributes["URI"], !uri.isEmpty {
            self.uri = uri
        } else {
            uri = nil
        }
        renditionIndex = uri.map(rendition)
        isDefault = attributes.flag("DEFAULT")
        isAutoselect = isDefault || attributes.flag("AUTOSELECT")
        isForced = attributes.flag("FORCED")
    }
}
