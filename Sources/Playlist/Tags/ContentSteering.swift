/// EXT-X-CONTENT-STEERING (rfc8216bis §4.4.6.6): who says which pathway is to be used.
public struct ContentSteering: Sendable {
    /// SERVER-URI of the steering manifest as written.
    public let serverURI: String
    /// PATHWAY-ID of the pathway to begin with; nil for that of the first variant.
    public let pathwayID: String?
    /// The number of the line, from 1.
    public let line: Int

    /// Reads a line; nil where it names no server.
    init?(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let attributes = try text.attributes(line, limits)
        guard let uri = attributes["SERVER-URI"], !uri.isEmpty else { return nil }
        serverURI = uri
        pathwayID = attributes["PATHWAY-ID"]
        self.line = line + 1
    }
}
