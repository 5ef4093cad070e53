/// Takes out of a sample entry's boxes what they say of bit rates, which may differ between renditions of one sound.
enum BitRates {
    /// The payload of a box with its bit rates as 0; of boxes that are not known, and of broken ones, as it is.
    static func removed(from payload: [UInt8], of type: FourCC) -> [UInt8] {
        var payload = payload
        switch type {
        case "esds": blankDescriptor(in: &payload)
        case "dac3" where payload.count >= 3:
            // bit_rate_code lies across bytes 1 and 2 (ETSI TS 102 366 §F.4).
            payload[1] &= 0xFC
            payload[2] &= 0x1F
        case "dec3" where payload.count >= 2:
            // data_rate is the first 13 bits (ETSI TS 102 366 §F.6).
            payload[0] = 0
            payload[1] &= 0x07
        default: break
        }
        return payload
    }

    /// Blanks the buffer size and the two rates of the DecoderConfigDescriptor (ISO/IEC 14496-1 §7.2.6.6).
    private static func blankDescriptor(in payload: inout [UInt8]) {
        // After version and flags: an ES_Descriptor (tag 3) with its id and flags.
        guard let stream = descriptor(3, in: payload, at: 4), payload.count >= stream + 3 else { return }
        let flags = payload[stream + 2]
        var position = stream + 3 + (flags & 0x80 == 0 ? 0 : 2)
        if flags & 0x40 != 0 {
            guard position < payload.count else { return }
            position += 1 + Int(payload[position])
        }
        position += flags & 0x20 == 0 ? 0 : 2
        guard let configuration = descriptor(4, in: payload, at: position), payload.count >= configuration + 13 else {
            return
        }
        for index in (configuration + 2)..<(configuration + 13) { payload[index] = 0 }
    }

    /// Where the contents of a descriptor begin, after its tag and a length of seven bits a byte; nil where another
    /// stands.
    private static func descriptor(_ tag: UInt8, in payload: [UInt8], at start: Int) -> Int? {
        guard start < payload.count, payload[start] == tag else { return nil }
        let length = payload[(start + 1)...].prefix(4)
        return length.firstIndex { $0 & 0x80 == 0 }.map { $0 + 1 }
    }
}
