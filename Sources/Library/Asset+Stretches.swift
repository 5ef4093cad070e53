import Playlist

/// Finds the playable ranges of a partial asset.
extension Asset {
    /// Says what can be played instead of the origin.
    enum Substitute {
        /// At least one complete entry.
        case whole
        /// Only playable ranges.
        case part
    }

    /// Says what can be played instead of the origin; nil if nothing can.
    var substitute: Substitute? {
        if isPlayableOffline { return .whole }
        return bytes > 0 && storedStretches?.isPlayable ?? false ? .part : nil
    }

    /// The playable ranges of the asset without its origin, if nothing is complete; nil if there are none.
    public var storedStretches: StoredStretches? {
        let tracks = renditions.map(storedTrack)
        return stretches(multivariant.map { PartialChoice($0, tracks: tracks).places } ?? [0], tracks)
    }

    /// The playable ranges of one rendition by itself, for a request of a rendition that no entry lists; nil if there
    /// are none.
    public func storedStretches(of rendition: Rendition) -> StoredStretches? {
        guard rendition.place < renditions.count, renditions[rendition.place] === rendition else { return nil }
        return stretches([rendition.place], renditions.map { $0 === rendition ? storedTrack(of: $0) : nil })
    }

    private func stretches(_ places: [Int], _ tracks: [CommonRanges.Track?]) -> StoredStretches? {
        let places = places.filter { tracks.indices.contains($0) && tracks[$0] != nil }
        guard !places.isEmpty else { return nil }
        let cut = CommonRanges(places.compactMap { tracks[$0] })
        let isMarked = !places.contains { renditions[$0].hasSections }
        let cuts = zip(places, cut.stays).map { ($0, MediaPlaylistCut(stays: $1, isMarked: isMarked)) }
        return StoredStretches(
            cuts: Dictionary(uniqueKeysWithValues: cuts), seconds: cut.seconds,
            isCut: cut.stays.contains { $0.contains(false) })
    }
}
