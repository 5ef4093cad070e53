/// A `tfhd` (ISO/IEC 14496-12 §8.8.7).
public struct TrackFragmentHeader: Sendable {
    let box: Box
    /// Flags: which fields are present, and whether data offsets are relative to the `moof`.
    let flags: UInt32
    /// Id of the track.
    public let trackID: UInt32
    /// File offset that data offsets are relative to; nil if the field is absent.
    let baseDataOffset: Int?
    /// Default values that are present, by flag, in field order.
    let defaults: [(flag: UInt32, value: UInt32)]

    /// Flags of the optional fields, in field order (§8.8.7.1).
    static let (hasBase, hasDescription, hasDuration, hasSize, hasFlags): (UInt32, UInt32, UInt32, UInt32, UInt32) =
        (0x01, 0x02, 0x08, 0x10, 0x20)
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
        (self.box, self.flags, self.defaults) = (box, flags, defaults)
    }

    /// The defaults for samples without own values: the fields of this box override the track's.
    func defaults(after track: SampleDefaults) -> SampleDefaults {
        var result = track
        for (flag, value) in defaults { result[flag] = value }
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
