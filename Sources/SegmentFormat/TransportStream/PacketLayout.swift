/// The packets of a transport stream in a body: their size, and where the first one begins.
public struct PacketLayout: Hashable, Sendable {
    /// The byte with which each packet begins (ISO/IEC 13818-1 §2.4.3.2).
    public static let sync: UInt8 = 0x47
    /// 188 bytes; 192 with a time of four bytes before each packet; 204 with parity behind each.
    private static let sizes = [188, 192, 204]
    private static let timeCount = 4
    private static let most = 5

    /// The offset of the first packet: some origins put other bytes before it, or cut a stream at any byte.
    public private(set) var start: Int
    /// The number of bytes from one packet to the next.
    public let size: Int

    /// Creates a layout from known values.
    public init(start: Int, size: Int) {
        self.start = start
        self.size = size
    }

    /// Finds the first packets that follow each other: five in a row anywhere, or `least` before the end of the bytes. Nil if
    /// there are none.
    public init?(in bytes: [UInt8], atLeast least: Int) {
        // Bytes that look like packets by chance do so later than the real ones. All sizes are tried in one pass: of a body that is
        // no transport stream, each byte is looked at.
        for sync in bytes.indices where bytes[sync] == Self.sync {
            let found = Self.sizes.first { size in
                sync + (least - 1) * size < bytes.count && Self.hasPackets(bytes, behind: sync, of: size)
            }
            guard let found else { continue }
            size = found
            start = sync
            if found == 192, sync >= Self.timeCount {
                start -= Self.timeCount
            }
            return
        }
        return nil
    }

    /// True if the packets behind the first one, at `start`, begin with their byte.
    private static func hasPackets(_ bytes: [UInt8], behind start: Int, of size: Int) -> Bool {
        let end = min(bytes.count, start + most * size)
        return stride(from: start + size, to: end, by: size).allSatisfy { bytes[$0] == sync }
    }
}
