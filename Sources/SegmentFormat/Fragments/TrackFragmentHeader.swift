/// A `tfhd` (ISO/IEC 14496-12 §8.8.7).
public struct TrackFragmentHeader: Sendable {
    /// The box itself.
    let box: Box
    /// Which fields it has, and that its data lie by the place of the `moof`.
    let flags: UInt32
    /// The track that it is of.
    public let trackID: UInt32
    /// Where its data offsets count from, as a place in the file; nil where nothing is said.
    let baseDataOffset: Int?
    /// Its own defaults, by their flag, in the order of the fields.
    let defaults: [(flag: UInt32, value: UInt32)]

    /// The flags of the fields in their order (§8.8.7.1).
    static let (hasBase, hasDescription, hasDuration, hasSize, hasFlags): (UInt32, UInt32, UInt32, UInt32, UInt32) =
        (0x01, 0x02, 0x08, 0x10, 0x20)
    /// The flags of those that are defaults, in their order.
    static let defaultFlags = [hasDescription, hasDuration, hasSize, hasFlags]
    /// Data offsets count from the start of the `moof`.
    static let baseIsMovieFragment: UInt32 = 0x2_0000

    /// Reads a `tfhd`.
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

    /// What holds for samples that say nothing themselves: its own fields, then the track's.
    func defaults(after track: SampleDefaults) -> SampleDefaults {
        var result = track
        for (flag, value) in defaults { result[flag] = value }
        return result
    }
}

extension SampleDefaults {
    /// The value that a flag of `tfhd` announces.
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
