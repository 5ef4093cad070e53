/// Reads an `stsd` (ISO/IEC 14496-12 §8.5.2).
struct SampleEntryParser {
    private let source: FileBytes
    private let handler: FourCC

    /// Prepares the reading of entries of a track with this handler.
    init(_ source: FileBytes, handler: FourCC) {
        self.source = source
        self.handler = handler
    }

    /// The entries in order; there must be one at least, and as many as are announced.
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
        // Six reserved bytes, then the place of the data reference.
        try reader.take(6)
        var fields = try reader.bytes(2)
        var dimensions: [UInt16] = []
        switch handler {
        case "vide":
            try reader.take(16)
            dimensions = [try reader.integer(), try reader.integer()]
            try reader.take(50)
        case "soun": fields += try sound(&reader, tableVersion: tableVersion)
        default:
            // What else there is differs by format: all of it counts.
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

    /// Channels, bits and rate; QuickTime's longer entries have more fields in a table of version 0.
    private func sound(_ reader: inout BoxReader, tableVersion: UInt8) throws(SegmentFormatError) -> [UInt8] {
        let version: UInt16 = try reader.integer()
        try reader.take(6)
        let extra = tableVersion == 0 && version == 1 ? 16 : tableVersion == 0 && version == 2 ? 36 : 0
        return try reader.bytes(12 + extra)
    }

    /// What the boxes of an entry say.
    private struct Contents {
        var (setup, scheme): (Box?, Box?)
        var format: FourCC?
        var configuration: DecoderConfiguration?
        var protection: SampleEntry.Protection?
        var boxes: [SampleEntry.Inner] = []
    }

    private func collect(
        _ reader: inout BoxReader, _ contents: inout Contents, of entry: Box
    ) throws(SegmentFormatError) {
        // QuickTime ends a list of boxes by a number that is 0.
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
            throw SegmentFormatError(.truncated, entry.type, at: reader.end, "its last bytes are too few for a box")
        }
    }

    private func protection(_ box: Box) throws(SegmentFormatError) -> (FourCC?, SampleEntry.Protection?) {
        var reader = BoxReader(source, box)
        var found: [FourCC: Box] = [:]
        while let child = try reader.box() { found[child.type] = try child.once(found[child.type]) }
        guard let frma = found["frma"], let schm = found["schm"], let schi = found["schi"] else {
            throw SegmentFormatError(.missingBox, box.type, at: box.range.lowerBound, "it lacks frma, schm or schi")
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

    /// The `tenc` in a `schi` (ISO/IEC 23001-7 §8.2).
    private func encryption(_ box: Box) throws(SegmentFormatError) -> (vectorSize: Int, payload: [UInt8]) {
        var reader = BoxReader(source, box)
        while let child = try reader.box() {
            guard child.type == "tenc" else { continue }
            var fields = BoxReader(source, child)
            try fields.take(7)
            let vectorSize: UInt8 = try fields.integer()
            try fields.take(16)
            return (Int(vectorSize), Array(source[child.payload]))
        }
        throw SegmentFormatError(.missingBox, box.type, at: box.range.lowerBound, "it has no tenc")
    }
}
