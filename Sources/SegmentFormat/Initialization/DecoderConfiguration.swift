/// The configuration record of an AVC or HEVC decoder: `avcC` or `hvcC` (ISO/IEC 14496-15 §5.3.3.1, §8.3.3.1).
struct DecoderConfiguration: Hashable, Sendable {
    /// A codec whose parameter sets may be in-band (inside the samples).
    enum Codec: Hashable, Sendable {
        case avc, hevc

        /// Maps a sample entry format to its codec; nil for other formats.
        init?(format: FourCC) {
            switch format {
            case "avc1", "avc3": self = .avc
            case "hvc1", "hev1": self = .hevc
            default: return nil
            }
        }
    }

    let codec: Codec
    /// Bytes of the length field in front of each NAL unit of a sample: 1, 2 or 4.
    let lengthSize: Int
    /// The NAL units of VPS (HEVC), SPS, SPS extensions (AVC) and PPS, in decoding order.
    let parameterSets: [[UInt8]]
    let payload: [UInt8]

    init(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) {
        var reader = BoxReader(source, box)
        payload = Array(source[box.payload])
        codec = box.type == "avcC" ? .avc : .hevc
        let record =
            switch codec {
            case .avc: try Self.avc(&reader)
            case .hevc: try Self.hevc(&reader)
            }
        parameterSets = record.sets
        // Two bits, one less than the length.
        lengthSize = Int(record.size & 3) + 1
        guard lengthSize != 3 else { throw reader.error(.badValue, "lengths of three bytes are not allowed") }
    }

    /// The parameter sets in sample format, each after its length; nil if one is too long for the length field.
    var inBand: [UInt8]? {
        var bytes: [UInt8] = []
        for unit in parameterSets {
            guard lengthSize == 4 || unit.count < 1 << (8 * lengthSize) else { return nil }
            for byteIndex in (0..<lengthSize).reversed() {
                bytes.append(UInt8(truncatingIfNeeded: unit.count >> (8 * byteIndex)))
            }
            bytes += unit
        }
        return bytes
    }

    private static func avc(_ reader: inout BoxReader) throws(SegmentFormatError) -> (size: UInt8, sets: [[UInt8]]) {
        // Version, profile, compatibility, level.
        try reader.skip(4)
        let size: UInt8 = try reader.integer()
        var sets = try units(&reader, count: Int(try reader.integer(UInt8.self) & 0x1F))
        let pictures = try units(&reader, count: Int(try reader.integer(UInt8.self)))
        // High profiles add chroma format and bit depths, then the SPS extensions. Old files omit these.
        if reader.remaining >= 4 {
            try reader.skip(3)
            sets += try units(&reader, count: Int(try reader.integer(UInt8.self)))
        }
        return (size, sets + pictures)
    }

    private static func hevc(_ reader: inout BoxReader) throws(SegmentFormatError) -> (size: UInt8, sets: [[UInt8]]) {
        try reader.skip(21)
        let size: UInt8 = try reader.integer()
        // Only VPS, SPS and PPS: other units, such as SEI, are not needed in-band.
        var sets: [UInt8: [[UInt8]]] = [:]
        for _ in 0..<(try reader.integer(UInt8.self)) {
            let type = try reader.integer(UInt8.self) & 0x3F
            sets[type, default: []] += try units(&reader, count: Int(try reader.integer(UInt16.self)))
        }
        return (size, [32, 33, 34].flatMap { sets[$0, default: []] })
    }

    private static func units(_ reader: inout BoxReader, count: Int) throws(SegmentFormatError) -> [[UInt8]] {
        var units: [[UInt8]] = []
        for _ in 0..<count {
            let length: UInt16 = try reader.integer()
            guard length > 0 else { throw reader.error(.badValue, "a parameter set is empty") }
            units.append(try reader.bytes(Int(length)))
        }
        return units
    }
}
