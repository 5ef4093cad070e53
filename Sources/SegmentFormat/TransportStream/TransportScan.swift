/// One pass over the packets of a segment.
struct TransportScan {
    private(set) var mapPID: UInt16?
    private(set) var streams: [TransportStream.Stream] = []
    private(set) var beginsWithTables = false
    /// Where the first packet of a stream is, and what is before it if that was read with it.
    private(set) var beginning: (start: Int, lead: [UInt8]?)?
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
                takeMedia(packet, bytes, at: start)
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

    private mutating func takeMedia(_ packet: TransportPacket, _ bytes: FileBytes, at start: Int) {
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
