/// One EXT-X-SESSION-DATA (RFC 8216 §4.3.4.4).
public struct SessionData: Sendable {
    /// The place among the playlist's lines of this tag, from 0.
    public let index: Int
    /// DATA-ID; empty where it is absent.
    public let dataID: String
    /// URI as written; nil where VALUE holds the data.
    public let uri: String?
    /// All attributes.
    public let attributes: AttributeList
    /// The number of the line, from 1.
    public let line: Int

    /// Reads a line.
    init(_ text: PlaylistText, _ line: Int, index: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        attributes = try text.attributes(line, limits)
        self.index = index
        self.line = line + 1
        dataID = attributes["DATA-ID"] ?? ""
        uri = attributes["URI"]
    }
}
