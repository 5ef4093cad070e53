/// One EXT-X-IMAGE-STREAM-INF, which no RFC defines and the field has for thumbnails: a media playlist of pictures.
///
/// Players fetch it only to show what a seek would lead to, and play without it: so it is no rendition here.
public struct ImageVariant: Sendable {
    /// The place among the playlist's image variants, from 0.
    public let index: Int
    /// URI as written.
    public let uri: String
    /// All attributes.
    public let attributes: AttributeList
    /// The number of the line, from 1.
    public let line: Int

    /// RESOLUTION of one picture; nil where it is absent, or none.
    public var resolution: Resolution? { try? attributes.resolution("RESOLUTION") }

    /// Reads a line; nil where it has no URI: the line then stays as it is.
    init?(_ text: PlaylistText, _ line: Int, index: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        attributes = try text.attributes(line, limits)
        guard let uri = attributes["URI"], !uri.isEmpty else { return nil }
        self.uri = uri
        self.index = index
        self.line = line + 1
    }
}
