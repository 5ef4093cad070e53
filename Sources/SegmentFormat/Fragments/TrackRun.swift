/// A `trun` (ISO/IEC 14496-12 §8.8.8): samples that follow each other in the data.
public struct TrackRun: Sendable {
    /// The fields that a run or its samples may have, by their flags (§8.8.8.1).
    struct Fields: OptionSet, Hashable, Sendable {
        let rawValue: UInt32
        static let dataOffset = Fields(rawValue: 0x001)
        static let firstSampleFlags = Fields(rawValue: 0x004)
        static let duration = Fields(rawValue: 0x100)
        static let size = Fields(rawValue: 0x200)
        static let flags = Fields(rawValue: 0x400)
        static let compositionOffset = Fields(rawValue: 0x800)
        /// Those of each sample, in their order.
        static let ofSample: [Fields] = [.duration, .size, .flags, .compositionOffset]
    }

    /// The box itself.
    let box: Box
    /// 0: composition offsets have no sign.
    let version: UInt8
    /// What it has.
    let fields: Fields
    /// Number of samples.
    public let count: Int
    /// Where the data begin, from the base of the track fragment; nil where they follow what was before.
    let dataOffset: Int32?
    /// The place of that field.
    let dataOffsetPosition: Int
    /// The flags of the first sample, where they are not those of the rest.
    let firstSampleFlags: UInt32?
    /// Where the fields of the first sample are, and the bytes of each.
    private let (entries, stride): (Int, Int)
    private let source: FileBytes

    /// Reads a `trun` that lies in these bytes.
    init(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) {
        var reader = BoxReader(source, box)
        let (version, flags) = try reader.fullBox()
        let fields = Fields(rawValue: flags)
        let count: UInt32 = try reader.integer()
        guard count <= SegmentFormatLimits.samplesPerRun else {
            throw reader.error(.overLimit, "it announces \(count) samples")
        }
        dataOffsetPosition = reader.position
        dataOffset = fields.contains(.dataOffset) ? Int32(bitPattern: try reader.integer(UInt32.self)) : nil
        firstSampleFlags = fields.contains(.firstSampleFlags) ? try reader.integer() : nil
        stride = 4 * Fields.ofSample.count { fields.contains($0) }
        entries = try reader.take(Int(count) * stride)
        (self.box, self.version, self.fields, self.count) = (box, version, fields, Int(count))
        self.source = source
    }

    /// A field of a sample, counted from 0; nil where samples do not have it.
    func value(_ field: Fields, of sample: Int) -> UInt32? {
        guard fields.contains(field) else { return nil }
        let before = Fields.ofSample.count { $0.rawValue < field.rawValue && fields.contains($0) }
        return source.integer(at: entries + sample * stride + 4 * before)
    }

    /// The values of a field of all samples; `standing` is what holds where they do not have it.
    func sum(_ field: Fields, standing: UInt32) -> Int {
        guard fields.contains(field) else { return count * Int(standing) }
        return (0..<count).reduce(0) { $0 + Int(value(field, of: $1) ?? 0) }
    }

    /// How much later than it is decoded a sample is shown, in ticks.
    func compositionOffset(of sample: Int) -> Int64 {
        guard let raw = value(.compositionOffset, of: sample) else { return 0 }
        return version == 0 ? Int64(raw) : Int64(Int32(bitPattern: raw))
    }
}
