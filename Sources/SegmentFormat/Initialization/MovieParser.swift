/// Parses a `moov` (ISO/IEC 14496-12 §8.2). The nesting is fixed, so no input causes deep recursion.
struct MovieParser {
    private let source: FileBytes
    init(_ source: FileBytes) { self.source = source }

    func tracks(of movie: Box) throws(SegmentFormatError) -> [Track] {
        var reader = BoxReader(source, movie)
        var header: Box? = nil
        var extends: Box? = nil
        var found: [Box] = []

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
        var defaults: [UInt32: SampleDefaults] = [:]
        if let extends {
            defaults = try self.defaults(of: extends)
        }
        guard let timescale else { throw missing("mvhd", in: movie) }

        var tracks: [Track] = []
        for box in found {
            var parser = TrackParser(source, box, movieTimescale: timescale)
            let track = try parser.track(defaults)
            guard !tracks.contains(where: { $0.id == track.id }) else {
                throw box.error(.badValue, "track \(track.id) occurs twice")
            }
            tracks.append(track)
        }

        guard !tracks.isEmpty else { throw missing("trak", in: movie) }
        return tracks
    }

    /// Parses the timescale of an `mvhd` or `mdhd`, which share their first fields.
    func timescale(_ box: Box) throws(SegmentFormatError) -> UInt32 {
        var reader = BoxReader(source, box)
        let (version, _) = try reader.fullBox()
        // The times of creation and modification.
        try reader.skip(2 * BoxReader.count(version: version))
        let timescale: UInt32 = try reader.integer()
        guard timescale > 0 else { throw reader.error(.badValue, "its timescale is 0") }
        return timescale
    }

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

    func missing(_ type: FourCC, in box: Box) -> SegmentFormatError { box.error(.missingBox, "it has no \(type)") }
}

struct TrackParser {
    private let source: FileBytes
    private let box: Box
    private let movie: MovieParser
    private let movieTimescale: UInt32
    private var leaves: [FourCC: Box] = [:]

    init(_ source: FileBytes, _ box: Box, movieTimescale: UInt32) {
        self.source = source
        self.box = box
        self.movieTimescale = movieTimescale
        movie = MovieParser(source)
    }

    /// Parses the track and picks its defaults, which are keyed by track id.
    mutating func track(_ defaults: [UInt32: SampleDefaults]) throws(SegmentFormatError) -> Track {
        try collect(in: box)
        let (id, size) = try trackHeader(try leaf("tkhd"))
        let timescale = try movie.timescale(try leaf("mdhd"))
        let handler = try handler(try leaf("hdlr"))
        let entries = try SampleEntryParser(source, handler: handler).entries(of: try leaf("stsd"))
        guard let defaults = defaults[id] else {
            throw box.error(.missingBox, "track \(id) has no trex, so it has no fragments")
        }
        let edit = try leaves["elst"].map { box throws(SegmentFormatError) in try edits(box) }
        return Track(
            id: id, timescale: timescale, handler: handler, size: size,
            edit: edit ?? EditOffset(movieTimescale: movieTimescale), sampleEntries: entries, defaults: defaults)
    }

    /// The container boxes that are searched, by parent.
    private static let inner: [FourCC: [FourCC]] = [
        "trak": ["edts", "mdia"], "mdia": ["minf"], "minf": ["stbl"],
    ]
    private static let needed: Set<FourCC> = ["tkhd", "elst", "mdhd", "hdlr", "stsd"]

    private mutating func collect(in box: Box) throws(SegmentFormatError) {
        var reader = BoxReader(source, box)
        while let child = try reader.box() {
            if Self.inner[box.type]?.contains(child.type) == true {
                try collect(in: child)
            } else if Self.needed.contains(child.type), child.type != "hdlr" || box.type == "mdia" {
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
        // The times of creation and modification.
        try reader.skip(2 * BoxReader.count(version: version))
        let id: UInt32 = try reader.integer()
        guard id > 0 else { throw reader.error(.badValue, "a track's id is 0") }
        // A reserved field and the duration.
        try reader.skip(4 + BoxReader.count(version: version))
        // Layer, group, volume and matrix.
        try reader.skip(8 + 8 + 36)
        return (id, [try reader.integer(), try reader.integer()])
    }

    private func handler(_ box: Box) throws(SegmentFormatError) -> FourCC {
        var reader = BoxReader(source, box)
        try reader.skip(8)
        return FourCC(try reader.integer())
    }

    private func edits(_ box: Box) throws(SegmentFormatError) -> EditOffset {
        var reader = BoxReader(source, box)
        let (version, _) = try reader.fullBox()
        let count: UInt32 = try reader.integer()
        var edit = EditOffset(movieTimescale: movieTimescale)
        edit.isIntricate = count > 2

        for index in 0..<min(count, 2) {
            let duration = try reader.integer(version: version)
            let raw = try reader.integer(version: version)
            var time = Int64(bitPattern: raw)
            if version != 1 {
                time = Int64(Int32(truncatingIfNeeded: raw))
            }
            let rate: UInt32 = try reader.integer()
            if time == -1, index == 0 {
                edit.emptyTicks = duration
            } else if time < 0 || rate != 0x1_0000 || index == 1 && edit.emptyTicks == 0 {
                edit.isIntricate = true
            } else {
                edit.mediaTime = time
            }
        }
        return edit
    }
}
