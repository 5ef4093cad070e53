import Fetching
public import Library
public import Playlist

/// The playable ranges of a partial asset without its origin: some renditions, with equal cuts.
public struct PlayableRanges: Sendable {
    /// The cuts of the renditions, by index in `Asset.renditions`.
    public let cuts: [Int: MediaPlaylistCut]
    /// Playable duration, in seconds.
    public let seconds: Double
    /// True if anything is cut out of any rendition.
    public let isCut: Bool
    /// True if it is long enough to be useful. The read-ahead of a player that was closed early is not.
    public var isPlayable: Bool { seconds >= Self.minimum }
    private static let minimum = 3.0
}

extension Substitutions {
    /// Implements `PartialPlayback`.
    public func isPlayableInPart(_ asset: Asset) -> Bool {
        asset.bytes > 0 && playableRanges(of: asset)?.isPlayable ?? false
    }

    /// The playable ranges of an asset without its origin, if nothing is complete; nil if there are none.
    public func playableRanges(of asset: Asset) -> PlayableRanges? {
        let tracks = asset.renditions.map { storedTrack(of: $0, in: asset) }
        return ranges(asset, asset.multivariant.map { PartialChoice($0, tracks: tracks).places } ?? [0], tracks)
    }

    /// The playable ranges of one rendition by itself, when no entry lists it; nil if there are none.
    public func playableRanges(of rendition: Rendition, in asset: Asset) -> PlayableRanges? {
        guard asset.has(rendition) else { return nil }
        let tracks = asset.renditions.map { $0 === rendition ? storedTrack(of: $0, in: asset) : nil }
        return ranges(asset, [rendition.place], tracks)
    }

    private func ranges(_ asset: Asset, _ places: [Int], _ tracks: [CommonRanges.Track?]) -> PlayableRanges? {
        let places = places.filter { tracks.indices.contains($0) && tracks[$0] != nil }
        guard !places.isEmpty else { return nil }
        let common = CommonRanges(places.compactMap { tracks[$0] })
        // Fragmented MP4 has initialization sections.
        let isMarked = places.allSatisfy { asset.renditions[$0].source?.playlist.maps.isEmpty ?? true }
        let cuts = zip(places, common.kept).map { ($0, MediaPlaylistCut(stays: $1, isMarked: isMarked)) }
        return PlayableRanges(
            cuts: Dictionary(uniqueKeysWithValues: cuts), seconds: common.seconds,
            isCut: common.kept.contains { $0.contains(false) })
    }

    /// The renditions of an entry for playback without the origin: the complete ones, and those that substitutes
    /// complete, unless a complete one is as good.
    public func offlineRenditions(of asset: Asset) -> Set<Int> {
        let complete = asset.completeRenditions
        guard let multivariant = asset.multivariant else { return complete }
        let covered = asset.renditions.filter { rendition in
            guard !complete.contains(rendition.place), let track = storedTrack(of: rendition, in: asset),
                let segments = rendition.source?.playlist.segments
            else { return false }
            // A segment with EXT-X-GAP is no hole here.
            return zip(track.isPlayable, segments).allSatisfy { $0 || $1.isGap }
        }
        guard !covered.isEmpty else { return complete }
        let best = multivariant.completeVariants(renditions: complete).map { asset.renditions[$0.renditionIndex] }
        let useful = covered.filter { rendition in
            !best.contains { substitutes(of: rendition, in: asset)?.isBelow($0) ?? false }
        }
        return complete.union(useful.map(\.place))
    }

    /// The durations of a rendition's segments, and which of them can be played from the store: the piece or a
    /// substitute is stored, with its keys and its initialization section. Nil if the playlist has not ended, no piece
    /// is stored, or a key has expired or is revoked. An EXT-X-GAP counts as a hole: the others are cut there, too.
    private func storedTrack(of rendition: Rendition, in asset: Asset) -> CommonRanges.Track? {
        let folder = rendition.folder
        guard let source = rendition.source, source.isDurable, !folder.sizes.isEmpty, rendition.expiredKeys.isEmpty
        else { return nil }
        let (playlist, substitutes) = (source.playlist, substitutes(of: rendition, in: asset))
        // A key that cannot be fetched does not count as a hole.
        let absentKeys = Set(
            playlist.keys.filter { key in
                rendition.number(of: key).map { !rendition.keys.hasFile($0) } ?? false
            }.map(\.index))
        let absentMaps = Set(
            playlist.maps.filter { map in
                !folder.contains(rendition.name(of: map).description)
                    || map.keys.contains { absentKeys.contains($0.index) }
            }.map(\.index))
        let isPlayable = playlist.segments.map { segment in
            !segment.isGap && !(segment.map.map { absentMaps.contains($0.index) } ?? false)
                && (absentKeys.isEmpty || !segment.keys.contains { absentKeys.contains($0.index) })
                && (folder.contains(rendition.file(of: segment)) || substitutes?.covers(segment.index) ?? false)
        }
        return CommonRanges.Track(durations: playlist.segments.map(\.duration), isPlayable: isPlayable)
    }
}
