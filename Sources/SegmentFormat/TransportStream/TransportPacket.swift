/// The header of a packet of a transport stream (ISO/IEC 13818-1 §2.4.3.2).
struct TransportPacket {
    /// Bytes of every packet.
    static let size = 188
    /// The packet identifier, 13 bits.
    let pid: UInt16
    /// A section or a PES packet begins in it.
    let beginsUnit: Bool
    /// The number of the last packet of this identifier that carries anything before this one, modulo 16.
    let counterBefore: UInt8
    /// A decoder may begin here (`random_access_indicator`).
    let isRandomAccess: Bool
    /// What it carries, by its place in the file; empty of packets that carry none, or that are scrambled.
    let payload: Range<Int>

    /// Reads the packet at a place, of which all bytes must be there.
    init(_ bytes: FileBytes, at start: Int) throws(SegmentFormatError) {
        func byte(_ place: Int) -> UInt8 { bytes.integer(at: start + place) }
        guard byte(0) == 0x47 else {
            throw SegmentFormatError(.badValue, in: nil, at: start, "no packet of a transport stream begins here")
        }
        pid = UInt16(byte(1) & 0x1F) << 8 | UInt16(byte(2))
        beginsUnit = byte(1) & 0x40 != 0
        let control = byte(3)
        let hasAdaptation = control & 0x20 != 0
        let adaptation = hasAdaptation ? Int(byte(4)) + 1 : 0
        guard adaptation <= Self.size - 4 else {
            throw SegmentFormatError(.badSize, in: nil, at: start + 4, "an adaptation field is longer than its packet")
        }
        isRandomAccess = adaptation > 1 && byte(5) & 0x40 != 0
        // Packets that carry nothing are not counted.
        counterBefore = control & 0x10 == 0 ? control & 0x0F : (control &- 1) & 0x0F
        let carries = control & 0x10 != 0 && control & 0xC0 == 0
        payload = carries ? (start + 4 + adaptation)..<(start + Self.size) : start..<start
    }
}

extension TransportPacket {
    /// A packet that carries nothing, and tells that the counter of its identifier goes on from another number
    /// (`discontinuity_indicator`, ISO/IEC 13818-1 §2.4.3.5).
    static func discontinuity(pid: UInt16, counter: UInt8) -> [UInt8] {
        let head = [0x47, UInt8(pid >> 8), UInt8(truncatingIfNeeded: pid), 0x20 | counter, UInt8(size - 5), 0x80]
        return head + [UInt8](repeating: 0xFF, count: size - head.count)
    }
}

/// Puts a section of tables together from the packets of one identifier (ISO/IEC 13818-1 §2.4.4).
struct SectionAssembler {
    private var bytes: [UInt8] = []
    private var isWithin = false

    /// Takes what a packet carries; the section with its checksum, once it is whole.
    ///
    /// A section whose checksum does not fit is an error, `table` its name.
    mutating func take(
        _ packet: TransportPacket, _ source: FileBytes, table: String
    ) throws(SegmentFormatError) -> [UInt8]? {
        guard !packet.payload.isEmpty else { return nil }
        var payload = source[packet.payload]
        if packet.beginsUnit {
            // What the pointer leads over ends another section.
            payload = payload.dropFirst(1 + Int(payload[payload.startIndex]))
            (bytes, isWithin) = ([], true)
        }
        guard isWithin else { return nil }
        bytes += payload
        guard bytes.count >= 3 else { return nil }
        let length = 3 + (Int(bytes[1] & 0x0F) << 8 | Int(bytes[2]))
        guard bytes.count >= length else { return nil }
        isWithin = false
        let section = Array(bytes[..<length])
        // Identifier, numbers and checksum: less is no section of either table.
        guard length >= 12, Self.checksum(section) == 0 else {
            throw SegmentFormatError(.badValue, in: table, at: packet.payload.lowerBound, "its checksum does not fit")
        }
        return section
    }

    /// CRC-32 of MPEG (ISO/IEC 13818-1 annex A); 0 of a section with its own checksum.
    private static func checksum(_ section: [UInt8]) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in section {
            value ^= UInt32(byte) << 24
            for _ in 0..<8 { value = value & 0x8000_0000 == 0 ? value << 1 : value << 1 ^ 0x04C1_1DB7 }
        }
        return value
    }
}
