/// The length of a frame of packed audio, which its first bytes state.
public enum AudioFrame {
    /// The number of bytes that show the length of any frame.
    public static let headCount = 7

    /// The number of bytes of the frame that begins with `head`; nil if none begins there, or its length is not stated.
    public static func length(_ head: [UInt8]) -> Int? {
        guard head.count >= headCount else { return nil }
        switch (head[0], head[1]) {
        case (0xFF, 0xF0...0xFF) where head[1] & 0xF6 == 0xF0: return lengthOfADTS(head)
        case (0xFF, 0xE0...0xFF): return lengthOfMPEG(head)
        case (0x0B, 0x77): return lengthOfAC3(head)
        default: return nil
        }
    }

    /// The number of bytes of the ID3 tag that begins with `head`, of ten bytes; nil if none begins there.
    public static func lengthOfTag(_ head: [UInt8]) -> Int? {
        guard head.count >= 10, head.starts(with: "ID3".utf8), head[6..<10].allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        let size = head[6..<10].reduce(0) { $0 << 7 | Int($1) }
        var length = 10 + size
        if head[5] & 0x10 != 0 {
            // A footer repeats the head.
            length += 10
        }
        return length
    }

    /// ISO/IEC 13818-7 §6.2.
    private static func lengthOfADTS(_ head: [UInt8]) -> Int? {
        let length = Int(head[3] & 3) << 11 | Int(head[4]) << 3 | Int(head[5] >> 5)
        guard length > headCount else { return nil }
        return length
    }

    /// ISO/IEC 11172-3 §2.4.1.3 and 13818-3 §2.4.2.3; nil also for the free format, which states no length.
    private static func lengthOfMPEG(_ head: [UInt8]) -> Int? {
        let version = Int(head[1] >> 3 & 3)
        let layer = 4 - Int(head[1] >> 1 & 3)
        let rateIndex = Int(head[2] >> 4)
        let frequencyIndex = Int(head[2] >> 2 & 3)
        let padding = Int(head[2] >> 1 & 1)
        guard version != 1, layer <= 3, (1...14).contains(rateIndex), frequencyIndex < 3 else { return nil }

        let isFirstVersion = version == 3
        let divisor =
            switch version {
            case 3: 1
            case 2: 2
            default: 4
            }
        let frequency = [44_100, 48_000, 32_000][frequencyIndex] / divisor
        let rate = rates(isFirstVersion, layer)[rateIndex - 1] * 1000
        switch layer {
        case 1: return (12 * rate / frequency + padding) * 4
        case 3 where !isFirstVersion: return 72 * rate / frequency + padding
        default: return 144 * rate / frequency + padding
        }
    }

    /// Bit rates in kbit/s, without the free format.
    private static func rates(_ isFirstVersion: Bool, _ layer: Int) -> [Int] {
        switch (isFirstVersion, layer) {
        case (true, 1): [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448]
        case (true, 2): [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
        case (true, _): [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
        case (false, 1): [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256]
        case (false, _): [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
        }
    }

    /// ETSI TS 102 366 §4.4.1 (AC-3) and §E.1.3.1 (E-AC-3).
    private static func lengthOfAC3(_ head: [UInt8]) -> Int? {
        let isEnhanced = head[5] >> 3 > 10
        if isEnhanced {
            return (Int(head[2] & 7) << 8 | Int(head[3]) + 1) * 2
        }
        let code = Int(head[4] & 0x3F)
        guard code < 38 else { return nil }
        let rate = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640][code / 2]
        switch head[4] >> 6 {
        case 0: return rate * 4
        case 1: return (rate * 1_536_000 / (44_100 * 16) + code % 2) * 2
        case 2: return rate * 6
        default: return nil
        }
    }
}
