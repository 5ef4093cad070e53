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
        func byte(_ offset: Int) -> UInt8 { bytes.integer(at: start + offset) }
        guard byte(0) == 0x47 else {
            throw SegmentFormatError(.badValue, at: start, "no packet of a transport stream begins here")
        }

        pid = UInt16(byte(1) & 0x1F) << 8 | UInt16(byte(2))
        beginsUnit = byte(1) & 0x40 != 0
        let control = byte(3)
        let hasAdaptation = control & 0x20 != 0
        let adaptation = hasAdaptation ? Int(byte(4)) + 1 : 0
        guard adaptation <= Self.size - 4 else {
            throw SegmentFormatError(.badSize, at: start + 4, "an adaptation field is longer than its packet")
        }

        isRandomAccess = adaptation > 1 && byte(5) & 0x40 != 0
        let hasPayload = control & 0x10 != 0
        // Packets without payload do not increment the counter.
        let increment: UInt8 = hasPayload ? 1 : 0
        counterBefore = (control &- increment) & 0x0F

        let isScrambled = control & 0xC0 != 0
        if hasPayload, !isScrambled {
            payload = (start + 4 + adaptation)..<(start + Self.size)
        } else {
            payload = start..<start
        }
    }
}

extension TransportPacket {
    /// Builds a packet without payload that announces a counter jump (`discontinuity_indicator`, ISO/IEC 13818-1 §2.4.3.5).
    static func discontinuity(pid: UInt16, counter: UInt8) -> [UInt8] {
        let head = [0x47, UInt8(pid >> 8), UInt8(truncatingIfNeeded: pid), 0x20 | counter, UInt8(size - 5), 0x80]
        return head + [UInt8](repeating: 0xFF, count: size - head.count)
    }
}

/// Assembles a table section from the packets of one PID (ISO/IEC 13818-1 §2.4.4).
struct SectionAssembler {
    private var bytes: [UInt8] = []
    private var isWithin = false

    /// Appends the payload of a packet; returns the section with its checksum once it is complete. Throws if the
    /// checksum is wrong; `table` names the table in the error.
    mutating func append(
        _ packet: TransportPacket, _ source: FileBytes, table: String
    ) throws(SegmentFormatError) -> [UInt8]? {
        guard !packet.payload.isEmpty else { return nil }
        var payload = source[packet.payload]
        if packet.beginsUnit {
            // The bytes skipped by the pointer field end the previous section.
            payload = payload.dropFirst(1 + Int(payload[payload.startIndex]))
            bytes = []
            isWithin = true
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
            for _ in 0..<8 {
                let overflows = value & 0x8000_0000 != 0
                value <<= 1
                if overflows {
                    value ^= 0x04C1_1DB7
                }
            }
        }
        return value
    }
}

/// Collects tables, first times and first pictures in one pass over the packets of a segment.
struct TransportScan {
    private(set) var mapPID: UInt16?
    private(set) var streams: [TransportStream.Stream] = []
    private(set) var beginsWithTables = false
    /// File offset of the first media packet, and the bytes before it if they were in the same read.
    private(set) var beginning: (start: Int, lead: [UInt8]?)?
    private var hasMedia = false
    private var association = SectionAssembler()
    private var map = SectionAssembler()
    private var streamIndices: [UInt16: Int] = [:]
    /// Scan of the first picture of each video stream, by PID.
    private var pictures: [UInt16: PictureScan] = [:]

    /// True if more packets would not add information.
    var isDone: Bool {
        !streams.isEmpty && streams.allSatisfy { $0.firstTime != nil } && pictures.values.allSatisfy(\.isDone)
    }

    mutating func scan(_ bytes: FileBytes) throws(SegmentFormatError) {
        for start in stride(from: bytes.range.lowerBound, to: bytes.range.upperBound, by: TransportPacket.size) {
            let packet = try TransportPacket(bytes, at: start)
            if packet.pid == 0 {
                if mapPID == nil {
                    try associate(packet, bytes)
                }
            } else if packet.pid == mapPID {
                if streams.isEmpty {
                    try readMap(packet, bytes)
                }
            } else if packet.pid != Self.nullPID {
                scanMedia(packet, bytes, at: start)
                if isDone {
                    return
                }
            }
        }
    }

    /// PID of stuffing packets, which may occur anywhere.
    private static let nullPID: UInt16 = 0x1FFF
    /// PIDs below this are reserved for tables such as SDT.
    private static let firstFreePID: UInt16 = 0x20

    private mutating func associate(_ packet: TransportPacket, _ bytes: FileBytes) throws(SegmentFormatError) {
        guard let section = try association.append(packet, bytes, table: "PAT"), section[0] == 0 else { return }
        // Four bytes per program, up to the checksum. Program 0 is the network's.
        for start in stride(from: 8, to: section.count - 7, by: 4) where section[start] | section[start + 1] != 0 {
            mapPID = UInt16(section[start + 2] & 0x1F) << 8 | UInt16(section[start + 3])
            return
        }
    }

    private mutating func readMap(_ packet: TransportPacket, _ bytes: FileBytes) throws(SegmentFormatError) {
        guard let section = try map.append(packet, bytes, table: "PMT"), section[0] == 2, section.count >= 16 else {
            return
        }
        func length(_ offset: Int) -> Int { Int(section[offset] & 0x0F) << 8 | Int(section[offset + 1]) }
        var position = 12 + length(10)
        while position + 5 <= section.count - 4 {
            let pid = UInt16(section[position + 1] & 0x1F) << 8 | UInt16(section[position + 2])
            let stream = TransportStream.Stream(pid: pid, type: section[position])
            guard streamIndices[pid] == nil else {
                throw SegmentFormatError(
                    .duplicateBox, in: "PMT", at: packet.payload.lowerBound, "a stream occurs twice")
            }
            streamIndices[pid] = streams.count
            if stream.isVideo {
                pictures[pid] = PictureScan(type: stream.type)
            }
            streams.append(stream)
            position += 5 + length(position + 3)
        }
        beginsWithTables = !hasMedia
    }

    private mutating func scanMedia(_ packet: TransportPacket, _ bytes: FileBytes, at start: Int) {
        if packet.pid >= Self.firstFreePID {
            hasMedia = true
        }

        guard let streamIndex = streamIndices[packet.pid] else { return }
        if beginning == nil {
            let isNear = bytes.origin == 0 && start <= SourceWindow.step
            var before: [UInt8]?
            if isNear {
                before = Array(bytes[0..<start])
            }
            beginning = (start, before)
        }

        if streams[streamIndex].counterBefore == nil {
            streams[streamIndex].counterBefore = packet.counterBefore
        }
        if packet.beginsUnit, streams[streamIndex].firstTime == nil {
            streams[streamIndex].firstTime = PacketizedHeader.time(bytes[packet.payload])
        }
        if pictures[packet.pid]?.isDone == false {
            pictures[packet.pid]?.scan(packet, bytes)
            streams[streamIndex].beginsAtKeyFrame = pictures[packet.pid]?.isKeyFrame
        }
    }
}

/// The header of a PES packet (ISO/IEC 13818-1 §2.4.3.6).
enum PacketizedHeader {
    /// Presentation time in ticks of 90 kHz; nil if there is none, or if the header exceeds its first packet.
    static func time(_ payload: ArraySlice<UInt8>) -> UInt64? {
        let bytes = Array(payload.prefix(14))
        guard bytes.count == 14, bytes[0] == 0, bytes[1] == 0, bytes[2] == 1, bytes[7] & 0x80 != 0 else { return nil }
        let high = UInt64(bytes[9] >> 1 & 0x07) << 30
        let middle = UInt64(bytes[10]) << 22 | UInt64(bytes[11] >> 1) << 15
        return high | middle | UInt64(bytes[12]) << 7 | UInt64(bytes[13] >> 1)
    }
}

/// Determines whether a video stream begins at a key frame: from its first slice, else from `random_access_indicator`.
/// The slice takes precedence, because the indicator is also set in open groups of pictures (CRA, or I-pictures with a
/// recovery point). There, later pictures reference earlier ones, which another rendition does not have.
struct PictureScan {
    private let type: UInt8
    private var hasBegun = false
    private var packets = 0
    /// The latest bytes, for a start code that spans two packets.
    private var last: UInt32 = 0xFFFF_FFFF
    private(set) var isDone = false
    /// Nil if not known (yet).
    private(set) var isKeyFrame: Bool?
    init(type: UInt8) { self.type = type }
    /// Maximum packets examined. Parameter sets and messages are shorter.
    private static let longest = 64

    /// Scans the stream's next packet. Packets before the start of the first picture are ignored.
    mutating func scan(_ packet: TransportPacket, _ bytes: FileBytes) {
        if packet.beginsUnit {
            isDone = hasBegun
            if packet.isRandomAccess, !hasBegun {
                isKeyFrame = true
                isDone = !hasUnits
            }
            hasBegun = true
        }
        packets += 1
        if packets > Self.longest {
            isDone = true
        }
        guard hasBegun, !isDone else { return }
        for byte in bytes[packet.payload] {
            // The header of the unit is the byte behind 00 00 01.
            if last & 0xFF_FFFF == 1, let isKey = isKeyFrame(unit: byte) {
                isDone = true
                isKeyFrame = isKey
                return
            }
            last = last << 8 | UInt32(byte)
        }
    }

    private var hasUnits: Bool { [0x1B, 0xDB, 0x24].contains(type) }

    /// True if the NAL unit is a slice of a closed random access picture; nil if it is not a slice.
    private func isKeyFrame(unit head: UInt8) -> Bool? {
        switch type {
        case 0x1B, 0xDB:
            let type = head & 0x1F
            guard 1...5 ~= type, head & 0x80 == 0 else { return nil }
            return type == 5
        case 0x24:
            let type = head >> 1 & 0x3F
            guard type < 32 else { return nil }
            return 17...20 ~= type
        default: return nil
        }
    }
}
