/// The point in a segment's first video sample where parameter sets are inserted.
struct FirstPicture {
    /// File offset of the insertion, after an access unit delimiter, which must come first.
    let insertion: Int
    /// Bytes of the sample before the insertion.
    let lead: Int

    /// Maximum NAL units examined. Pictures have few before their first slice.
    private static let units = 64

    /// Reads the lengths and types of a sample's NAL units up to the first slice, which must belong to a random access
    /// picture.
    ///
    /// Lengths and types are unencrypted even in encrypted samples (ISO/IEC 23001-7 §9.5). If `configuration` has no
    /// parameter sets, the sample must have a sequence parameter set.
    init(_ sample: Range<Int>, of source: ByteSource, configuration: DecoderConfiguration) throws(SegmentFormatError) {
        var window = SourceWindow(source)
        var (position, lead, hasSets) = (sample.lowerBound, 0, !configuration.parameterSets.isEmpty)
        for place in 0..<Self.units {
            guard position < sample.upperBound else { break }
            let unit = try Self.unit(at: position, in: sample, &window, configuration)
            if unit.isSlice {
                guard unit.isRandomAccess else {
                    throw Self.error(at: position, "its first picture is not a random access point")
                }
                guard hasSets else {
                    throw Self.error(at: position, "neither it nor its initialization section has parameter sets")
                }
                self.lead = lead
                insertion = sample.lowerBound + lead
                return
            }
            if unit.isDelimiter, place == 0 { lead = unit.count }
            hasSets = hasSets || unit.isSequenceParameterSet
            position += unit.count
        }
        throw Self.error(at: sample.lowerBound, "its first sample has no picture")
    }

    /// One NAL unit; `count` includes its length field.
    private struct Unit {
        let count: Int
        let codec: DecoderConfiguration.Codec
        let type: UInt8

        /// True for a coded slice (H.264 table 7-1, H.265 table 7-1).
        var isSlice: Bool { codec == .avc ? 1...5 ~= type : type < 32 }
        /// True for an IDR picture, or a BLA picture of HEVC. CRA and BLA_W_LP are excluded: pictures that follow them
        /// may reference earlier pictures, which the other rendition does not have.
        var isRandomAccess: Bool { codec == .avc ? type == 5 : 17...20 ~= type }
        var isDelimiter: Bool { type == (codec == .avc ? 9 : 35) }
        var isSequenceParameterSet: Bool { type == (codec == .avc ? 7 : 33) }
    }

    private static func unit(
        at position: Int, in sample: Range<Int>, _ window: inout SourceWindow, _ configuration: DecoderConfiguration
    ) throws(SegmentFormatError) -> Unit {
        let size = configuration.lengthSize
        guard position + size < sample.upperBound else { throw error(at: position, "its first sample is cut off") }
        let bytes = try window.bytes(position..<(position + size + 1))
        var length = 0
        for place in position..<(position + size) { length = length << 8 | Int(bytes.integer(UInt8.self, at: place)) }
        guard length > 0, length <= sample.upperBound - position - size else {
            throw error(at: position, "a NAL unit of \(length) bytes does not fit its first sample")
        }
        let head = bytes.integer(UInt8.self, at: position + size)
        let type = configuration.codec == .avc ? head & 0x1F : head >> 1 & 0x3F
        return Unit(count: size + length, codec: configuration.codec, type: type)
    }

    private static func error(at position: Int, _ reason: String) -> SegmentFormatError {
        SegmentFormatError(.badValue, "mdat", at: position, reason)
    }
}
