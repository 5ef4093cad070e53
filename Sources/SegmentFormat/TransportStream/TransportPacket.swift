/// The header of a packet of a transport stream (ISO/IEC 13818-1 §2.4.3.2).
struct TransportPacket {
    static let size = 188
    /// The packet identifier, 13 bits.
    let pid: UInt16
    /// True if a section or a PES packet begins in this packet (`payload_unit_start_indicator`).
    let beginsUnit: Bool
    /// Continuity counter of the previous packet with payload of this PID, modulo 16.
    let counterBefore: UInt8
    /// True if a decoder can start here (`random_access_indicator`).
    let isRandomAccess: Bool
    /// File offsets of the payload; empty if there is none or if it is scrambled.
    let payload: Range<Int>

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
        // Packets without payload do not increment the counter.
        counterBefore = control & 0x10 == 0 ? control & 0x0F : (control &- 1) & 0x0F
        let carries = control & 0x10 != 0 && control & 0xC0 == 0
        payload = carries ? (start + 4 + adaptation)..<(start + Self.size) : start..<start
    }
}

extension TransportPacket {
    /// Builds a packet without payload that announces a jump of the continuity counter (`discontinuity_indicator`,
    /// ISO/IEC 13818-1 §2.4.3.5).
    static func discontinuity(pid: UInt16, counter: UInt8) -> [UInt8] {
        let head = [0x47, UInt8(pid >> 8), UInt8(truncatingIfNeeded: pid), 0x20 | counter, UInt8(size - 5), 0x80]
        return head + [UInt8](repeating: 0xFF, count: size - head.count)
    }
}

/// Assembles a table section from the packets of one PID (ISO/IEC 13818-1 §2.4.4).
struct SectionAssembler {
    private var bytes: [UInt8] = []
    private var isWithin = false

    /// Appends the payload of a packet; returns the section with its checksum once it is complete.
    ///
    /// Throws if the checksum is wrong; `table` names the table in the error.
    mutating func append(
        _ packet: TransportPacket, _ source: FileBytes, table: String
    ) throws(SegmentFormatError) -> [UInt8]? {
        guard !packet.payload.isEmpty else { return nil }
        var payload = source[packet.payload]
        if packet.beginsUnit {
            // The bytes skipped by the pointer field end the previous section.
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
        // Id, numbers and checksum: a shorter section is neither a PAT nor a PMT.
        guard length >= 12, Self.checksum(section) == 0 else {
            throw SegmentFormatError(.badValue, in: table, at: packet.payload.lowerBound, "its checksum does not fit")
        }
        return section
    }

    /// MPEG CRC-32 (ISO/IEC 13818-1 annex A); 0 for a valid section that includes its checksum.
    private static func checksum(_ section: [UInt8]) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in section {
            value ^= UInt32(byte) << 24
            for _ in 0..<8 { value = value & 0x8000_0000 == 0 ? value << 1 : value << 1 ^ 0x04C1_1DB7 }
        }
        return value
    }
}
