/// A `moof` (ISO/IEC 14496-12 §8.8.4).
struct MovieFragment: Sendable {
    let box: Box
    let tracks: [TrackFragment]
    /// Bytes that include the box.
    let source: FileBytes

    init(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) {
        var reader = BoxReader(source, box)
        var tracks: [TrackFragment] = []
        while let child = try reader.box() {
            if child.type == "traf" {
                tracks.append(try TrackFragment(source, child))
            }
        }
        self.box = box
        self.tracks = tracks
        self.source = source
    }
}

/// A `traf` (ISO/IEC 14496-12 §8.8.6): the samples of one track in a movie fragment.
struct TrackFragment: Sendable {
    let box: Box
    let header: TrackFragmentHeader
    /// Decode time of the first sample (`tfdt`), in ticks of the track; nil if the box is missing.
    let decodeTime: UInt64?
    let runs: [TrackRun]
    /// The boxes that describe encryption, in order: `senc`, `saiz`, `saio`, PIFF's `uuid`, key sample groups (`sgpd`).
    let auxiliary: [Box]
    /// True if a `subs` box divides samples into subsamples by size.
    let hasSubsamples: Bool

    init(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) {
        var reader = BoxReader(source, box)
        var header: Box? = nil
        var time: Box? = nil
        var runs: [TrackRun] = []
        var auxiliary: [Box] = []
        var hasSubsamples: Bool = false

        while let child = try reader.box() {
            switch child.type {
            case "tfhd": header = try child.once(header)
            case "tfdt": time = try child.once(time)
            case "trun": runs.append(try TrackRun(source, child))
            case "senc", "saiz", "saio", "uuid": auxiliary.append(child)
            case "sgpd":
                if try Self.groupsKeys(source, child) {
                    auxiliary.append(child)
                }
            case "subs": hasSubsamples = true
            default: break
            }
        }

        guard let header else { throw box.error(.missingBox, "it has no tfhd") }
        self.box = box
        self.header = try TrackFragmentHeader(source, header)
        decodeTime = try time.map { box throws(SegmentFormatError) in try Self.time(source, box) }
        self.runs = runs
        self.auxiliary = auxiliary
        self.hasSubsamples = hasSubsamples
    }

    private static func time(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) -> UInt64 {
        var reader = BoxReader(source, box)
        let (version, _) = try reader.fullBox()
        let time = try reader.integer(version: version)
        guard time <= Int64.max / 4 else { throw reader.error(.badValue, "its decode time is \(time)") }
        return time
    }

    /// True if a sample group description describes keys (ISO/IEC 23001-7 §6).
    private static func groupsKeys(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) -> Bool {
        var reader = BoxReader(source, box)
        _ = try reader.fullBox()
        return FourCC(try reader.integer()) == "seig"
    }
}

/// A `tfhd` (ISO/IEC 14496-12 §8.8.7).
struct TrackFragmentHeader: Sendable {
    let box: Box
    /// Flags: which fields are present, and whether data offsets are relative to the `moof`.
    let flags: UInt32
    let trackID: UInt32
    /// File offset that data offsets are relative to; nil if the field is absent.
    let baseDataOffset: Int?
    /// Default values that are present, by flag, in field order.
    let defaults: [(flag: UInt32, value: UInt32)]

    // Flags of the optional fields, in field order (§8.8.7.1).
    static let hasBase: UInt32 = 0x01
    static let hasDescription: UInt32 = 0x02
    static let hasDuration: UInt32 = 0x08
    static let hasSize: UInt32 = 0x10
    static let hasFlags: UInt32 = 0x20
    /// The flags of the sample defaults, in field order.
    static let defaultFlags = [hasDescription, hasDuration, hasSize, hasFlags]
    /// Flag: data offsets are relative to the start of the `moof`.
    static let baseIsMovieFragment: UInt32 = 0x2_0000

    init(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) {
        var reader = BoxReader(source, box)
        let (_, flags) = try reader.fullBox()
        trackID = try reader.integer()
        if flags & Self.hasBase != 0 {
            let base: UInt64 = try reader.integer()
            guard base <= Int32.max else { throw reader.error(.badValue, "its data are to be \(base) bytes away") }
            baseDataOffset = Int(base)
        } else {
            baseDataOffset = nil
        }
        var defaults: [(flag: UInt32, value: UInt32)] = []
        for flag in Self.defaultFlags where flags & flag != 0 {
            defaults.append((flag, try reader.integer()))
        }
        self.box = box
        self.flags = flags
        self.defaults = defaults
    }

    /// The defaults for samples without own values: the fields of this box override the track's.
    func defaults(after track: SampleDefaults) -> SampleDefaults {
        var result = track
        for (flag, value) in defaults {
            result[flag] = value
        }
        return result
    }
}

extension SampleDefaults {
    /// The value that belongs to a `tfhd` flag.
    subscript(flag: UInt32) -> UInt32 {
        get {
            switch flag {
            case TrackFragmentHeader.hasDescription: descriptionIndex
            case TrackFragmentHeader.hasDuration: duration
            case TrackFragmentHeader.hasSize: size
            default: flags
            }
        }
        set {
            switch flag {
            case TrackFragmentHeader.hasDescription: descriptionIndex = newValue
            case TrackFragmentHeader.hasDuration: duration = newValue
            case TrackFragmentHeader.hasSize: size = newValue
            default: flags = newValue
            }
        }
    }
}

/// A `trun` (ISO/IEC 14496-12 §8.8.8): samples with contiguous data.
struct TrackRun: Sendable {
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
    let count: Int
    /// Start of the data relative to the track fragment's base; nil if the data follow the previous run.
    let dataOffset: Int32?
    let dataOffsetPosition: Int
    /// Flags of the first sample, if they differ from the others.
    let firstSampleFlags: UInt32?
    /// File offset of the first sample's fields.
    private let entries: Int
    /// Bytes per sample.
    private let stride: Int
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
        if fields.contains(.dataOffset) {
            dataOffset = Int32(bitPattern: try reader.integer(UInt32.self))
        } else {
            dataOffset = nil
        }
        if fields.contains(.firstSampleFlags) {
            firstSampleFlags = try reader.integer()
        } else {
            firstSampleFlags = nil
        }

        stride = 4 * Fields.ofSample.count { fields.contains($0) }
        entries = try reader.skip(Int(count) * stride)
        self.box = box
        self.version = version
        self.fields = fields
        self.count = Int(count)
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
        // Version 1 has signed offsets.
        guard version == 0 else { return Int64(Int32(bitPattern: raw)) }
        return Int64(raw)
    }
}
