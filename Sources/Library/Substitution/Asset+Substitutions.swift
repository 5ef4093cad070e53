import Playlist

/// Finds the renditions that pieces of others can complete.
extension Asset {
    /// The substitutes for segments of a rendition; nil if there can be none: for live streams, subtitles, and media
    /// without another quality.
    public func substitutes(of rendition: Rendition) -> SegmentSubstitutes? {
        guard let multivariant, renditions.count > 1, renditions.indices.contains(rendition.place),
            renditions[rendition.place] === rendition, rendition.source?.isDurable ?? false
        else { return nil }
        let editions = renditions.map(\.edition)
        if substitutions.editions != editions { substitutions = Substitutions(editions: editions) }
        if let known = substitutions.known[rendition.place] { return known }
        let made = makeSubstitutes(of: rendition, multivariant)
        substitutions.known[rendition.place] = .some(made)
        return made
    }

    private func makeSubstitutes(of rendition: Rendition, _ multivariant: MultivariantPlaylist) -> SegmentSubstitutes? {
        func candidate(_ rendition: Rendition) -> Alignment.Candidate? {
            guard rendition.source?.isDurable ?? false, !rendition.name.isIFramesOnly else { return nil }
            return RenditionTraits(ofRendition: rendition.place, in: multivariant)
                .map { Alignment.Candidate(rendition: rendition, traits: $0) }
        }
        guard let own = candidate(rendition) else { return nil }
        let others = renditions.filter { $0 !== rendition }.compactMap(candidate)
            .filter { $0.traits.isSoundApart == own.traits.isSoundApart }
        guard !others.isEmpty else { return nil }
        return SegmentSubstitutes(of: own, among: others, isIndependent: multivariant.hasIndependentSegments)
    }

    /// The durations of a rendition's segments, and which of them can be played without the origin, with a substitute
    /// if necessary.
    func storedTrack(of rendition: Rendition) -> CommonRanges.Track? {
        rendition.storedTrack(with: substitutes(of: rendition))
    }

    /// The renditions of an entry for playback without the origin: the complete ones, and those that substitutes
    /// complete, unless a complete one is as good.
    public var offlineRenditions: Set<Int> {
        let whole = wholeRenditions
        guard let multivariant else { return whole }
        let covered = renditions.filter { !whole.contains($0.place) && isCovered($0) }
        guard !covered.isEmpty else { return whole }
        let best = multivariant.completeVariants(renditions: whole).map { renditions[$0.renditionIndex] }
        let useful = covered.filter { rendition in
            !best.contains { substitutes(of: rendition)?.isBelow($0) ?? false }
        }
        return whole.union(useful.map(\.place))
    }

    /// True if substitutes fill all holes of a rendition. A segment with EXT-X-GAP does not count.
    private func isCovered(_ rendition: Rendition) -> Bool {
        guard let track = storedTrack(of: rendition), let segments = rendition.source?.playlist.segments else {
            return false
        }
        return zip(track.isThere, segments).allSatisfy { $0 || $1.isGap }
    }
}

/// Caches the substitutes until a playlist changes.
struct Substitutions {
    /// The editions of the playlists at the time of the computation.
    var editions: [Int] = []
    /// By index of the rendition; nil for a rendition that cannot have substitutes.
    var known: [Int: SegmentSubstitutes?] = [:]
}
