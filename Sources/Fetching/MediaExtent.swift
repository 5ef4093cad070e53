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
        guard isFirst ? firstTypes.contains(where: { type.elementsEqual($0.utf8) }) : type.allSatisfy({ $0 >= 0x20 })
        else {
            return nil
        }
        let size = head[..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        guard size == 1 else { return size >= 8 ? size : nil }
        guard head.count == 16 else { return .max }
        let large = head[8...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return large >= 16 ? Int64(clamping: large) : nil
    }

    private static let firstTypes = ["ftyp", "styp", "moof", "moov", "sidx", "emsg", "prft"]
}

/// Distinguishes a page of text from media, by a body's first bytes.
///
/// Captive portals and broken origins answer 200 with HTML or JSON instead of a segment; neither may become a piece.
/// Nothing else is checked: players accept odd beginnings, and encrypted segments are noise. All of the bytes must be
/// text, so that noise is never taken for a page: for 16 random bytes that happens about once in ten million, even
/// without the page's first word.
package enum MediaSignature {
    /// The number of bytes to check.
    package static let length = 64
    /// Fewer random bytes may look like text.
    static let leastLength = 16

    /// Names the content of a body that is not media, for a message; nil if it may be media.
    package static func imposter(in bytes: some Collection<UInt8>) -> String? {
        var text = Array(bytes.prefix(length))
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text.removeFirst(3) }
        if let narrow = narrowed(text) { text = narrow }
        guard text.prefix(leastLength).allSatisfy(isText) else { return nil }
        let start = text.drop { isBlank($0) }
            .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        if start.isEmpty { return text.count >= leastLength ? "blank text" : nil }
        return words.first { start.starts(with: $0.word.utf8) }?.name
    }

    /// `<` begins markup of any kind; no media begins with printable text and `<`.
    private static let words: [(word: String, name: String)] = [
        ("<?xml", "XML"), ("<", "HTML"), ("{", "JSON"), ("[", "JSON"), ("#extm3u", "a playlist"),
    ]

    /// The text of UTF-16 whose characters are all of ASCII, with a byte order mark or without one; nil for anything else.
    private static func narrowed(_ text: [UInt8]) -> [UInt8]? {
        let hasMark = text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF])
        let units = text.dropFirst(hasMark ? 2 : 0).prefix(32)
        guard units.count >= 8 else { return nil }
        let (even, odd) = (stride(from: 0, to: units.count - 1, by: 2), stride(from: 1, to: units.count, by: 2))
        let all = Array(units)
        if even.allSatisfy({ all[$0] == 0 }) { return odd.map { all[$0] } }
        return odd.allSatisfy { all[$0] == 0 } ? even.map { all[$0] } : nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
    private static func isText(_ byte: UInt8) -> Bool { isBlank(byte) || (0x21...0x7E).contains(byte) }
}
