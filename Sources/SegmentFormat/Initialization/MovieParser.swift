/// Reads the boxes of a `moov` (ISO/IEC 14496-12 §8.2), whose nesting is known: no input makes it go deeper.
struct MovieParser {
    private let source: FileBytes

    /// Prepares the reading of boxes of these bytes.
    init(_ source: FileBytes) {
        self.source = source
    }

    /// The tracks of a movie, each with its defaults.
    func tracks(of movie: Box) throws(SegmentFormatError) -> [Track] {
        var reader = BoxReader(source, movie)
        var (header, extends, found): (Box?, Box?, [Box]) = (nil, nil, [])
        while let box = try reader.box() {
            try reader.checkRoom(found.count)
            switch box.type {
            case "mvhd": header = try box.once(header)
            case "mvex": extends = try box.once(extends)
            case "trak": found.append(box)
            default: break
            }
        }
        let timescale = try header.map { box throws(SegmentFormatError) in try self.timescale(box) }
        let defaults = try extends.map { box throws(SegmentFormatError) in try self.defaults(of: box) } ?? [:]
        guard let timescale else { throw missing("mvhd", in: movie) }
        var tracks: [Track] = []
        for box in found {
            var parser = TrackParser(source, box, movieTimescale: timescale)
            let track = try parser.track(defaults)
            guard !tracks.contains(where: { $0.id == track.id }) else {
                throw SegmentFormatError(
                    .badValue, "trak", at: box.range.lowerBound, "track \(track.id) is there twice")
            }
            tracks.append(track)
        }
        guard !tracks.isEmpty else { throw missing("trak", in: movie) }
        return tracks
    }

    /// The ticks a second of an `mvhd` or `mdhd`, whose first fields are alike.
    func timescale(_ box: Box) throws(SegmentFormatError) -> UInt32 {
        var reader = BoxReader(source, box)
        let (version, _) = try reader.fullBox()
        try reader.take(version == 1 ? 16 : 8)
        let timescale: UInt32 = try reader.integer()
        guard timescale > 0 else { throw reader.error(.badValue, "its timescale is 0") }
        return timescale
    }

    /// The `trex` boxes by track id.
    private func defaults(of box: Box) throws(SegmentFormatError) -> [UInt32: SampleDefaults] {
        var reader = BoxReader(source, box)
        var found: [UInt32: SampleDefaults] = [:]
        while let box = try reader.box() {
            guard box.type == "trex" else { continue }
            var fields = BoxReader(source, box)
            _ = try fields.fullBox()
            let id: UInt32 = try fields.integer()
            guard found[id] == nil else { throw fields.error(.duplicateBox, "track \(id) has another") }
            found[id] = SampleDefaults(
                descriptionIndex: try fields.integer(), duration: try fields.integer(), size: try fields.integer(),
                flags: try fields.integer())
        }
        return found
    }

    /// The error that a box lacks another.
    func missing(_ type: FourCC, in box: Box) -> SegmentFormatError {
        SegmentFormatError(.missingBox, box.type, at: box.range.lowerBound, "it has no \(type)")
    }
}
