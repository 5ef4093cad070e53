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

    /// VALUE; nil where URI leads to the data.
    public var value: String? { attributes["VALUE"] }
    /// LANGUAGE of VALUE, a tag of RFC 5646.
    public var language: String? { attributes["LANGUAGE"] }
    /// FORMAT of what URI leads to (rfc8216bis §4.4.6.4): JSON, which is meant where it is absent, or RAW.
    public var format: String { attributes["FORMAT"] ?? "JSON" }

    /// Reads a line.
    init(_ text: PlaylistText, _ line: Int, index: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        attributes = try text.attributes(line, limits)
        self.index = index
        self.line = line + 1
        dataID = attributes["DATA-ID"] ?? ""
        uri = attributes["URI"]
    }
}
