/// The first sample of a video track in a segment: where parameter sets are put.
struct FirstPicture {
    /// The place in the file, within the sample, behind a delimiter that must come first.
    let insertion: Int
    /// Bytes of the sample before it.
    let lead: Int

    /// NAL units that are looked at; pictures have few before their first slice.
    private static let units = 64

    /// Reads the lengths and types of a sample's NAL units up to its first slice, which must be of a picture where a
    /// decoder can begin.
    ///
    /// Lengths and types are in the clear even in encrypted samples (ISO/IEC 23001-7 §9.5). With `needsSets` the sample
    /// itself must have a sequence parameter set.
    init(
        _ sample: Range<Int>, of source: ByteSource, configuration: DecoderConfiguration
    ) throws(SegmentFormatError) {
        var window = SourceWindow(source)
        var (position, lead, hasSets) = (sample.lowerBound, 0, !configuration.parameterSets.isEmpty)
        for place in 0..<Self.units {
            guard position < sample.upperBound else { break }
            let unit = try Self.unit(at: position, in: sample, &window, configuration)
            if unit.isSlice {
                guard unit.isRandomAccess else {
                    throw Self.error(at: position, "its first picture is none where a decoder can begin")
                }
                guard hasSets else { throw Self.error(at: position, "it has no parameter sets, nor has its section") }
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

    /// One NAL unit with its length before it.
    private struct Unit {
        let count: Int
        let codec: DecoderConfiguration.Codec
        let type: UInt8

        /// A coded slice of a picture (H.264 table 7-1, H.265 table 7-1).
        var isSlice: Bool { codec == .avc ? 1...5 ~= type : type < 32 }
        /// An IDR picture, or of HEVC a BLA one. Not those (CRA, BLA_W_LP) that pictures may follow which need others
        /// from before: in another rendition there are none.
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
