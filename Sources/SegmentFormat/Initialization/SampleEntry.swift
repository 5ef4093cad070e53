/// A sample entry (ISO/IEC 14496-12 §8.5.2), reduced to the parts that must match for two tracks to be spliced.
struct SampleEntry: Hashable, Sendable {
    /// The type as written: `avc1`, `mp4a`, or `encv` and `enca` for encrypted samples.
    let type: FourCC
    /// The original type, before encryption.
    let format: FourCC
    /// Width and height in pixels; empty unless video.
    let dimensions: [UInt16]
    /// The decoder configuration of AVC and HEVC.
    let configuration: DecoderConfiguration?
    /// How samples are encrypted; nil if they are not.
    let protection: Protection?
    /// The fixed fields that are compared.
    let fields: [UInt8]
    /// The child boxes that are compared, in order, with bit rates blanked.
    let boxes: [Inner]

    /// A child box that is compared byte for byte.
    struct Inner: Hashable, Sendable {
        let type: FourCC
        let payload: [UInt8]
        /// True if the box describes the picture's shape, colour or brightness, which parameter sets describe too.
        var describesPicture: Bool { Self.ofPicture.contains(type) }
        private static let ofPicture: Set<FourCC> = ["colr", "pasp", "clap", "mdcv", "clli", "fiel", "chrm", "amve"]
    }

    /// The parameters of Common Encryption (ISO/IEC 23001-7).
    struct Protection: Hashable, Sendable {
        /// The scheme: `cenc`, `cbcs` …
        let scheme: FourCC
        /// Bytes of the initialization vector per sample; 0 if it is constant.
        let vectorSize: Int
        /// Scheme version and payload of `tenc` (with the key id), which must match.
        let terms: [UInt8]
    }

    /// The codec, if its parameter sets can be put in-band; else nil.
    var codec: DecoderConfiguration.Codec? { DecoderConfiguration.Codec(format: format) }
}

/// Parses an `stsd` (ISO/IEC 14496-12 §8.5.2).
struct SampleEntryParser {
    private let source: FileBytes
    private let handler: FourCC
    init(_ source: FileBytes, handler: FourCC) {
        self.source = source
        self.handler = handler
    }

    /// Parses the entries in order. There must be at least one, and as many as announced.
    func entries(of box: Box) throws(SegmentFormatError) -> [SampleEntry] {
        var reader = BoxReader(source, box)
        let (version, _) = try reader.fullBox()
        let count: UInt32 = try reader.integer()
        var entries: [SampleEntry] = []
        while let entry = try reader.box() {
            try reader.checkRoom(entries.count)
            entries.append(try self.entry(entry, tableVersion: version))
        }
        guard entries.count == count, count > 0 else {
            throw reader.error(.badValue, "it announces \(count) sample entries and has \(entries.count)")
        }
        return entries
    }

    private func entry(_ box: Box, tableVersion: UInt8) throws(SegmentFormatError) -> SampleEntry {
        var reader = BoxReader(source, box)
        // Six reserved bytes, then the data reference index.
        try reader.skip(6)
        var fields = try reader.bytes(2)

        var dimensions: [UInt16] = []
        switch handler {
        case "vide":
            try reader.skip(16)
            dimensions = [try reader.integer(), try reader.integer()]
            try reader.skip(50)
        case "soun": fields += try sound(&reader, tableVersion: tableVersion)
        default:
            // The remaining fields depend on the format, so all bytes are compared.
            return SampleEntry(
                type: box.type, format: box.type, dimensions: [], configuration: nil, protection: nil,
                fields: fields + reader.rest(), boxes: [])
        }

        var inner = Contents()
        try collect(&reader, &inner, of: box)
        return SampleEntry(
            type: box.type, format: inner.format ?? box.type, dimensions: dimensions,
            configuration: inner.configuration, protection: inner.protection, fields: fields, boxes: inner.boxes)
    }

    /// Reads channels, sample size and rate. QuickTime's longer entries have more fields in a table of version 0.
    private func sound(_ reader: inout BoxReader, tableVersion: UInt8) throws(SegmentFormatError) -> [UInt8] {
        let version: UInt16 = try reader.integer()
        try reader.skip(6)
        var extra = 0
        if tableVersion == 0, version == 1 {
            extra = 16
        } else if tableVersion == 0, version == 2 {
            extra = 36
        }
        return try reader.bytes(12 + extra)
    }

    private struct Contents {
        var setup: Box?
        var scheme: Box?
        var format: FourCC?
        var configuration: DecoderConfiguration?
        var protection: SampleEntry.Protection?
        var boxes: [SampleEntry.Inner] = []
    }

    private func collect(
        _ reader: inout BoxReader, _ contents: inout Contents, of entry: Box
    ) throws(SegmentFormatError) {
        // QuickTime ends a list of boxes with a 32-bit zero.
        while reader.remaining >= 8, let box = try reader.box() {
            try reader.checkRoom(contents.boxes.count)
            switch box.type {
            case "avcC", "hvcC":
                contents.setup = try box.once(contents.setup)
                contents.configuration = try DecoderConfiguration(source, box)
            case "sinf":
                contents.scheme = try box.once(contents.scheme)
                (contents.format, contents.protection) = try protection(box)
            case "btrt", "free", "skip": break
            default:
                let payload = BitRates.removed(from: Array(source[box.payload]), of: box.type)
                contents.boxes.append(SampleEntry.Inner(type: box.type, payload: payload))
            }
        }
        guard reader.rest().allSatisfy({ $0 == 0 }) else {
            throw SegmentFormatError(.truncated, of: entry.type, at: reader.end, "its last bytes are too few for a box")
        }
    }

    private func protection(_ box: Box) throws(SegmentFormatError) -> (FourCC?, SampleEntry.Protection?) {
        var reader = BoxReader(source, box)
        var found: [FourCC: Box] = [:]
        while let child = try reader.box() {
            found[child.type] = try child.once(found[child.type])
        }
        guard let frma = found["frma"], let schm = found["schm"], let schi = found["schi"] else {
            throw box.error(.missingBox, "it lacks frma, schm or schi")
        }
        var original = BoxReader(source, frma)
        var scheme = BoxReader(source, schm)
        _ = try scheme.fullBox()
        let terms = try encryption(schi)
        return (
            FourCC(try original.integer()),
            SampleEntry.Protection(
                scheme: FourCC(try scheme.integer()), vectorSize: terms.vectorSize,
                terms: try scheme.bytes(4) + terms.payload)
        )
    }

    /// Parses the `tenc` in a `schi` (ISO/IEC 23001-7 §8.2).
    private func encryption(_ box: Box) throws(SegmentFormatError) -> (vectorSize: Int, payload: [UInt8]) {
        var reader = BoxReader(source, box)
        while let child = try reader.box() {
            guard child.type == "tenc" else { continue }
            var fields = BoxReader(source, child)
            try fields.skip(7)
            let vectorSize: UInt8 = try fields.integer()
            try fields.skip(16)
            return (Int(vectorSize), Array(source[child.payload]))
        }
        throw box.error(.missingBox, "it has no tenc")
    }
}

/// Blanks the bit rates in a sample entry's boxes, because renditions of the same audio differ in them.
enum BitRates {
    /// Returns the payload of a box with its bit rates set to 0. Unknown and malformed boxes are returned unchanged.
    static func removed(from payload: [UInt8], of type: FourCC) -> [UInt8] {
        var payload = payload
        switch type {
        case "esds": blankDescriptor(in: &payload)
        case "dac3" where payload.count >= 3:
            // bit_rate_code spans bytes 1 and 2 (ETSI TS 102 366 §F.4).
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
        // Version and flags are followed by an ES_Descriptor (tag 3) with its id and flags.
        guard let stream = descriptor(3, in: payload, at: 4), payload.count >= stream + 3 else { return }
        let flags = payload[stream + 2]
        var position = stream + 3
        if flags & 0x80 != 0 {
            position += 2
        }
        if flags & 0x40 != 0 {
            guard position < payload.count else { return }
            position += 1 + Int(payload[position])
        }
        if flags & 0x20 != 0 {
            position += 2
        }
        guard let configuration = descriptor(4, in: payload, at: position), payload.count >= configuration + 13 else {
            return
        }
        for index in (configuration + 2)..<(configuration + 13) {
            payload[index] = 0
        }
    }

    /// Index of a descriptor's contents, after its tag and its length (seven bits per byte); nil if the tag differs.
    private static func descriptor(_ tag: UInt8, in payload: [UInt8], at start: Int) -> Int? {
        guard start < payload.count, payload[start] == tag else { return nil }
        let length = payload[(start + 1)...].prefix(4)
        return length.firstIndex { $0 & 0x80 == 0 }.map { $0 + 1 }
    }
}
