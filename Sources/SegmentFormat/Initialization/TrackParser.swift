/// Reads one `trak`.
struct TrackParser {
    private let source: FileBytes
    private let box: Box
    private let movie: MovieParser
    private let movieTimescale: UInt32
    private var leaves: [FourCC: Box] = [:]

    /// Prepares the reading of a track of a movie with that many ticks a second.
    init(_ source: FileBytes, _ box: Box, movieTimescale: UInt32) {
        (self.source, self.box, self.movieTimescale) = (source, box, movieTimescale)
        movie = MovieParser(source)
    }

    /// Reads it, and takes its own of the defaults.
    mutating func track(_ defaults: [UInt32: SampleDefaults]) throws(SegmentFormatError) -> Track {
        try collect(in: box)
        let (id, size) = try trackHeader(try leaf("tkhd"))
        let timescale = try movie.timescale(try leaf("mdhd"))
        let handler = try handler(try leaf("hdlr"))
        let entries = try SampleEntryParser(source, handler: handler).entries(of: try leaf("stsd"))
        guard let defaults = defaults[id] else {
            throw SegmentFormatError(
                .missingBox, "trak", at: box.range.lowerBound, "track \(id) has no trex, so it has no fragments")
        }
        let edit = try leaves["elst"].map { box throws(SegmentFormatError) in try edits(box) }
        return Track(
            id: id, timescale: timescale, handler: handler, size: size,
            edit: edit ?? EditOffset(movieTimescale: movieTimescale), sampleEntries: entries, defaults: defaults)
    }

    /// The boxes of a track that are gone into, by what holds them.
    private static let inner: [FourCC: [FourCC]] = [
        "trak": ["edts", "mdia"], "mdia": ["minf"], "minf": ["stbl"],
    ]
    private static let wanted: Set<FourCC> = ["tkhd", "elst", "mdhd", "hdlr", "stsd"]

    private mutating func collect(in box: Box) throws(SegmentFormatError) {
        var reader = BoxReader(source, box)
        while let child = try reader.box() {
            if Self.inner[box.type]?.contains(child.type) == true {
                try collect(in: child)
            } else if Self.wanted.contains(child.type), child.type != "hdlr" || box.type == "mdia" {
                leaves[child.type] = try child.once(leaves[child.type])
            }
        }
    }

    private func leaf(_ type: FourCC) throws(SegmentFormatError) -> Box {
        guard let found = leaves[type] else { throw movie.missing(type, in: box) }
        return found
    }

    private func trackHeader(_ box: Box) throws(SegmentFormatError) -> (id: UInt32, size: [UInt32]) {
        var reader = BoxReader(source, box)
        let (version, _) = try reader.fullBox()
        try reader.take(version == 1 ? 16 : 8)
        let id: UInt32 = try reader.integer()
        guard id > 0 else { throw reader.error(.badValue, "a track's id is 0") }
        try reader.take(version == 1 ? 12 : 8)
        // Layer, group, volume and matrix.
        try reader.take(8 + 8 + 36)
        return (id, [try reader.integer(), try reader.integer()])
    }

    private func handler(_ box: Box) throws(SegmentFormatError) -> FourCC {
        var reader = BoxReader(source, box)
        try reader.take(8)
        return FourCC(try reader.integer())
    }

    private func edits(_ box: Box) throws(SegmentFormatError) -> EditOffset {
        var reader = BoxReader(source, box)
        let (version, _) = try reader.fullBox()
        let count: UInt32 = try reader.integer()
        var edit = EditOffset(movieTimescale: movieTimescale)
        edit.isIntricate = count > 2
        for place in 0..<min(count, 2) {
            let duration = try reader.integer(version: version)
            let raw = try reader.integer(version: version)
            let time = version == 1 ? Int64(bitPattern: raw) : Int64(Int32(truncatingIfNeeded: raw))
            let rate: UInt32 = try reader.integer()
            if time == -1, place == 0 {
                edit.emptyTicks = duration
            } else if time < 0 || rate != 0x1_0000 || place == 1 && edit.emptyTicks == 0 {
                edit.isIntricate = true
            } else {
                edit.mediaTime = time
            }
        }
        return edit
    }
}
