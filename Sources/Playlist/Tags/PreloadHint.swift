/// One EXT-X-PRELOAD-HINT (rfc8216bis §4.4.5.3): a resource that a player will need next, and may ask for already.
public struct PreloadHint: Sendable {
    /// TYPE.
    public enum Kind: Sendable {
        /// PART: the next partial segment.
        case part
        /// MAP: the next initialization section.
        case map
        /// A type that no text defines: players pass it over.
        case other
    }

    /// TYPE.
    public let kind: Kind
    /// URI as written.
    public let uri: String
    /// BYTERANGE-START, the first byte's place in the resource; 0 where it is absent.
    public let start: Int
    /// BYTERANGE-LENGTH in bytes; nil where the hint goes to the resource's end, which may not be known yet.
    public let length: Int?
    /// The number of the line, from 1.
    public let line: Int

    /// Whether the hint is for a part of the resource, so that a range must be asked for.
    public var isRange: Bool { start > 0 || length != nil }

    /// Reads a line.
    init(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let attributes = try text.attributes(line, limits)
        switch try attributes.required("TYPE") {
        case "PART": kind = .part
        case "MAP": kind = .map
        default: kind = .other
        }
        uri = try attributes.required("URI")
        start = try attributes.decimalInteger("BYTERANGE-START") ?? 0
        length = try attributes.decimalInteger("BYTERANGE-LENGTH")
        self.line = line + 1
        if let length, SubRange(offset: start, length: length) == nil {
            throw text.error(.badValue, line, "the byte range is empty or too large")
        }
    }
}
