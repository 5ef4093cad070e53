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
