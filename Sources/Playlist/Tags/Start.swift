/// EXT-X-START (RFC 8216 §4.3.5.2): the preferred start of playback.
public struct Start: Hashable, Sendable {
    /// TIME-OFFSET in seconds from the start; if negative, from the end of the last segment.
    public let timeOffset: Double
    /// PRECISE=YES: samples before the offset should not be shown.
    public let isPrecise: Bool
    /// Line number, from 1.
    public let line: Int

    /// Parses a line; nil without an offset. Players then start at their default position.
    init?(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let attributes = try text.attributes(line, limits)
        guard let offset = attributes.signedFloat("TIME-OFFSET") else { return nil }
        timeOffset = offset
        isPrecise = attributes.flag("PRECISE")
        self.line = line + 1
    }

    /// Returns the value with TIME-OFFSET as the first attribute, because libavformat ignores it elsewhere; nil if it
    /// is first already.
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
