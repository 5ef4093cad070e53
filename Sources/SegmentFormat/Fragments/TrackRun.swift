/// A `trun` (ISO/IEC 14496-12 §8.8.8): samples with contiguous data.
public struct TrackRun: Sendable {
    /// Optional fields of a run or of its samples, by flag (§8.8.8.1).
    struct Fields: OptionSet, Hashable, Sendable {
        let rawValue: UInt32
        static let dataOffset = Fields(rawValue: 0x001)
        static let firstSampleFlags = Fields(rawValue: 0x004)
        static let duration = Fields(rawValue: 0x100)
        static let size = Fields(rawValue: 0x200)
        static let flags = Fields(rawValue: 0x400)
        static let compositionOffset = Fields(rawValue: 0x800)
        /// The per-sample fields, in field order.
        static let ofSample: [Fields] = [.duration, .size, .flags, .compositionOffset]
    }

    let box: Box
    /// Box version. In version 0, composition offsets are unsigned.
    let version: UInt8
    let fields: Fields
    /// Number of samples.
    public let count: Int
    /// Start of the data relative to the track fragment's base; nil if the data follow the previous run.
    let dataOffset: Int32?
    let dataOffsetPosition: Int
    /// Flags of the first sample, if they differ from the others.
    let firstSampleFlags: UInt32?
    /// File offset of the first sample's fields, and bytes per sample.
    private let (entries, stride): (Int, Int)
    private let source: FileBytes

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
        entries = try reader.skip(Int(count) * stride)
        (self.box, self.version, self.fields, self.count) = (box, version, fields, Int(count))
        self.source = source
    }

    /// A field of the sample at an index; nil if the run's samples lack that field.
    func value(_ field: Fields, of sample: Int) -> UInt32? {
        guard fields.contains(field) else { return nil }
        let before = Fields.ofSample.count { $0.rawValue < field.rawValue && fields.contains($0) }
        return source.integer(at: entries + sample * stride + 4 * before)
    }

    /// Sum of a field over all samples; `standing` is the default if the samples lack that field.
    func sum(_ field: Fields, standing: UInt32) -> Int {
        guard fields.contains(field) else { return count * Int(standing) }
        return (0..<count).reduce(0) { $0 + Int(value(field, of: $1) ?? 0) }
    }

    /// Presentation time minus decode time of a sample, in ticks.
    func compositionOffset(of sample: Int) -> Int64 {
        guard let raw = value(.compositionOffset, of: sample) else { return 0 }
        return version == 0 ? Int64(raw) : Int64(Int32(bitPattern: raw))
    }
}
