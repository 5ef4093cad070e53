/// A `moof` (ISO/IEC 14496-12 §8.8.4).
public struct MovieFragment: Sendable {
    /// The `moof` box.
    public let box: Box
    /// Track fragments in order.
    public let tracks: [TrackFragment]
    /// Bytes that include the box.
    let source: FileBytes

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
    /// The `traf` box.
    public let box: Box
    /// The track id and the defaults of the samples.
    public let header: TrackFragmentHeader
    /// Decode time of the first sample (`tfdt`), in ticks of the track; nil if the box is missing.
    public let decodeTime: UInt64?
    /// Sample runs in order.
    public let runs: [TrackRun]
    /// The boxes that describe encryption, in order: `senc`, `saiz`, `saio`, PIFF's `uuid`, key sample groups (`sgpd`).
    let auxiliary: [Box]
    /// True if a `subs` box divides samples into subsamples by size.
    let hasSubsamples: Bool

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

    /// True if a sample group description describes keys (ISO/IEC 23001-7 §6).
    private static func groupsKeys(_ source: FileBytes, _ box: Box) throws(SegmentFormatError) -> Bool {
        var reader = BoxReader(source, box)
        _ = try reader.fullBox()
        return FourCC(try reader.integer()) == "seig"
    }
}
