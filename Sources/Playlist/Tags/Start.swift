/// EXT-X-START (RFC 8216 §4.3.5.2): where a player should begin.
public struct Start: Hashable, Sendable {
    /// TIME-OFFSET in seconds from the start, or, where it is negative, from the end of the last segment.
    public let timeOffset: Double
    /// PRECISE=YES: samples before the offset are not to be shown.
    public let isPrecise: Bool
    /// The number of the line, from 1.
    public let line: Int

    /// Reads a line; nil where it names no offset: players then begin where they always do.
    init?(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let attributes = try text.attributes(line, limits)
        guard let offset = attributes.signedFloat("TIME-OFFSET") else { return nil }
        timeOffset = offset
        isPrecise = attributes.flag("PRECISE")
        self.line = line + 1
    }

    /// The value with TIME-OFFSET in front, for libavformat reads it nowhere else; nil where it stands there already.
    static func reordered(_ attributes: AttributeList) -> String? {
        let list = attributes.attributes
        guard let place = list.firstIndex(where: { attributes.bytes.matches($0.name, "TIME-OFFSET") }), place > 0 else {
            return nil
        }
        let order = [place] + list.indices.filter { $0 != place }
        return order.map { attributes.bytes.text(list[$0].name.lowerBound..<list[$0].value.upperBound) }
            .joined(separator: ",")
    }
}
