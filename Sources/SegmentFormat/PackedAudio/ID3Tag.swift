/// An ID3 tag of version 2.3 or 2.4, as packed audio begins with it (RFC 8216 §3.4; id3.org, ID3v2 §3).
struct ID3Tag {
    /// Where it is in the file, with all that belongs to it.
    let range: Range<Int>
    /// Where its frames are, and what may be behind them.
    private let frames: Range<Int>
    /// Whether the sizes of frames leave out the highest bit of each byte, as they do from 2.4 on.
    private let isSynchsafe: Bool

    private static let headerCount = 10
    /// Who says in a PRIV frame when the first sample is due.
    private static let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]

    /// Reads the head of a tag; nil where none begins.
    init?(_ source: ByteSource, at position: Int) throws(SegmentFormatError) {
        guard source.count - position >= Self.headerCount else { return nil }
        let head = try source.bytes(position..<(position + Self.headerCount)).bytes
        guard head.starts(with: Array("ID3".utf8)) else { return nil }
        let flags = head[5]
        guard (3...4).contains(head[3]), flags & 0xC0 == 0 else {
            throw SegmentFormatError(
                .badValue, in: "ID3", at: position, "version 2.\(head[3]) with the flags \(flags) is not read")
        }
        guard let size = Self.number(head[6...], isSynchsafe: true) else {
            throw SegmentFormatError(.badSize, in: "ID3", at: position, "its size is no number")
        }
        let start = position + Self.headerCount
        let footer = flags & 0x10 == 0 ? 0 : Self.headerCount
        guard size <= SegmentFormatLimits.tagBytes else {
            throw SegmentFormatError(.overLimit, in: "ID3", at: position, "\(size) bytes are too many")
        }
        guard size + footer <= source.count - start else {
            throw SegmentFormatError(.truncated, in: "ID3", at: position, "its size is \(size)")
        }
        (range, frames, isSynchsafe) = (position..<(start + size + footer), start..<(start + size), head[3] == 4)
    }

    /// The time in its PRIV frame of Apple's, in ticks of 90 kHz; nil where it has none.
    func timestamp(_ source: ByteSource) throws(SegmentFormatError) -> UInt64? {
        let bytes = try source.bytes(frames)
        var position = frames.lowerBound
        // Zeros fill a tag up.
        while frames.upperBound - position > Self.headerCount, bytes.integer(UInt8.self, at: position) != 0 {
            let start = position + Self.headerCount
            guard let size = Self.number(bytes[(position + 4)..<(position + 8)], isSynchsafe: isSynchsafe),
                size <= frames.upperBound - start
            else { throw SegmentFormatError(.badSize, in: "ID3", at: position, "a frame's size is beyond its tag") }
            let content = bytes[start..<(start + size)]
            if bytes[position..<(position + 4)].elementsEqual("PRIV".utf8), content.starts(with: Self.owner) {
                guard content.count == Self.owner.count + 8 else {
                    throw SegmentFormatError(.badSize, in: "ID3", at: position, "its timestamp is not of 8 bytes")
                }
                return bytes.integer(UInt64.self, at: start + Self.owner.count) & (1 << 33 - 1)
            }
            position = start + size
        }
        return nil
    }

    /// A big-endian number of four bytes; nil where a byte of seven bits has more.
    private static func number(_ bytes: ArraySlice<UInt8>, isSynchsafe: Bool) -> Int? {
        if isSynchsafe, bytes.contains(where: { $0 > 0x7F }) { return nil }
        return bytes.reduce(0) { $0 << (isSynchsafe ? 7 : 8) | Int($1) }
    }
}
