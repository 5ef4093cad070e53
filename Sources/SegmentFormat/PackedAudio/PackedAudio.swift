/// A Packed Audio Segment of AAC in ADTS frames (RFC 8216 §3.4), read as far as it must fit its neighbours.
///
/// Each frame tells of itself all that a decoder needs, so a segment that fits stands in as it lies.
public struct PackedAudio: Hashable, Sendable {
    /// The presentation time of its first sample by its ID3 tag, in ticks of 90 kHz modulo 2^33.
    public let firstTime: UInt64
    /// What its first frame says of all of them.
    public let frames: ADTSHeader

    /// Reads the ID3 tags at the beginning of a segment, and the header of the frame behind them.
    public init(_ source: ByteSource) throws(SegmentFormatError) {
        var (position, count, time): (Int, Int, UInt64?) = (0, 0, nil)
        while let tag = try ID3Tag(source, at: position) {
            count += 1
            guard count <= SegmentFormatLimits.tags else {
                throw SegmentFormatError(.overLimit, in: "ID3", at: position, "more than \(count - 1) tags")
            }
            if time == nil { time = try tag.timestamp(source) }
            position = tag.range.upperBound
        }
        guard let time else {
            throw SegmentFormatError(.missingBox, in: "ID3", at: 0, "no tag says when the first sample is due")
        }
        (firstTime, frames) = (time, try ADTSHeader(source, at: position))
    }

    /// Why this segment cannot stand where another of the same time could: a sentence without a full stop; nil when it
    /// can.
    public func obstacle(inPlaceOf other: PackedAudio) -> String? {
        frames == other.frames ? nil : "its sound is \(frames), and \(other.frames) there"
    }
}
