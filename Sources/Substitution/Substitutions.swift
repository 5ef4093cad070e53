public import EventLoop
public import Library
import Playlist

/// Finds pieces of other renditions that can fill the holes of a rendition, and what plays from the store with them.
@LoopActor public final class Substitutions: PartialPlayback {
    /// The substitutes for one asset, valid until one of its playlists changes.
    private struct Known {
        weak var asset: Asset?
        let editions: [Int]
        /// By index of the rendition; nil for a rendition that cannot have substitutes.
        var substitutes: [Int: SegmentSubstitutes?] = [:]
    }

    /// By the id of the asset. Previews may share an id.
    private var known: [String: Known] = [:]

    /// Creates an empty cache for the assets of one library.
    public init() {}

    /// The substitutes for segments; nil for live streams, for subtitles, and for media without another quality.
    public func substitutes(of rendition: Rendition, in asset: Asset) -> SegmentSubstitutes? {
        guard let multivariant = asset.multivariant, asset.renditions.count > 1, asset.has(rendition),
            rendition.source?.isDurable ?? false
        else { return nil }
        let editions = [asset.edition] + asset.renditions.map(\.edition)
        if known[asset.id]?.asset !== asset || known[asset.id]?.editions != editions {
            known = known.filter { $0.value.asset != nil }
            known[asset.id] = Known(asset: asset, editions: editions)
        }
        if let found = known[asset.id]?.substitutes[rendition.place] { return found }
        let made = makeSubstitutes(of: rendition, in: asset, multivariant)
        known[asset.id]?.substitutes[rendition.place] = .some(made)
        return made
    }

    /// Implements `PartialPlayback`.
    public func forget(_ asset: Asset) {
        if known[asset.id]?.asset === asset { known[asset.id] = nil }
    }

    private func makeSubstitutes(
        of rendition: Rendition, in asset: Asset, _ multivariant: MultivariantPlaylist
    ) -> SegmentSubstitutes? {
        func candidate(_ rendition: Rendition) -> Alignment.Candidate? {
            guard rendition.source?.isDurable ?? false, !rendition.name.isIFramesOnly else { return nil }
            return RenditionTraits(ofRendition: rendition.place, in: multivariant)
                .map { Alignment.Candidate(rendition: rendition, traits: $0) }
        }
        guard let own = candidate(rendition) else { return nil }
        let others = asset.renditions.filter { $0 !== rendition }.compactMap(candidate)
            .filter { $0.traits.isSeparateAudio == own.traits.isSeparateAudio }
        guard !others.isEmpty else { return nil }
        return SegmentSubstitutes(of: own, among: others, isIndependent: multivariant.hasIndependentSegments)
    }
}
