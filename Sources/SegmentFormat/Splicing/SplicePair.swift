/// A pair of initialization sections: segments made for the first are spliced into a playlist that has the second.
///
/// Such a playlist has one EXT-X-MAP and no EXT-X-DISCONTINUITY, because players stop at others. A spliced segment has
/// the decoder's parameter sets in front of its first sample.
///
/// **Rule for servers:** after one spliced segment, the decoder is no longer configured by the playlist's initialization
/// section. So splice every later segment, including those of the playlist's own rendition, with
/// `SplicePair(of: own, behind: own)`, whose verdict is ``Verdict/equivalent`` and whose ``splice(_:)`` puts its own parameter
/// sets in-band. Splice every segment of the other rendition, not only the first of a row: a viewer may seek to any of them.
public struct SplicePair: Sendable {
    /// Indicates how segments must be changed.
    public enum Verdict: Hashable, Sendable {
        /// No change, unless the decoder was configured for other segments in between.
        case equivalent
        /// Each segment must be spliced: its parameter sets go in-band, and defaults that differ are written out.
        case needsInBandParameterSets
        /// Splicing is impossible. The reason has no full stop.
        case cannotBeJoined(String)
    }

    /// The initialization section that the segments were made for.
    public let source: InitializationSection
    /// The initialization section in the player's playlist.
    let playlist: InitializationSection
    /// The result of the comparison.
    public let verdict: Verdict

    /// Compares two initialization sections.
    ///
    /// They can be spliced if ids, timescales, handlers and encryption of their tracks are equal, and the sample entries
    /// differ only in names, bit rates, free space and properties that AVC and HEVC parameter sets describe.
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

    /// Rewrites a segment of the source so that it plays with the playlist's initialization section, after any segment.
    ///
    /// Reads a few kilobytes: the boxes, and the NAL unit lengths of the first picture. Throws if the segment is invalid
    /// or cannot be spliced; serve it unchanged then, or not at all.
    public func splice(_ segment: ByteSource) throws(SegmentFormatError) -> Splice {
        if case .cannotBeJoined(let reason) = verdict {
            throw SegmentFormatError(.cannotJoin, reason)
        }
        return try SplicePlanner(self, segment).plan()
    }
}

extension Track {
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
            if let reason = entry.mismatch(behind: known, isSameSize: size == other.size) {
                return .cannotBeJoined(reason)
            }
            needsSplice = needsSplice || entry.needsParameterSets(behind: known)
        }

        guard needsSplice else { return .equivalent }
        return .needsInBandParameterSets
    }

    /// The ticks to add to composition offsets so that samples keep their presentation times under the other track's
    /// edit list; nil if impossible. Only video can be shifted, because audio has no composition offsets. It can only
    /// be shifted later: libavformat presents everything after a negative offset too late.
    func compositionShift(behind other: Track) -> Int32? {
        if edit == other.edit {
            return 0
        }
        guard !edit.isIntricate, !other.edit.isIntricate else { return nil }
        let own = edit.ticks(timescale: timescale)
        let its = other.edit.ticks(timescale: timescale)
        let difference = Int128(own) - Int128(its)
        let tolerance = edit.tolerance(timescale: timescale) + other.edit.tolerance(timescale: timescale)
        if difference.magnitude <= UInt128(tolerance) {
            return 0
        }
        guard handler == "vide", difference > 0 else { return nil }
        return Int32(exactly: difference)
    }
}

extension SampleEntry {
    /// Returns why the other entry's decoder cannot decode these samples, even with in-band parameter sets; else nil.
    fileprivate func mismatch(behind other: SampleEntry, isSameSize: Bool) -> String? {
        if format != other.format, codec == nil || codec != other.codec {
            return "it is coded as \(format), and as \(other.format) in the playlist"
        }
        if protection != other.protection {
            return "its encryption differs from the playlist's"
        }
        if fields != other.fields {
            return "its \(format) entry has other fields than the playlist's"
        }

        let own = configuration
        let its = other.configuration
        if let own, let its, own.lengthSize != its.lengthSize {
            return "its NAL units have lengths of \(own.lengthSize) bytes, and of \(its.lengthSize) in the playlist"
        }
        if (own == nil) != (its == nil) {
            return "just one of the two has a decoder configuration"
        }

        let isSetUpAlike = own == its
        if isSetUpAlike, dimensions != other.dimensions || !isSameSize {
            return "it is shown at another size than the playlist's, though it is coded alike"
        }
        func counted(_ entry: SampleEntry) -> [Inner] { entry.boxes.filter { isSetUpAlike || !$0.describesPicture } }
        guard let pair = Self.firstDifference(counted(self), counted(other)) else { return nil }
        return "its \(pair) is not as in the playlist"
    }

    private static func firstDifference(_ own: [Inner], _ other: [Inner]) -> FourCC? {
        if own == other {
            return nil
        }
        let added = own.first { !other.contains($0) }
        let missing = other.first { !own.contains($0) }
        let difference = added ?? missing
        // Without a box of its own on either side, only the order differs: then the first box stands for it.
        return (difference ?? own.first)?.type
    }

    /// True if a decoder configured by the other entry needs this entry's parameter sets.
    fileprivate func needsParameterSets(behind other: SampleEntry) -> Bool {
        format != other.format || configuration != other.configuration
    }
}
