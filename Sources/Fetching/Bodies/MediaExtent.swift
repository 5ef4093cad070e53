import SegmentFormat

/// Judges the end of a body by the sizes in the media itself.
/// A broken connection looks like the end of the body if the origin has sent no length, and a length may be wrong. In
/// doubt the body counts as complete: players accept odd ends, and most text contains no size.
struct MediaExtent {
    let length: Int64
    /// True if it is ciphertext in blocks (RFC 8216 §4.3.2.4: AES-128 with CBC and padding).
    let isInBlocks: Bool
    /// True if HTTP has proven the length. Some transport streams end with a partial packet, and some sound with a partial
    /// frame: they count as truncated only if this is false.
    let isVouched: Bool
    let read: (_ offset: Int64, _ count: Int) -> [UInt8]

    /// The end of a body.
    enum End {
        /// Inside a box, a packet, a frame, a cue or a block.
        case cut
        /// The media has no sizes, or none that can be read.
        case unknown
        /// Behind a packet, a frame, a block or a box, where more could follow.
        case recognised
        /// Behind the media data of the only fragment.
        case proven
    }

    var isCut: Bool { end == .cut }

    var end: End {
        if isInBlocks {
            return length % Self.block == 0 ? .recognised : .cut
        }
        guard length > 0 else { return .unknown }
        let beginning = read(0, MediaRecognition.firstLook)
        if beginsWithPackets(beginning) {
            return end(of: PacketLayout(start: 0, size: Self.packet))
        }
        switch endOfBoxes {
        case .unknown: break
        case let end: return end
        }
        if let end = endOfAudio(beginning) ?? endOfCues(beginning) {
            return end
        }
        guard let packets = laterPackets(beginning) else { return .unknown }
        return end(of: packets)
    }

    private static let block: Int64 = 16
    private static let packet = 188

    /// The end of media that may be cut by its packager.
    private var partial: End { isVouched ? .unknown : .cut }

    // MARK: Packets

    /// True if the body begins with up to three packets of 188 bytes, as most transport streams do.
    private func beginsWithPackets(_ beginning: [UInt8]) -> Bool {
        let starts = stride(from: 0, to: min(Int(clamping: length), 3 * Self.packet), by: Self.packet)
        return starts.allSatisfy { $0 < beginning.count && beginning[$0] == PacketLayout.sync }
    }

    /// Packets of another size, or behind other bytes: a part of a packet, or the head of a picture.
    private func laterPackets(_ beginning: [UInt8]) -> PacketLayout? {
        // A few bytes that look like packets are an accident in a long body.
        guard length > beginning.count else { return PacketLayout(in: beginning, atLeast: 3) }
        let near = PacketLayout(in: beginning, atLeast: 5)
        if let near, near.start < near.size {
            return near
        }
        return PacketLayout(in: read(0, MediaRecognition.length), atLeast: 5)
    }

    private func end(of packets: PacketLayout) -> End {
        (length - Int64(packets.start)) % Int64(packets.size) == 0 ? .recognised : partial
    }

    // MARK: Sound

    /// The end of frames that follow each other, behind tags; nil for other media, and for what is mixed with other bytes.
    private func endOfAudio(_ beginning: [UInt8]) -> End? {
        var window = ByteWindow(read: read, beginning)
        var offset: Int64 = 0
        while let count = AudioFrame.lengthOfTag(window.bytes(at: offset, 10)) {
            offset += Int64(count)
        }

        var frames = 0
        while offset < length, frames < Self.mostFrames {
            let head = window.bytes(at: offset, AudioFrame.headCount)
            guard let count = AudioFrame.length(head) else {
                let isCutHead = head.count < AudioFrame.headCount && [0xFF, 0x0B].contains(head[0])
                return isCutHead && frames > 1 ? partial : nil
            }
            frames += 1
            offset += Int64(count)
        }
        // Two heads at the right distance are no accident.
        guard frames > 1, offset >= length else { return nil }
        return offset == length ? .recognised : partial
    }

    /// Maximum number of frames; a body with more is not checked.
    private static let mostFrames = 65_536

    // MARK: Cues

    /// The end of a text of cues: inside a character, or in the times of a cue, behind which its text is missing. Nil for
    /// other media, and where the text shows nothing.
    private func endOfCues(_ beginning: [UInt8]) -> End? {
        guard MediaRecognition.isTextTrack(beginning), ![0xFF, 0xFE].contains(beginning[0]) else { return nil }
        let count = min(length, Self.longestLine)
        let line = read(length - count, Int(count)).reversed().prefix { $0 != 0x0A && $0 != 0x0D }.reversed()
        if Self.endsInsideCharacter(line) {
            return partial
        }
        let arrow = Array("-->".utf8)
        let isTime =
            line.contains(UInt8(ascii: ":"))
            && line.allSatisfy { (0x2E...0x3A).contains($0) || [0x20, 0x2C, 0x2D].contains($0) }
        return isTime || line.firstRange(of: arrow) != nil ? partial : nil
    }

    private static let longestLine: Int64 = 1024

    /// True if the last character, in UTF-8, has fewer bytes than its first one states.
    private static func endsInsideCharacter(_ text: some BidirectionalCollection<UInt8>) -> Bool {
        let tail = text.reversed().prefix(4)
        guard let first = tail.enumerated().first(where: { $0.element & 0xC0 != 0x80 }) else { return false }
        let count =
            switch first.element {
            case 0xC0...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF7: 4
            default: 1
            }
        return first.offset + 1 < count
    }

    // MARK: Boxes

    /// ISO/IEC 14496-12 §4.2: boxes, each of which begins with its size.
    private var endOfBoxes: End {
        var offset: Int64 = 0
        var fragments: Int = 0
        var last: [UInt8] = []
        var hasMedia: Bool = false
        for _ in 0..<Self.mostBoxes where offset < length {
            let head = read(offset, 16)
            guard let size = Self.size(head, isFirst: offset == 0) else { return .unknown }
            guard size <= length - offset else { return .cut }
            last = Array(head[4..<8])
            if last.elementsEqual("moof".utf8) {
                fragments += 1
            }
            if !Self.heads.contains(String(decoding: last, as: UTF8.self)) {
                hasMedia = true
            }
            offset += size
        }
        guard offset == length else { return .unknown }
        // The media data of a fragment is behind it, and nothing ends with what describes it.
        if !hasMedia || last.elementsEqual("moof".utf8) {
            return .cut
        }
        return fragments == 1 && last.elementsEqual("mdat".utf8) ? .proven : .recognised
    }

    /// Boxes that precede the media or its description.
    private static let heads: Set<String> = ["ftyp", "styp", "sidx", "ssix", "prft"]
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

/// Reads ahead, so that many short reads in order cost few system calls.
private struct ByteWindow {
    private static let count = 64 << 10
    let read: (_ offset: Int64, _ count: Int) -> [UInt8]
    private var start: Int64 = 0
    private var window: [UInt8]

    /// - Parameter beginning: the first bytes, which are there already.
    init(read: @escaping (Int64, Int) -> [UInt8], _ beginning: [UInt8]) {
        self.read = read
        window = beginning
    }

    mutating func bytes(at offset: Int64, _ count: Int) -> [UInt8] {
        let isInside = offset >= start && offset + Int64(count) <= start + Int64(window.count)
        if !isInside {
            start = offset
            window = read(offset, Self.count)
        }
        let first = Int(offset - start)
        return Array(window[first...].prefix(count))
    }
}
