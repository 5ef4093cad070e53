// The room Substitution.
//
// Duty: which segments of another rendition may stand in for a hole, how they are spliced, and what of an asset plays
//     without its origin.
// Entrance: `Substitutions`.
// Does not enter: fetching. What a player gets is decided in `Playback`; here it is only known what would fit.

public import Assets
public import EventLoop
import Fetching
import HLS

/// Finds pieces of other renditions that can fill the holes of a rendition, and what plays from the store with them.
@LoopActor public final class Substitutions: PartialPlayback {
    /// The known facts of one asset, valid until one of its playlists changes.
    struct Known {
        fileprivate weak var asset: Asset?
        fileprivate let playlistChanges: Int
        /// By index of the rendition; nil for a rendition that cannot have substitutes.
        fileprivate var substitutes: [Int: SegmentSubstitutes?] = [:]
        fileprivate var candidates: [Int: Candidate?] = [:]
        /// Those of which the playlists are known; nil before they are sought.
        fileprivate var usable: [Candidate]?
        var views = Views()
    }

    /// The traits of the renditions that an entry lists. The playlists of these renditions do not change them.
    private struct EntryTraits {
        weak var content: AssetContent?
        let edition: Int
        let table: RenditionTraits.Table
    }

    /// Views of an asset that plays from the store, computed once for each change of it.
    struct Views {
        var offline: (state: State, indices: Set<Int>)?
        /// Nil inside if nothing plays.
        var ranges: (state: State, ranges: PlayableRanges?)?
        /// By true if the origin may be asked.
        var ladders: [Bool: (state: State, ladder: Ladder?)] = [:]
        /// By index of the rendition.
        var tracks: [Int: (state: State, track: CommonRanges.Track?)] = [:]
    }

    /// Counts of changes of an asset's playlists, pieces and keys.
    struct State: Equatable {
        let playlists, pieces, keys: Int
    }

    /// Identifies a computation under way, so that equal requests share it.
    struct TaskKey: Hashable, Sendable {
        let asset: ObjectIdentifier
        var isOffline = true

        init(asset: Asset, isOffline: Bool = true) {
            self.asset = ObjectIdentifier(asset)
            self.isOffline = isOffline
        }
    }

    /// The computations under way.
    @LoopActor final class Tasks {
        let ladders = SharedTasks<TaskKey, Ladder?>()
        let offline = SharedTasks<TaskKey, Set<Int>>()
        let ranges = SharedTasks<TaskKey, PlayableRanges?>()
    }

    let tasks = Tasks()
    let work = PureWork.shared
    /// By the id of the asset. Previews may share an id.
    private var known: [String: Known] = [:]
    private var entries: [String: EntryTraits] = [:]

    /// Creates an empty cache for the assets of one library.
    public init() {}

    /// The substitutes for segments; nil for live streams, for subtitles, and for media without another quality.
    public func substitutes(of rendition: Rendition, in asset: Asset) -> SegmentSubstitutes? {
        guard let multivariant = asset.multivariant, asset.renditions.count > 1, asset.content.has(rendition),
            rendition.hasEnded
        else { return nil }
        refresh(asset)
        if let found = known[asset.id]?.substitutes[rendition.index] {
            return found
        }
        let made = makeSubstitutes(of: rendition, in: asset, multivariant)
        known[asset.id]?.substitutes[rendition.index] = .some(made)
        return made
    }

    /// Implements `PartialPlayback`.
    public func forget(_ asset: Asset) {
        if known[asset.id]?.asset === asset {
            known[asset.id] = nil
        }
    }

    // MARK: Cache

    /// Drops what was known before the latest change of a playlist.
    private func refresh(_ asset: Asset) {
        if let found = known[asset.id], found.asset === asset, found.playlistChanges == asset.playlistChanges {
            return
        }
        known = known.filter { $0.value.asset != nil }
        entries = entries.filter { $0.value.content != nil }
        known[asset.id] = Known(asset: asset, playlistChanges: asset.playlistChanges)
    }

    func state(of asset: Asset) -> State {
        State(
            playlists: asset.playlistChanges,
            pieces: asset.renditions.reduce(0) { $0 &+ $1.folder.changes }, keys: asset.keys.changes)
    }

    func views(of asset: Asset) -> Views? {
        refresh(asset)
        return known[asset.id]?.views
    }

    /// Keeps a result, unless the playlists have changed since.
    func update(_ asset: Asset, _ body: (inout Views) -> Void) {
        refresh(asset)
        guard var views = known[asset.id]?.views else { return }
        body(&views)
        known[asset.id]?.views = views
    }

    /// Begins to read the traits of many renditions, so that they are known when the first segment is asked for.
    package func beginTraits(of asset: Asset) {
        guard asset.renditions.count > Self.fewRenditions, knownTraits(of: asset) == nil else { return }
        Task { @LoopActor in await prepareTraits(of: asset) }
    }

    /// The traits of so many renditions are read on the loop.
    private static let fewRenditions = 256

    /// Reads the traits of all renditions outside the loop, if there are many.
    package func prepareTraits(of asset: Asset) async {
        guard knownTraits(of: asset) == nil, let multivariant = asset.multivariant else { return }
        let content = asset.content
        let edition = content.edition
        let lines = multivariant.variants.count + multivariant.media.count
        let size = PureWork.small / Self.fewRenditions * lines
        let table = await work.run(size: size, for: asset) { RenditionTraits.Table(multivariant) }
        guard let table, asset.content === content, content.edition == edition else { return }
        refresh(asset)
        entries[asset.id] = EntryTraits(content: content, edition: edition, table: table)
    }

    /// The traits of all renditions.
    func traits(of asset: Asset) -> RenditionTraits.Table? {
        if let table = knownTraits(of: asset) {
            return table
        }
        guard let multivariant = asset.multivariant else { return nil }
        let table = RenditionTraits.Table(multivariant)
        refresh(asset)
        entries[asset.id] = EntryTraits(content: asset.content, edition: asset.content.edition, table: table)
        return table
    }

    private func knownTraits(of asset: Asset) -> RenditionTraits.Table? {
        guard let entry = entries[asset.id], entry.content === asset.content, entry.edition == asset.content.edition
        else { return nil }
        return entry.table
    }

    // MARK: Candidates

    private func candidate(_ rendition: Rendition, of asset: Asset) -> Candidate? {
        if let found = known[asset.id]?.candidates[rendition.index] {
            return found
        }
        let isUsable = rendition.hasEnded && !rendition.name.isIFramesOnly
        var made: Candidate?
        if isUsable, let traits = traits(of: asset)?[rendition.index] {
            made = Candidate(rendition, traits)
        }
        known[asset.id]?.candidates[rendition.index] = .some(made)
        return made
    }

    /// Makes the candidates of an asset in slices: each reads a playlist, and an entry may have hundreds.
    func prepareCandidates(of asset: Asset, _ slice: inout LoopSlice) async {
        refresh(asset)
        for rendition in asset.renditions where rendition.hasEnded {
            _ = candidate(rendition, of: asset)
            await slice.giveWay()
        }
    }

    /// Sought once: an entry may have 10,000 renditions, and each of hundreds is compared with the others.
    private func usableCandidates(of asset: Asset) -> [Candidate] {
        if let found = known[asset.id]?.usable {
            return found
        }
        let ended = asset.renditions.filter { $0.hasEnded }
        let found = ended.compactMap { candidate($0, of: asset) }
        known[asset.id]?.usable = found
        return found
    }

    private func makeSubstitutes(
        of rendition: Rendition, in asset: Asset, _ multivariant: MultivariantPlaylist
    ) -> SegmentSubstitutes? {
        guard let own = candidate(rendition, of: asset) else { return nil }
        let others = usableCandidates(of: asset).filter {
            $0.rendition !== rendition && $0.traits.isSeparateAudio == own.traits.isSeparateAudio
        }
        guard !others.isEmpty else { return nil }
        return SegmentSubstitutes(of: own, among: others, isIndependent: multivariant.hasIndependentSegments)
    }
}
