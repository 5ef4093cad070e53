/// The packets of a transport stream in a body: their size, and where the first one begins.
public struct PacketLayout: Hashable, Sendable {
    /// The byte with which each packet begins (ISO/IEC 13818-1 §2.4.3.2).
    public static let sync: UInt8 = 0x47
    /// 188 bytes; 192 with a time of four bytes before each packet; 204 with parity behind each.
    private static let sizes = [188, 192, 204]
    private static let timeCount = 4
    private static let most = 5

    /// The offset of the first packet: some origins put other bytes before it, or cut a stream at any byte.
    public let start: Int
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
        var first: (sync: Int, size: Int)?
        for size in Self.sizes where bytes.count > (least - 1) * size {
            let end = min(bytes.count - (least - 1) * size, first?.sync ?? .max)
            let sync = (0..<end).first { Self.hasPackets(bytes, at: $0, of: size) }
            // Bytes that look like packets by chance do so later than the real ones.
            if let sync {
                first = (sync, size)
            }
        }
        guard let first else { return nil }
        size = first.size
        if size == 192, first.sync >= Self.timeCount {
            start = first.sync - Self.timeCount
        } else {
            start = first.sync
        }
    }

    private static func hasPackets(_ bytes: [UInt8], at start: Int, of size: Int) -> Bool {
        guard bytes[start] == sync else { return false }
        let end = min(bytes.count, start + most * size)
        return stride(from: start + size, to: end, by: size).allSatisfy { bytes[$0] == sync }
    }
}
