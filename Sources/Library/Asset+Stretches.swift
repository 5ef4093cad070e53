import Playlist

/// What plays of an asset that is stored in part.
extension Asset {
    /// What can take the origin's place.
    enum Substitute {
        /// Something that is whole.
        case whole
        /// Stretches of something.
        case part
    }

    /// What can take the origin's place; nil where nothing can.
    var substitute: Substitute? {
        if isPlayableOffline { return .whole }
        return bytes > 0 && storedStretches?.isPlayable ?? false ? .part : nil
    }

    /// What can be played of the asset without its origin although nothing is whole; nil where that is nothing.
    public var storedStretches: StoredStretches? {
        let tracks = renditions.map(storedTrack)
        return stretches(multivariant.map { PartialChoice($0, tracks: tracks).places } ?? [0], tracks)
    }

    /// What can be played of one rendition by itself, for who asks for one that no entry lists; nil where that is
    /// nothing.
    public func storedStretches(of rendition: Rendition) -> StoredStretches? {
        guard rendition.place < renditions.count, renditions[rendition.place] === rendition else { return nil }
        return stretches([rendition.place], renditions.map { $0 === rendition ? storedTrack(of: $0) : nil })
    }

    private func stretches(_ places: [Int], _ tracks: [CommonCut.Track?]) -> StoredStretches? {
        let places = places.filter { tracks.indices.contains($0) && tracks[$0] != nil }
        guard !places.isEmpty else { return nil }
        let cut = CommonCut(places.compactMap { tracks[$0] })
        let isMarked = !places.contains { renditions[$0].hasSections }
        let cuts = zip(places, cut.stays).map { ($0, MediaPlaylistCut(stays: $1, isMarked: isMarked)) }
        return StoredStretches(
            cuts: Dictionary(uniqueKeysWithValues: cuts), seconds: cut.seconds,
            isCut: cut.stays.contains { $0.contains(false) })
    }
}
