/// One EXT-X-RENDITION-REPORT (rfc8216bis §4.4.5.4): how far another rendition of the presentation has come.
public struct RenditionReport: Sendable {
    /// URI of the other media playlist as written, relative to this one.
    public let uri: String
    /// LAST-MSN: the media sequence number of its last segment, whole or not; nil where it is absent.
    public let lastMediaSequenceNumber: Int?
    /// LAST-PART: the Part Index of its last part; nil where it has none.
    public let lastPart: Int?
    /// The number of the line, from 1.
    public let line: Int

    /// Reads a line.
    init(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let attributes = try text.attributes(line, limits)
        uri = try attributes.required("URI")
        lastMediaSequenceNumber = try attributes.decimalInteger("LAST-MSN")
        lastPart = try attributes.decimalInteger("LAST-PART")
        self.line = line + 1
    }
}
