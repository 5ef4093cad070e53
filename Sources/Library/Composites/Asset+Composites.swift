import Playlist

/// Which renditions can be made whole with pieces of others.
extension Asset {
    /// What can stand in for the segments of a rendition; nil where nothing ever can: of live streams, of subtitles,
    /// and of what has no other quality.
    public func substitutes(of rendition: Rendition) -> Substitutes? {
        guard let multivariant, renditions.count > 1, renditions.indices.contains(rendition.place),
            renditions[rendition.place] === rendition, rendition.source?.isDurable ?? false
        else { return nil }
        let editions = renditions.map(\.edition)
        if composites.editions != editions { composites = Composites(editions: editions) }
        if let known = composites.known[rendition.place] { return known }
        let made = makeSubstitutes(of: rendition, multivariant)
        composites.known[rendition.place] = .some(made)
        return made
    }

    private func makeSubstitutes(of rendition: Rendition, _ multivariant: MultivariantPlaylist) -> Substitutes? {
        func candidate(_ rendition: Rendition) -> Alignment.Candidate? {
            guard rendition.source?.isDurable ?? false, !rendition.name.isIFramesOnly else { return nil }
            return RenditionTraits(ofRendition: rendition.place, in: multivariant)
                .map { Alignment.Candidate(rendition: rendition, traits: $0) }
        }
        guard let own = candidate(rendition) else { return nil }
        let others = renditions.filter { $0 !== rendition }.compactMap(candidate)
            .filter { $0.traits.isSoundApart == own.traits.isSoundApart }
        guard !others.isEmpty else { return nil }
        return Substitutes(of: own, among: others, isIndependent: multivariant.hasIndependentSegments)
    }

    /// The segments of a rendition in time, and which can be played without the origin, be it with another one's
    /// piece.
    func storedTrack(of rendition: Rendition) -> CommonCut.Track? {
        rendition.storedTrack(with: substitutes(of: rendition))
    }

    /// The renditions that an entry lists which asks nothing of the origin: those that are whole, and those that others
    /// make whole, unless what is whole by itself is as good.
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

    /// Whether others make it whole, as far as it is not; what EXT-X-GAP marks is nobody's to have.
    private func isCovered(_ rendition: Rendition) -> Bool {
        guard let track = storedTrack(of: rendition), let segments = rendition.source?.playlist.segments else {
            return false
        }
        return zip(track.isThere, segments).allSatisfy { $0 || $1.isGap }
    }
}

/// What stands in for what, as long as no playlist changes.
struct Composites {
    /// The playlists' editions that it was worked out from.
    var editions: [Int] = []
    /// By the places of the renditions whose segments are stood in for; nil for those that nothing can stand in for.
    var known: [Int: Substitutes?] = [:]
}
