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
    private var places: [UInt16: Int] = [:]
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
                if mapPID == nil { try associate(packet, bytes) }
            } else if packet.pid == mapPID {
                if streams.isEmpty { try readMap(packet, bytes) }
            } else if packet.pid != Self.nullPID {
                scanMedia(packet, bytes, at: start)
                if isDone { return }
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
        func length(_ place: Int) -> Int { Int(section[place] & 0x0F) << 8 | Int(section[place + 1]) }
        var position = 12 + length(10)
        while position + 5 <= section.count - 4 {
            let pid = UInt16(section[position + 1] & 0x1F) << 8 | UInt16(section[position + 2])
            let stream = TransportStream.Stream(pid: pid, type: section[position])
            guard places[pid] == nil else {
                throw SegmentFormatError(
                    .duplicateBox, in: "PMT", at: packet.payload.lowerBound, "a stream occurs twice")
            }
            places[pid] = streams.count
            if stream.isVideo { pictures[pid] = PictureScan(type: stream.type) }
            streams.append(stream)
            position += 5 + length(position + 3)
        }
        beginsWithTables = !hasMedia
    }

    private mutating func scanMedia(_ packet: TransportPacket, _ bytes: FileBytes, at start: Int) {
        if packet.pid >= Self.firstFreePID { hasMedia = true }
        guard let place = places[packet.pid] else { return }
        if beginning == nil {
            let isNear = bytes.origin == 0 && start <= SourceWindow.step
            beginning = (start, isNear ? Array(bytes[0..<start]) : nil)
        }
        if streams[place].counterBefore == nil { streams[place].counterBefore = packet.counterBefore }
        if packet.beginsUnit, streams[place].firstTime == nil {
            streams[place].firstTime = PacketizedHeader.time(bytes[packet.payload])
        }
        if pictures[packet.pid]?.isDone == false {
            pictures[packet.pid]?.scan(packet, bytes)
            streams[place].beginsAtKeyFrame = pictures[packet.pid]?.isKeyFrame
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
///
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

    init(type: UInt8) {
        self.type = type
    }

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
        if packets > Self.longest { isDone = true }
        guard hasBegun, !isDone else { return }
        for byte in bytes[packet.payload] {
            // The header of the unit is the byte behind 00 00 01.
            if last & 0xFF_FFFF == 1, let isKey = isKeyFrame(unit: byte) {
                (isDone, isKeyFrame) = (true, isKey)
                return
            }
            last = last << 8 | UInt32(byte)
        }
    }

    private var hasUnits: Bool { [0x1B, 0xDB, 0x24].contains(type) }

    /// True if the NAL unit is a slice of a closed random access picture; nil if it is not a slice.
    private func isKeyFrame(unit head: UInt8) -> Bool? {
        switch type {
        case 0x1B, 0xDB: 1...5 ~= head & 0x1F && head & 0x80 == 0 ? head & 0x1F == 5 : nil
        case 0x24: head >> 1 & 0x3F < 32 ? 17...20 ~= head >> 1 & 0x3F : nil
        default: nil
        }
    }
}
