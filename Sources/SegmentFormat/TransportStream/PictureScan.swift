/// Looks for the first slice of a video stream; where none is found, at whether a packet says that a decoder may begin
/// there.
///
/// The slice goes before what the packet says, which is also said of pictures that others follow which need what was
/// before (open groups of pictures: CRA, or I-pictures with a recovery point). In another rendition that is not there.
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

    /// Whether it is of a codec whose slices are known here.
    private var hasUnits: Bool { [0x1B, 0xDB, 0x24].contains(type) }

    /// Whether a slice is of a picture where a decoder can begin, whatever follows; nil of all else.
    private func isKeyFrame(unit head: UInt8) -> Bool? {
        switch type {
        case 0x1B, 0xDB: 1...5 ~= head & 0x1F && head & 0x80 == 0 ? head & 0x1F == 5 : nil
        case 0x24: head >> 1 & 0x3F < 32 ? 17...20 ~= head >> 1 & 0x3F : nil
        default: nil
        }
    }
}
