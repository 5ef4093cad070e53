/// One pass over the packets of a segment.
struct TransportScan {
    private(set) var mapPID: UInt16?
    private(set) var streams: [TransportStream.Stream] = []
    private(set) var beginsWithTables = false
    private var hasMedia = false
    private var association = SectionAssembler()
    private var map = SectionAssembler()
    /// The places in `streams` by packet identifier.
    private var places: [UInt16: Int] = [:]
    /// The first picture of each video stream, while nothing is known of it.
    private var pictures: [UInt16: PictureScan] = [:]

    /// Nothing more is to be learnt.
    var isDone: Bool {
        !streams.isEmpty && streams.allSatisfy { $0.firstTime != nil } && pictures.values.allSatisfy(\.isDone)
    }

    /// Takes whole packets.
    mutating func take(_ bytes: FileBytes) throws(SegmentFormatError) {
        for start in stride(from: bytes.range.lowerBound, to: bytes.range.upperBound, by: TransportPacket.size) {
            let packet = try TransportPacket(bytes, at: start)
            if packet.pid == 0 {
                if mapPID == nil { try associate(packet, bytes) }
            } else if packet.pid == mapPID {
                if streams.isEmpty { try readMap(packet, bytes) }
            } else if packet.pid != Self.nullPID {
                try takeMedia(packet, bytes)
                if isDone { return }
            }
        }
    }

    /// Stuffing, which may stand anywhere.
    private static let nullPID: UInt16 = 0x1FFF
    /// PMT, SDT and other tables that broadcasters have have their own identifiers below this.
    private static let firstFreePID: UInt16 = 0x20

    private mutating func associate(_ packet: TransportPacket, _ bytes: FileBytes) throws(SegmentFormatError) {
        guard let section = try association.take(packet, bytes, table: "PAT"), section[0] == 0 else { return }
        // Four bytes a program, up to the checksum; program 0 is the network's own.
        for start in stride(from: 8, to: section.count - 7, by: 4) where section[start] | section[start + 1] != 0 {
            mapPID = UInt16(section[start + 2] & 0x1F) << 8 | UInt16(section[start + 3])
            return
        }
    }

    private mutating func readMap(_ packet: TransportPacket, _ bytes: FileBytes) throws(SegmentFormatError) {
        guard let section = try map.take(packet, bytes, table: "PMT"), section[0] == 2, section.count >= 16 else {
            return
        }
        func length(_ place: Int) -> Int { Int(section[place] & 0x0F) << 8 | Int(section[place + 1]) }
        var position = 12 + length(10)
        while position + 5 <= section.count - 4 {
            let pid = UInt16(section[position + 1] & 0x1F) << 8 | UInt16(section[position + 2])
            let stream = TransportStream.Stream(pid: pid, type: section[position])
            guard places[pid] == nil else {
                throw SegmentFormatError(
                    .duplicateBox, in: "PMT", at: packet.payload.lowerBound, "a stream stands twice")
            }
            places[pid] = streams.count
            if stream.isVideo { pictures[pid] = PictureScan(type: stream.type) }
            streams.append(stream)
            position += 5 + length(position + 3)
        }
        beginsWithTables = !hasMedia
    }

    private mutating func takeMedia(_ packet: TransportPacket, _ bytes: FileBytes) throws(SegmentFormatError) {
        if packet.pid >= Self.firstFreePID { hasMedia = true }
        guard let place = places[packet.pid] else { return }
        if packet.beginsUnit, streams[place].firstTime == nil {
            streams[place].firstTime = PacketizedHeader.time(bytes[packet.payload])
        }
        if pictures[packet.pid]?.isDone == false {
            pictures[packet.pid]?.take(packet, bytes)
            streams[place].beginsAtKeyFrame = pictures[packet.pid]?.isKeyFrame
        }
    }
}

/// The header of a PES packet (ISO/IEC 13818-1 §2.4.3.6).
enum PacketizedHeader {
    /// The presentation time in ticks of 90 kHz; nil where there is none, or the header goes beyond its first packet.
    static func time(_ payload: ArraySlice<UInt8>) -> UInt64? {
        let bytes = Array(payload.prefix(14))
        guard bytes.count == 14, bytes[0] == 0, bytes[1] == 0, bytes[2] == 1, bytes[7] & 0x80 != 0 else { return nil }
        let high = UInt64(bytes[9] >> 1 & 0x07) << 30
        let middle = UInt64(bytes[10]) << 22 | UInt64(bytes[11] >> 1) << 15
        return high | middle | UInt64(bytes[12]) << 7 | UInt64(bytes[13] >> 1)
    }
}

/// Looks for the first slice of a video stream, or for a packet that says that a decoder may begin there.
struct PictureScan {
    private let type: UInt8
    private var hasBegun = false
    private var packets = 0
    /// The last bytes, for a start code that two packets share.
    private var last: UInt32 = 0xFFFF_FFFF
    private(set) var isDone = false
    /// Nil while, or because, nothing tells.
    private(set) var isKeyFrame: Bool?

    /// Of a stream of this type.
    init(type: UInt8) {
        self.type = type
    }

    /// Packets that are looked at: parameter sets and messages are shorter.
    private static let longest = 64

    /// Takes the stream's next packet; what stands before its first picture begins does not count.
    mutating func take(_ packet: TransportPacket, _ bytes: FileBytes) {
        if packet.beginsUnit {
            isDone = hasBegun
            if packet.isRandomAccess, !hasBegun { (isDone, isKeyFrame) = (true, true) }
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

    /// Whether a slice is of a picture where a decoder can begin; nil of all else.
    private func isKeyFrame(unit head: UInt8) -> Bool? {
        switch type {
        case 0x1B, 0xDB: 1...5 ~= head & 0x1F && head & 0x80 == 0 ? head & 0x1F == 5 : nil
        case 0x24: head >> 1 & 0x3F < 32 ? 16...23 ~= head >> 1 & 0x3F : nil
        default: nil
        }
    }
}
