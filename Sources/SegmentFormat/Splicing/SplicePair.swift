/// How media segments of one rendition come behind the initialization section of another, in one media playlist.
///
/// A playlist has one EXT-X-MAP and no EXT-X-DISCONTINUITY then, for players stop at others. What the decoder must know
/// of the pictures to come stands in front of the first sample of a spliced segment.
///
/// **The rule for whoever serves:** as soon as one spliced segment has gone out, the decoder is no longer set up as the
/// initialization section has it. So every later segment is spliced, those of the playlist's own rendition too: with
/// `SplicePair(of: own, behind: own)`, whose verdict is ``Verdict/equivalent`` and whose ``splice(_:)`` puts its own
/// parameter sets in-band. And because a viewer may seek to any of them, every segment of another rendition is spliced,
/// not the first of a row alone.
public struct SplicePair: Sendable {
    /// What must be done to segments.
    public enum Verdict: Hashable, Sendable {
        /// Nothing: they are played as they are, unless the decoder was set up for others in between.
        case equivalent
        /// Each must be spliced: its parameter sets come in-band, and defaults that differ are written out.
        case needsInBandParameterSets
        /// Nothing helps, for this reason: a sentence without a full stop.
        case cannotBeJoined(String)
    }

    /// The initialization section that the segments were made for.
    public let source: InitializationSection
    /// The one that the player has.
    public let playlist: InitializationSection
    /// What must be done.
    public let verdict: Verdict

    /// Compares two initialization sections.
    ///
    /// They go together when they have the same tracks: ids, timescales, handlers, and sample entries but for names,
    /// bit rates and free space; encryption is equal; and pictures differ in what AVC and HEVC parameter sets say at
    /// most.
    public init(of source: InitializationSection, behind playlist: InitializationSection) {
        self.source = source
        self.playlist = playlist
        guard source.tracks.map(\.id).sorted() == playlist.tracks.map(\.id).sorted() else {
            verdict = .cannotBeJoined("the tracks are \(Self.list(source)), and \(Self.list(playlist)) in the playlist")
            return
        }
        var verdict = Verdict.equivalent
        for track in playlist.tracks {
            guard let other = source.track(track.id) else { continue }
            switch other.verdict(behind: track) {
            case .equivalent: break
            case .needsInBandParameterSets: verdict = .needsInBandParameterSets
            case .cannotBeJoined(let reason):
                self.verdict = .cannotBeJoined("track \(track.id) (\(track.handler)): " + reason)
                return
            }
        }
        self.verdict = verdict
    }

    private static func list(_ section: InitializationSection) -> String {
        section.tracks.map { "\($0.id) (\($0.handler))" }.joined(separator: ", ")
    }

    /// Plans a segment of the source so that it plays behind the playlist's initialization section, whatever came
    /// before.
    ///
    /// Its boxes are read, and the lengths of the first picture's NAL units: the cost is that of a few kilobytes.
    /// Throws what is wrong with the segment, or why it cannot be joined: it is better served as it is, or not at all.
    public func splice(_ segment: ByteSource) throws(SegmentFormatError) -> Splice {
        if case .cannotBeJoined(let reason) = verdict { throw SegmentFormatError(.cannotJoin, reason) }
        return try SplicePlanner(self, segment).plan()
    }
}

extension Track {
    /// How this track's samples come behind the same track of another initialization section.
    fileprivate func verdict(behind other: Track) -> SplicePair.Verdict {
        if handler != other.handler {
            return .cannotBeJoined("it holds \(handler), and \(other.handler) in the playlist")
        }
        if timescale != other.timescale {
            return .cannotBeJoined("its timescale is \(timescale), and \(other.timescale) in the playlist")
        }
        guard sampleEntries.count == other.sampleEntries.count else {
            let counts = (sampleEntries.count, other.sampleEntries.count)
            return .cannotBeJoined("it has \(counts.0) sample entries, and \(counts.1) in the playlist")
        }
        guard let shift = compositionShift(behind: other) else {
            return .cannotBeJoined("its edit list moves it by another time than the playlist's")
        }
        var needsSplice = defaults != other.defaults || shift != 0
        for (entry, known) in zip(sampleEntries, other.sampleEntries) {
            if let reason = entry.obstacle(behind: known, isSameSize: size == other.size) {
                return .cannotBeJoined(reason)
            }
            needsSplice = needsSplice || entry.needsParameterSets(behind: known)
        }
        return needsSplice ? .needsInBandParameterSets : .equivalent
    }

    /// The ticks by which composition offsets must grow for samples to be shown when their own edit list has them
    /// shown, though the other's is in force; nil where that cannot be.
    ///
    /// Video alone can be moved so, what is heard has no composition offsets; and later alone: libavformat shows all
    /// that follows an offset below zero too late.
    func compositionShift(behind other: Track) -> Int32? {
        if edit == other.edit { return 0 }
        guard !edit.isIntricate, !other.edit.isIntricate else { return nil }
        let (own, its) = (edit.ticks(timescale: timescale), other.edit.ticks(timescale: timescale))
        let difference = Int128(own) - Int128(its)
        let tolerance = edit.tolerance(timescale: timescale) + other.edit.tolerance(timescale: timescale)
        if difference.magnitude <= UInt128(tolerance) { return 0 }
        return handler == "vide" && difference > 0 ? Int32(exactly: difference) : nil
    }
}

extension SampleEntry {
    /// Why samples of this entry cannot be decoded by the other; nil when they can, with other parameter sets at most.
    fileprivate func obstacle(behind other: SampleEntry, isSameSize: Bool) -> String? {
        if format != other.format, codec == nil || codec != other.codec {
            return "it is coded as \(format), and as \(other.format) in the playlist"
        }
        if protection != other.protection { return "it is encrypted in another way than in the playlist" }
        if fields != other.fields { return "its \(format) entry has other fields than the playlist's" }
        let (own, its) = (configuration, other.configuration)
        if let own, let its, own.lengthSize != its.lengthSize {
            return "its NAL units have lengths of \(own.lengthSize) bytes, and of \(its.lengthSize) in the playlist"
        }
        if (own == nil) != (its == nil) { return "just one of the two has a decoder configuration" }
        let isSetUpAlike = own == its
        if isSetUpAlike, dimensions != other.dimensions || !isSameSize {
            return "it is shown at another size than the playlist's, though it is coded alike"
        }
        func counted(_ entry: SampleEntry) -> [Inner] { entry.boxes.filter { isSetUpAlike || !$0.describesPicture } }
        guard let pair = Self.firstDifference(counted(self), counted(other)) else { return nil }
        return "its \(pair) is not as in the playlist"
    }

    private static func firstDifference(_ own: [Inner], _ other: [Inner]) -> FourCC? {
        if own == other { return nil }
        return own.first { !other.contains($0) }?.type ?? other.first { !own.contains($0) }?.type ?? own.first?.type
    }

    /// Whether a decoder that was set up by the other must be told more.
    fileprivate func needsParameterSets(behind other: SampleEntry) -> Bool {
        format != other.format || configuration != other.configuration
    }
}
