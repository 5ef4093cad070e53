/// One EXT-X-SESSION-DATA (RFC 8216 §4.3.4.4).
public struct SessionData: Sendable {
    /// Index among the playlist's lines of this tag, from 0.
    public let index: Int
    /// DATA-ID; empty if absent.
    public let dataID: String
    /// URI as written; nil if VALUE contains the data.
    public let uri: String?
    /// All attributes.
    public let attributes: AttributeList
    /// Line number, from 1.
    public let line: Int

    /// VALUE; nil if URI refers to the data.
    public var value: String? { attributes["VALUE"] }
    /// LANGUAGE of VALUE, an RFC 5646 tag.
    public var language: String? { attributes["LANGUAGE"] }
    /// FORMAT of the resource at URI (rfc8216bis §4.4.6.4): JSON, the default, or RAW.
    public var format: String { attributes["FORMAT"] ?? "JSON" }

    init(_ text: PlaylistText, _ line: Int, index: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        attributes = try text.attributes(line, limits)
        self.index = index
        self.line = line + 1
        dataID = attributes["DATA-ID"] ?? ""
        uri = attributes["URI"]
    }
}

/// EXT-X-CONTENT-STEERING (rfc8216bis §4.4.6.6): the server that selects the pathway.
public struct ContentSteering: Sendable {
    /// SERVER-URI: URI of the steering manifest, as written.
    public let serverURI: String
    /// PATHWAY-ID: the initial pathway; nil for the pathway of the first variant.
    public let pathwayID: String?
    /// Line number, from 1.
    public let line: Int

    /// Parses a line; nil without SERVER-URI.
    init?(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let attributes = try text.attributes(line, limits)
        guard let uri = attributes["SERVER-URI"], !uri.isEmpty else { return nil }
        serverURI = uri
        pathwayID = attributes["PATHWAY-ID"]
        self.line = line + 1
    }
}
