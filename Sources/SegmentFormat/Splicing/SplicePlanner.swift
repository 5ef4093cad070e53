struct SplicePlanner {
    /// Parameter sets in front of a track's first sample.
    struct Insertion {
        /// Index of the fragment in the segment.
        let fragment: Int
        /// Index of the track fragment in the fragment.
        let track: Int
        /// Index of the run in the track fragment.
        let run: Int
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
            if let insertion = try insertion(of: track) {
                insertions.append(insertion)
            }
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
            throw part.header.box.error(.badValue, "there is no sample entry \(entry + 1)")
        }
        guard let configuration = track.sampleEntries[entry].configuration else { return nil }
        let size = part.runs[first.run].value(.size, of: 0) ?? defaults.size
        let sample = first.range.lowerBound..<(first.range.lowerBound + Int(size))
        let picture = try FirstPicture(sample, of: source, configuration: configuration)
        guard let bytes = configuration.inBand else {
            throw SegmentFormatError(.cannotJoin, "a parameter set is too long for its length field")
        }
        guard !bytes.isEmpty else { return nil }
        return Insertion(
            fragment: first.fragment, track: first.track, run: first.run, picture: picture, bytes: bytes)
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
                throw box.error(.cannotJoin, "it has its own initialization section")
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

    private func edits(fragment fragmentIndex: Int, _ moved: PositionMap) throws(SegmentFormatError) -> [Edit] {
        let fragment = segment.fragments[fragmentIndex]
        var edits: [Edit] = []
        for (index, part) in fragment.tracks.enumerated() {
            guard let own = splicePair.source.track(part.header.trackID), let its = splicePair.playlist.track(own.id)
            else {
                continue
            }
            let editor = TrackFragmentEditor(
                source: fragment.source, part: part, base: layout.bases[fragmentIndex][index], own: own, playlist: its,
                insertion: insertions.first { $0.fragment == fragmentIndex && $0.track == index })
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
            throw box.error(.cannotJoin, "it would grow beyond 4 GiB")
        }
        return Edit(range: box.range.lowerBound..<box.payload.lowerBound, bytes: header)
    }
}

/// The point in a segment's first video sample where parameter sets are inserted.
struct FirstPicture {
    /// File offset of the insertion, after an access unit delimiter, which must come first.
    let insertion: Int
    /// Bytes of the sample before the insertion.
    let lead: Int
    /// Maximum NAL units examined. Pictures have few before their first slice.
    private static let units = 64

    /// Reads the lengths and types of a sample's NAL units up to the first slice, which must belong to a random access
    /// picture. Lengths and types are unencrypted even in encrypted samples (ISO/IEC 23001-7 §9.5). If `configuration`
    /// has no parameter sets, the sample must have a sequence parameter set.
    init(_ sample: Range<Int>, of source: ByteSource, configuration: DecoderConfiguration) throws(SegmentFormatError) {
        var window = SourceWindow(source)
        var position = sample.lowerBound
        var lead = 0
        var hasSets = !configuration.parameterSets.isEmpty

        for unitIndex in 0..<Self.units {
            guard position < sample.upperBound else { break }
            let unit = try Self.unit(at: position, in: sample, &window, configuration)
            if unit.isSlice {
                guard unit.isRandomAccess else {
                    throw Self.error(at: position, "its first picture is not a random access point")
                }
                guard hasSets else {
                    throw Self.error(at: position, "neither it nor its initialization section has parameter sets")
                }
                self.lead = lead
                insertion = sample.lowerBound + lead
                return
            }

            if unit.isDelimiter, unitIndex == 0 {
                lead = unit.count
            }
            hasSets = hasSets || unit.isSequenceParameterSet
            position += unit.count
        }

        throw Self.error(at: sample.lowerBound, "its first sample has no picture")
    }

    /// One NAL unit; `count` includes its length field.
    private struct Unit {
        let count: Int
        let codec: DecoderConfiguration.Codec
        let type: UInt8
        /// True for a coded slice (H.264 table 7-1, H.265 table 7-1).
        var isSlice: Bool {
            switch codec {
            case .avc: 1...5 ~= type
            case .hevc: type < 32
            }
        }
        /// True for an IDR picture, or a BLA picture of HEVC. CRA and BLA_W_LP are excluded: pictures that follow them
        /// may reference earlier pictures, which the other rendition does not have.
        var isRandomAccess: Bool {
            switch codec {
            case .avc: type == 5
            case .hevc: 17...20 ~= type
            }
        }
        var isDelimiter: Bool {
            switch codec {
            case .avc: type == 9
            case .hevc: type == 35
            }
        }
        var isSequenceParameterSet: Bool {
            switch codec {
            case .avc: type == 7
            case .hevc: type == 33
            }
        }
    }

    private static func unit(
        at position: Int, in sample: Range<Int>, _ window: inout SourceWindow, _ configuration: DecoderConfiguration
    ) throws(SegmentFormatError) -> Unit {
        let size = configuration.lengthSize
        guard position + size < sample.upperBound else { throw error(at: position, "its first sample is cut off") }
        let bytes = try window.bytes(position..<(position + size + 1))
        var length = 0
        for byte in position..<(position + size) {
            length = length << 8 | Int(bytes.integer(UInt8.self, at: byte))
        }
        guard length > 0, length <= sample.upperBound - position - size else {
            throw error(at: position, "a NAL unit of \(length) bytes does not fit its first sample")
        }
        let head = bytes.integer(UInt8.self, at: position + size)
        let type =
            switch configuration.codec {
            case .avc: head & 0x1F
            case .hevc: head >> 1 & 0x3F
            }
        return Unit(count: size + length, codec: configuration.codec, type: type)
    }

    private static func error(at position: Int, _ reason: String) -> SegmentFormatError {
        SegmentFormatError(.badValue, of: "mdat", at: position, reason)
    }
}
