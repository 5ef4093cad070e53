import SegmentFormat

/// Judges the end of a body by the sizes in the media itself.
/// A broken connection looks like the end of the body if the origin has sent no length, and a length may be wrong. In
/// doubt the body counts as complete: players accept odd ends, and text contains no size.
struct MediaExtent {
    let length: Int64
    /// True if it is ciphertext in blocks (RFC 8216 §4.3.2.4: AES-128 with CBC and padding).
    let isInBlocks: Bool
    /// True if the origin has sent the length or the end of the body. Some transport streams end with a partial packet:
    /// they count as truncated only if this is false.
    let isVouched: Bool
    let read: (_ offset: Int64, _ count: Int) -> [UInt8]

    /// The end of a body.
    enum End {
        /// Inside a box, a packet or a block.
        case cut
        /// The media has no sizes, or none that can be read.
        case unknown
        /// Behind a packet, a block or a box, where more could follow.
        case recognised
        /// Behind the media data of the only fragment.
        case proven
    }

    var isCut: Bool { end == .cut }

    var end: End {
        if isInBlocks { return length % Self.block == 0 ? .recognised : .cut }
        return endOfTransportStream ?? endOfBoxes
    }

    private static let block: Int64 = 16
    private static let packet: Int64 = 188

    /// ISO/IEC 13818-1 §2.4.3.2: packets of 188 bytes, each of which begins with 0x47. Nil for other media.
    private var endOfTransportStream: End? {
        let starts = stride(from: 0, to: min(length, 3 * Self.packet), by: Int64.Stride(Self.packet))
        guard length > 0, starts.allSatisfy({ read($0, 1) == [0x47] }) else { return nil }
        if length % Self.packet == 0 { return .recognised }
        return isVouched ? .unknown : .cut
    }

    /// ISO/IEC 14496-12 §4.2: boxes, each of which begins with its size.
    private var endOfBoxes: End {
        var (offset, fragments, last): (Int64, Int, [UInt8]) = (0, 0, [])
        for _ in 0..<Self.mostBoxes where offset < length {
            let head = read(offset, 16)
            guard let size = Self.size(head, isFirst: offset == 0) else { return .unknown }
            guard size <= length - offset else { return .cut }
            last = Array(head[4..<8])
            if last.elementsEqual("moof".utf8) { fragments += 1 }
            offset += size
        }
        guard length > 0, offset == length else { return .unknown }
        return fragments == 1 && last.elementsEqual("mdat".utf8) ? .proven : .recognised
    }

    /// Maximum number of top-level boxes; a file with more is not checked.
    private static let mostBoxes = 4096

    /// The size of the box, at least that of its header; nil if it extends to the end, or is invalid.
    private static func size(_ head: [UInt8], isFirst: Bool) -> Int64? {
        guard head.count >= 8 else { return isFirst ? nil : .max }
        let type = head[4..<8]
        let isType =
            isFirst
            ? MediaRecognition.firstBoxes.contains(String(decoding: type, as: UTF8.self))
            : type.allSatisfy { $0 >= 0x20 }
        guard isType else { return nil }
        let size = head[..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        guard size == 1 else { return size >= 8 ? size : nil }
        guard head.count == 16 else { return .max }
        let large = head[8...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return large >= 16 ? Int64(clamping: large) : nil
    }
}
