/// EXT-X-PART-INF (rfc8216bis §4.4.3.7).
enum PartInf {
    /// PART-TARGET: the longest duration of a part, in seconds.
    static func target(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) -> Double {
        guard let target = try text.attributes(line, limits).decimalFloat("PART-TARGET"), target <= Inf.longest else {
            throw text.error(.missingAttribute, line, "EXT-X-PART-INF without PART-TARGET")
        }
        return target
    }
}
