struct SplicePlanner {
    /// Parameter sets in front of a track's first sample.
    struct Insertion {
        /// Indices of the fragment, of the track fragment in it, and of the run in that.
        let (fragment, track, run): (Int, Int, Int)
        let picture: FirstPicture
        let bytes: [UInt8]
    }

    private let splicePair: SplicePair
    private let source: ByteSource
    private let segment: MediaSegment
    private let layout: SampleLayout
    private var insertions: [Insertion] = []

    init(_ splicePair: SplicePair, _ source: ByteSource) throws(SegmentFormatError) {
        self.splicePair = splicePair
        self.source = source
        segment = try MediaSegment(source)
        layout = try SampleLayout(of: segment, tracks: splicePair.source)
        for track in splicePair.source.tracks where track.handler == "vide" {
            if let insertion = try insertion(of: track) { insertions.append(insertion) }
        }
    }

    func plan() throws(SegmentFormatError) -> Splice {
        // Sizes of edits do not depend on offsets, so a first pass yields the offsets for the second.
        let moved = PositionMap(try edits(PositionMap()))
        return Splice(try edits(moved), count: segment.count, loaded: segment.loaded)
    }

    private func insertion(of track: Track) throws(SegmentFormatError) -> Insertion? {
        let first = layout.runs.first { run in
            segment.fragments[run.fragment].tracks[run.track].header.trackID == track.id
        }
        guard let first else { return nil }
        let part = segment.fragments[first.fragment].tracks[first.track]
        let defaults = part.header.defaults(after: track.defaults)
        let entry = Int(defaults.descriptionIndex) - 1
        guard track.sampleEntries.indices.contains(entry) else {
            throw SegmentFormatError(
                .badValue, "tfhd", at: part.header.box.range.lowerBound, "there is no sample entry \(entry + 1)")
        }
        guard let configuration = track.sampleEntries[entry].configuration else { return nil }
        let size = part.runs[first.run].value(.size, of: 0) ?? defaults.size
        let sample = first.range.lowerBound..<(first.range.lowerBound + Int(size))
        let picture = try FirstPicture(sample, of: source, configuration: configuration)
        guard let bytes = configuration.inBand else {
            throw SegmentFormatError(.cannotJoin, "a parameter set is too long for its length field")
        }
        return bytes.isEmpty
            ? nil
            : Insertion(fragment: first.fragment, track: first.track, run: first.run, picture: picture, bytes: bytes)
    }

    /// Index boxes, which are dropped: their offsets become wrong, and HLS players use the playlist instead.
    private static let indices: Set<FourCC> = ["sidx", "ssix", "mfra"]

    /// Returns the edits in order, with offsets translated by the map.
    private func edits(_ moved: PositionMap) throws(SegmentFormatError) -> [Edit] {
        var edits: [Edit] = []
        var fragment = 0
        for box in segment.boxes {
            switch box.type {
            case _ where Self.indices.contains(box.type): edits.append(Edit(range: box.range, bytes: []))
            case "moof":
                edits += try self.edits(fragment: fragment, moved)
                fragment += 1
            case "mdat": edits += try self.edits(mediaData: box)
            case "moov":
                throw SegmentFormatError(
                    .cannotJoin, box.type, at: box.range.lowerBound, "it has its own initialization section")
            default: break
            }
        }
        return edits
    }

    private func edits(mediaData box: Box) throws(SegmentFormatError) -> [Edit] {
        let inserted = insertions.filter { box.range.contains($0.picture.insertion) }.map { insertion in
            Edit(range: insertion.picture.insertion..<insertion.picture.insertion, bytes: insertion.bytes)
        }.sorted { $0.range.lowerBound < $1.range.lowerBound }
        guard !inserted.isEmpty else { return [] }
        return [try grown(box, by: inserted, try source.bytes(box.range.lowerBound..<box.payload.lowerBound))]
            + inserted
    }

    private func edits(fragment place: Int, _ moved: PositionMap) throws(SegmentFormatError) -> [Edit] {
        let fragment = segment.fragments[place]
        var edits: [Edit] = []
        for (index, part) in fragment.tracks.enumerated() {
            guard let own = splicePair.source.track(part.header.trackID), let its = splicePair.playlist.track(own.id)
            else {
                continue
            }
            let editor = TrackFragmentEditor(
                source: fragment.source, part: part, base: layout.bases[place][index], own: own, playlist: its,
                insertion: insertions.first { $0.fragment == place && $0.track == index })
            let inner = try editor.edits(moved)
            if inner.contains(where: { $0.growth != 0 }) {
                edits.append(try grown(part.box, by: inner, fragment.source))
            }
            edits += inner
        }
        guard edits.contains(where: { $0.growth != 0 }) else { return edits }
        return [try grown(fragment.box, by: edits, fragment.source)] + edits
    }

    /// Rewrites the header of a box that contains other edits.
    private func grown(_ box: Box, by edits: [Edit], _ source: FileBytes) throws(SegmentFormatError) -> Edit {
        guard let header = box.header(grownBy: edits.reduce(0) { $0 + $1.growth }, from: source) else {
            throw SegmentFormatError(.cannotJoin, box.type, at: box.range.lowerBound, "it would grow beyond 4 GiB")
        }
        return Edit(range: box.range.lowerBound..<box.payload.lowerBound, bytes: header)
    }
}
