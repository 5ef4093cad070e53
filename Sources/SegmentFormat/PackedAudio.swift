/// A Packed Audio Segment of AAC in ADTS frames (RFC 8216 §3.4), reduced to the parts that must match for substitution.
///
/// Each frame describes itself completely, so a matching segment is substituted without changes.
public struct PackedAudio: Hashable, Sendable {
    /// Presentation time of the first sample from the ID3 tag, in ticks of 90 kHz modulo 2^33.
    public let firstTime: UInt64
    /// Header of the first frame, which is taken to hold for all frames.
    let frames: ADTSHeader

    /// Parses the ID3 tags at the start of a segment and the header of the first frame.
    public init(_ source: ByteSource) throws(SegmentFormatError) {
        var position: Int = 0
        var count: Int = 0
        var time: UInt64? = nil
        while let tag = try ID3Tag(source, at: position) {
            count += 1
            guard count <= SegmentFormatLimits.tags else {
                throw SegmentFormatError(.overLimit, in: "ID3", at: position, "more than \(count - 1) tags")
            }
            if time == nil {
                time = try tag.timestamp(source)
            }
            position = tag.range.upperBound
        }
        guard let time else {
            throw SegmentFormatError(.missingBox, in: "ID3", at: 0, "no tag has the timestamp of the first sample")
        }
        firstTime = time
        frames = try ADTSHeader(source, at: position)
    }

    /// Returns the reason why this segment cannot replace another of the same time, without a full stop; nil if it can.
    public func mismatch(inPlaceOf other: PackedAudio) -> String? {
        guard frames != other.frames else { return nil }
        return "its sound is \(frames), and \(other.frames) there"
    }
}

/// The ADTS fields that stay constant while one decoder plays a stream (ISO/IEC 13818-7 §6.2.1).
struct ADTSHeader: Hashable, Sendable, CustomStringConvertible {
    /// True for MPEG-2, false for MPEG-4.
    let isMPEG2: Bool
    /// MPEG-4 audio object type: 2 is AAC-LC.
    let objectType: UInt8
    /// Index into the sampling rate table, from 0 for 96 kHz to 12 for 7350 Hz.
    let rateIndex: UInt8
    /// MPEG-4 channel configuration: 1 to 6 channels, or 7 for eight.
    let channels: UInt8
    private static let count = 7
    private static let rates = [
        96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]

    init(_ source: ByteSource, at position: Int) throws(SegmentFormatError) {
        func fault(_ code: SegmentFormatError.Code, _ reason: String) -> SegmentFormatError {
            SegmentFormatError(code, in: "ADTS", at: min(position, source.count), reason)
        }
        guard source.count - position >= Self.count else { throw fault(.truncated, "there is no frame") }
        let bytes = try source.bytes(position..<(position + Self.count)).bytes
        // The syncword of twelve ones, one version bit, and layer 0.
        guard bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0 else { throw fault(.badValue, "it is not an AAC frame") }
        isMPEG2 = bytes[1] & 0x08 != 0
        objectType = bytes[2] >> 6 + 1
        rateIndex = bytes[2] >> 2 & 0x0F
        channels = (bytes[2] & 1) << 2 | bytes[3] >> 6
        guard rateIndex < Self.rates.count else { throw fault(.badValue, "its sampling rate index is reserved") }
        guard channels > 0 else { throw fault(.badValue, "its channel layout is inside the frame") }
        let length = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5] >> 5)
        guard length > Self.count else { throw fault(.badSize, "its length is \(length)") }
        guard length <= source.count - position else { throw fault(.truncated, "its length is \(length)") }
    }

    /// As in "MPEG-4 AAC of object type 2 at 48000 Hz in channel configuration 1".
    var description: String {
        let generation = isMPEG2 ? 2 : 4
        return "MPEG-\(generation) AAC of object type \(objectType) at \(Self.rates[Int(rateIndex)]) Hz"
            + " in channel configuration \(channels)"
    }
}

/// An ID3 tag of version 2.3 or 2.4 at the start of packed audio (RFC 8216 §3.4; id3.org, ID3v2 §3).
struct ID3Tag {
    let range: Range<Int>
    /// File offsets of the frames and their padding.
    private let frames: Range<Int>
    /// True if frame sizes use seven bits per byte, as in version 2.4.
    private let isSynchsafe: Bool
    private static let headerCount = 10
    /// Owner of the PRIV frame that holds the timestamp of the first sample.
    private static let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]

    /// Parses the header of a tag at a file offset; nil if no tag begins there.
    init?(_ source: ByteSource, at position: Int) throws(SegmentFormatError) {
        guard source.count - position >= Self.headerCount else { return nil }
        let head = try source.bytes(position..<(position + Self.headerCount)).bytes
        guard head.starts(with: Array("ID3".utf8)) else { return nil }
        let flags = head[5]
        guard (3...4).contains(head[3]), flags & 0xC0 == 0 else {
            throw Self.fault(.badValue, at: position, "version 2.\(head[3]) with the flags \(flags) is not read")
        }
        guard let size = Self.number(head[6...], isSynchsafe: true) else {
            throw Self.fault(.badSize, at: position, "its size is not synchsafe")
        }
        let start = position + Self.headerCount
        let footer = flags & 0x10 == 0 ? 0 : Self.headerCount
        guard size <= SegmentFormatLimits.tagBytes else {
            throw Self.fault(.overLimit, at: position, "\(size) bytes are too many")
        }
        guard size + footer <= source.count - start else {
            throw Self.fault(.truncated, at: position, "its size is \(size)")
        }
        range = position..<(start + size + footer)
        frames = start..<(start + size)
        isSynchsafe = head[3] == 4
    }

    private static func fault(
        _ code: SegmentFormatError.Code, at position: Int, _ reason: String
    ) -> SegmentFormatError {
        SegmentFormatError(code, in: "ID3", at: position, reason)
    }

    /// Timestamp of Apple's PRIV frame, in ticks of 90 kHz; nil if the tag has none.
    func timestamp(_ source: ByteSource) throws(SegmentFormatError) -> UInt64? {
        let bytes = try source.bytes(frames)
        var position = frames.lowerBound
        // A tag is padded with zeros.
        while frames.upperBound - position > Self.headerCount, bytes.integer(UInt8.self, at: position) != 0 {
            let start = position + Self.headerCount
            guard let size = Self.number(bytes[(position + 4)..<(position + 8)], isSynchsafe: isSynchsafe),
                size <= frames.upperBound - start
            else { throw Self.fault(.badSize, at: position, "a frame's size is beyond its tag") }
            let content = bytes[start..<(start + size)]
            if bytes[position..<(position + 4)].elementsEqual("PRIV".utf8), content.starts(with: Self.owner) {
                guard content.count == Self.owner.count + 8 else {
                    throw Self.fault(.badSize, at: position, "its timestamp is not of 8 bytes")
                }
                return bytes.integer(UInt64.self, at: start + Self.owner.count) & (1 << 33 - 1)
            }
            position = start + size
        }
        return nil
    }

    /// Parses a big-endian integer of four bytes; nil if a synchsafe byte has its highest bit set.
    private static func number(_ bytes: ArraySlice<UInt8>, isSynchsafe: Bool) -> Int? {
        if isSynchsafe, bytes.contains(where: { $0 > 0x7F }) {
            return nil
        }
        let bits = isSynchsafe ? 7 : 8
        return bytes.reduce(0) { $0 << bits | Int($1) }
    }
}
