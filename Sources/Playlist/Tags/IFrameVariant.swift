/// One EXT-X-I-FRAME-STREAM-INF (RFC 8216 §4.3.4.3): a media playlist of I-frames, for trick play.
public struct IFrameVariant: Sendable {
    /// The place among the playlist's I-frame variants, from 0.
    public internal(set) var index: Int
    /// URI as written.
    public let uri: String
    /// The place of the URI in `MultivariantPlaylist.renditionURIs`.
    public internal(set) var renditionIndex: Int
    /// BANDWIDTH, the peak, in bits a second; 0 where it is absent.
    public let bandwidth: Int
    /// RESOLUTION.
    public let resolution: Resolution?
    /// All attributes.
    public let attributes: AttributeList
    /// The number of the line, from 1.
    public let line: Int

    /// VIDEO: the GROUP-ID of its video renditions.
    public var video: String? { attributes["VIDEO"] }
    /// STABLE-VARIANT-ID (rfc8216bis §4.4.6.3).
    public var stableID: String? { attributes["STABLE-VARIANT-ID"] }
    /// PATHWAY-ID (rfc8216bis §4.4.6.3); `.` where it is absent.
    public var pathwayID: String { attributes["PATHWAY-ID"] ?? "." }

    /// Reads a line; `rendition` gives the place of a URI.
    init(
        _ text: PlaylistText, _ line: Int, index: Int, _ limits: PlaylistLimits, rendition: (String) -> Int
    ) throws(PlaylistError) {
        attributes = try text.attributes(line, limits)
        self.index = index
        self.line = line + 1
        uri = try attributes.required("URI")
        bandwidth = try attributes.decimalInteger("BANDWIDTH") ?? 0
        resolution = try attributes.resolution("RESOLUTION")
        renditionIndex = rendition(uri)
    }
}
