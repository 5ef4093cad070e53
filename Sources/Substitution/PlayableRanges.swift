public import Assets
import EventLoop
import Fetching
public import HLS
import Store

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
    public func isPlayableInPart(_ asset: Asset) async -> Bool {
        guard asset.bytes > 0 else { return false }
        return await playableRanges(of: asset)?.isPlayable ?? false
    }

    /// The playable ranges of what a player's choice leaves of an asset, as `playableRanges(of:)`.
    public func playableRanges(of asset: Asset, among chosen: Set<Int>) async -> PlayableRanges? {
        let (tracks, _) = await storedTracks(of: asset)
        let left = tracks.filter { chosen.contains($0.key) }
        return await ranges(asset, tracks: left, of: asset.multivariant, lone: 0)
    }

    /// The playable ranges of an asset without its origin, if nothing is complete; nil if there are none. Computed once for
    /// each change.
    public func playableRanges(of asset: Asset) async -> PlayableRanges? {
        if let known = views(of: asset)?.ranges, known.state == state(of: asset) {
            return known.ranges
        }
        return await tasks.ranges.run(TaskKey(asset: asset)) { [self] in
            // The state that the task begins with: those who join it may know a later one.
            let state = state(of: asset)
            let (tracks, isWhole) = await storedTracks(of: asset)
            let ranges = await ranges(asset, tracks: tracks, of: asset.multivariant, lone: 0)
            if isWhole {
                update(asset) { $0.ranges = (state, ranges) }
            }
            return ranges
        }
    }

    /// The playable ranges of one rendition by itself, when no entry lists it; nil if there are none.
    public func playableRanges(of rendition: Rendition, in asset: Asset) async -> PlayableRanges? {
        guard asset.content.has(rendition) else { return nil }
        var slice = LoopSlice(budget: Self.viewBudget)
        let track = await storedTrack(of: rendition, in: asset, &slice)
        guard asset.content.has(rendition), let track else { return nil }
        return await ranges(asset, tracks: [rendition.index: track], of: nil, lone: rendition.index)
    }

    /// The time that the computation of one view of an asset may take. What it does not reach counts as missing, and the next
    /// request looks on.
    private static let viewBudget = Duration.seconds(2)

    /// The tracks, and true if the budget reached all.
    private func storedTracks(of asset: Asset) async -> (tracks: [Int: CommonRanges.Track], isWhole: Bool) {
        await prepareTraits(of: asset)
        var slice = LoopSlice(budget: Self.viewBudget)
        var tracks = [Int: CommonRanges.Track]()
        for rendition in asset.renditions where rendition.hasEnded {
            tracks[rendition.index] = await storedTrack(of: rendition, in: asset, &slice)
            await slice.giveWay()
        }
        return (tracks, slice.mayGoOn)
    }

    /// - Parameters:
    ///   - multivariant: chooses the renditions that are played together; nil for `lone` by itself.
    private func ranges(
        _ asset: Asset, tracks: [Int: CommonRanges.Track], of multivariant: MultivariantPlaylist?, lone: Int
    ) async -> PlayableRanges? {
        guard !tracks.isEmpty else { return nil }
        let all = (0..<asset.renditions.count).map { tracks[$0] }
        let size = tracks.values.reduce(0) { $0 + 64 * $1.durations.count }
        let found = await work.run(size: size, for: asset) { () -> (indices: [Int], common: CommonRanges)? in
            var chosen = [lone]
            if let multivariant {
                chosen = PartialChoice(multivariant, tracks: all).indices
            }
            let indices = chosen.filter { all.indices.contains($0) && all[$0] != nil }
            guard !indices.isEmpty else { return nil }
            return (indices, CommonRanges(indices.compactMap { all[$0] }))
        }
        guard let (indices, common) = found.flatMap(\.self), indices.allSatisfy(asset.renditions.indices.contains)
        else {
            return nil
        }
        // Fragmented MP4 has initialization sections.
        let isMarked = indices.allSatisfy { asset.renditions[$0].source?.playlist.maps.isEmpty ?? true }
        let cuts = zip(indices, common.kept).map { ($0, MediaPlaylistCut(stays: $1, isMarked: isMarked)) }
        return PlayableRanges(
            cuts: Dictionary(uniqueKeysWithValues: cuts), seconds: common.seconds,
            isCut: common.kept.contains { $0.contains(false) })
    }

    /// The renditions of an entry for playback without the origin: the complete ones, and those that substitutes
    /// complete, unless a complete one is as good. Computed once for each change.
    public func offlineRenditions(of asset: Asset) async -> Set<Int> {
        if let known = views(of: asset)?.offline, known.state == state(of: asset) {
            return known.indices
        }
        return await tasks.offline.run(TaskKey(asset: asset)) { [self] in
            let state = state(of: asset)
            var slice = LoopSlice(budget: Self.viewBudget)
            let indices = await findOfflineRenditions(of: asset, &slice)
            if slice.mayGoOn {
                update(asset) { $0.offline = (state, indices) }
            }
            return indices
        }
    }

    private func findOfflineRenditions(of asset: Asset, _ slice: inout LoopSlice) async -> Set<Int> {
        await prepareTraits(of: asset)
        let complete = asset.content.completeRenditions
        guard let multivariant = asset.multivariant else { return complete }
        var covered: [Rendition] = []
        for rendition in asset.renditions where !complete.contains(rendition.index) {
            await slice.giveWay()
            guard let segments = rendition.source?.playlist.segments,
                let track = await storedTrack(of: rendition, in: asset, &slice),
                track.isPlayable.count == segments.count
            else { continue }
            // A segment with EXT-X-GAP is no hole here.
            if zip(track.isPlayable, segments).allSatisfy({ $0 || $1.isGap }) {
                covered.append(rendition)
            }
        }
        guard !covered.isEmpty else { return complete }
        let renditions = asset.renditions
        let indices = multivariant.completeVariants(renditions: complete).map(\.renditionIndex)
        let best = indices.filter(renditions.indices.contains).map { renditions[$0] }
        let useful = covered.filter { rendition in
            !best.contains { substitutes(of: rendition, in: asset)?.isBelow($0) ?? false }
        }
        return complete.union(useful.map(\.index))
    }

    /// The durations of a rendition's segments, and which of them can be played from the store: the piece or a
    /// substitute is stored, with its keys and its initialization section. Nil if the playlist has not ended, no piece
    /// is stored, or a key has expired or is revoked. An EXT-X-GAP counts as a hole: the others are cut there, too.
    private func storedTrack(
        of rendition: Rendition, in asset: Asset, _ slice: inout LoopSlice
    ) async -> CommonRanges.Track? {
        let folder = rendition.folder
        guard let source = rendition.source, source.isDurable, !folder.sizes.isEmpty, rendition.expiredKeys.isEmpty
        else { return nil }
        let state = state(of: asset)
        if let known = views(of: asset)?.tracks[rendition.index], known.state == state {
            return known.track
        }
        let playlist = source.playlist
        let substitutes = substitutes(of: rendition, in: asset)
        // A key that cannot be fetched does not count as a hole.
        let missingKeys = playlist.keys.filter { key in
            guard let number = rendition.number(of: key) else { return false }
            return !rendition.keys.hasFile(number)
        }
        let absentKeys = Set(missingKeys.map(\.index))
        let missingMaps = playlist.maps.filter { map in
            !folder.contains(rendition.name(of: map).description)
                || map.keys.contains { absentKeys.contains($0.index) }
        }
        let absentMaps = Set(missingMaps.map(\.index))
        var isUsable = [Bool](repeating: false, count: playlist.segments.count)
        var holes = isUsable
        var durations: [Double] = []
        durations.reserveCapacity(isUsable.count)
        for segment in playlist.segments {
            durations.append(segment.duration.seconds)
            var hasMap = true
            if let map = segment.map {
                hasMap = !absentMaps.contains(map.index)
            }
            isUsable[segment.index] =
                (!segment.isGap || rendition.isWithoutCues(segment)) && hasMap
                && (absentKeys.isEmpty || !segment.keys.contains { absentKeys.contains($0.index) })
            holes[segment.index] =
                isUsable[segment.index] && !folder.contains(rendition.file(of: segment))
                && !rendition.isWithoutCues(segment)
            if segment.index % 64 == 0 {
                await slice.giveWay()
            }
        }
        await substitutes?.cover(&holes, &slice)
        let isPlayable = await work.run(size: isUsable.count, for: asset) { [isUsable, holes] in
            zip(isUsable, holes).map { $0 && !$1 }
        }
        guard let isPlayable else { return nil }
        let track = CommonRanges.Track(durations: durations, isPlayable: isPlayable)
        if slice.mayGoOn {
            update(asset) { $0.tracks[rendition.index] = (state, track) }
        }
        return track
    }
}
