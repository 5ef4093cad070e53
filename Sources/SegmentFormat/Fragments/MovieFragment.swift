/// A `moof` (ISO/IEC 14496-12 §8.8.4).
public struct MovieFragment: Sendable {
    /// The box itself.
    public let box: Box
    /// Its track fragments in order.
    public let tracks: [TrackFragment]
    /// The bytes of the box, and perhaps more.
    let source: FileBytes

    /// Reads a `moof` that lies in these bytes.
    init(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) {
        var reader = BoxReader(source, box)
        var tracks: [TrackFragment] = []
        while let child = try reader.box() {
            if child.type == "traf" { tracks.append(try TrackFragment(source, child)) }
        }
        (self.box, self.tracks, self.source) = (box, tracks, source)
    }
}

/// A `traf` (ISO/IEC 14496-12 §8.8.6): the samples of one track in a movie fragment.
public struct TrackFragment: Sendable {
    /// The box itself.
    public let box: Box
    /// Whose samples they are, and what holds for them all.
    public let header: TrackFragmentHeader
    /// The decode time of the first sample (`tfdt`), in ticks of the track; nil where the box is missing.
    public let decodeTime: UInt64?
    /// The runs of samples in order.
    public let runs: [TrackRun]
    /// The boxes that tell of encryption, in order: `senc`, `saiz`, `saio`, PIFF's `uuid`, sample groups of keys.
    let auxiliary: [Box]
    /// It divides its samples further (`subs`), by their sizes.
    let hasSubsamples: Bool

    /// Reads a `traf` that lies in these bytes.
    init(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) {
        var reader = BoxReader(source, box)
        var (header, time): (Box?, Box?) = (nil, nil)
        var (runs, auxiliary, hasSubsamples): ([TrackRun], [Box], Bool) = ([], [], false)
        while let child = try reader.box() {
            switch child.type {
            case "tfhd": header = try child.once(header)
            case "tfdt": time = try child.once(time)
            case "trun": runs.append(try TrackRun(source, child))
            case "senc", "saiz", "saio", "uuid": auxiliary.append(child)
            case "sgpd": if try Self.groupsKeys(source, child) { auxiliary.append(child) }
            case "subs": hasSubsamples = true
            default: break
            }
        }
        guard let header else {
            throw SegmentFormatError(.missingBox, box.type, at: box.range.lowerBound, "it has no tfhd")
        }
        self.box = box
        self.header = try TrackFragmentHeader(source, header)
        decodeTime = try time.map { box throws(SegmentFormatError) in try Self.time(source, box) }
        (self.runs, self.auxiliary, self.hasSubsamples) = (runs, auxiliary, hasSubsamples)
    }

    private static func time(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) -> UInt64 {
        var reader = BoxReader(source, box)
        let (version, _) = try reader.fullBox()
        let time = try reader.integer(version: version)
        guard time <= Int64.max / 4 else { throw reader.error(.badValue, "its decode time is \(time)") }
        return time
    }

    /// Whether a sample group description is of keys (ISO/IEC 23001-7 §6).
    private static func groupsKeys(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) -> Bool {
        var reader = BoxReader(source, box)
        _ = try reader.fullBox()
        return FourCC(try reader.integer()) == "seig"
    }
}
