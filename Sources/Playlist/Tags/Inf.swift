/// EXTINF (RFC 8216 §4.3.2.1), `duration,title`: where its parts stand.
struct Inf {
    /// The digits of the duration.
    let duration: Range<Int>
    /// The rest after the comma, as written; empty where there is none.
    let title: Range<Int>

    /// Splits a tag's value.
    init(_ bytes: [UInt8], _ value: Range<Int>) {
        let comma = bytes.firstIndex(of: UInt8(ascii: ","), in: value) ?? value.upperBound
        duration = bytes.trimmed(value.lowerBound..<comma)
        title = min(comma + 1, value.upperBound)..<value.upperBound
    }

    /// The longest duration that is taken for one, in seconds: some 31 years.
    static let longest = 1e9

    /// The duration in seconds of the EXTINF on a line.
    static func seconds(_ text: PlaylistText, _ line: Int) throws(PlaylistError) -> Double {
        let inf = Inf(text.bytes, text.value(line))
        guard let seconds = text.bytes.decimalFloat(inf.duration), seconds <= longest else {
            throw text.error(.badValue, line, "the segment's duration is not a decimal number of seconds")
        }
        return seconds
    }
}
