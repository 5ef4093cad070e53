import EventLoop
import Fetching
public import Library
public import Playlist

/// The renditions from which Weir selects a quality for each segment, for a player that is given one variant.
public struct Ladder {
    /// The variant with the best rendition.
    public let best: Variant
    /// The rendition whose playlist the player gets: the lowest. Pieces are compared with stored pieces of it, and
    /// these arrive first, while the bandwidth is still unknown.
    public let base: Rendition
}

extension Substitutions {
    /// Returns the ladder of an asset, after loading the playlists of its renditions. Nil if there is no choice: one
    /// variant, a live stream, or variants with different segment boundaries.
    /// - Parameter isStored: true if the origin must not be asked.
    public func ladder(of asset: Asset, in library: Library, isStored: Bool) async -> Ladder? {
        if isStored { return ladder(of: asset, listed: offlineRenditions(of: asset)) }
        let unknown = asset.interchangeableVariants.map { asset.renditions[$0.renditionIndex] }
            .filter { $0.source == nil }
        let tasks = unknown.map { rendition in
            Task { @LoopActor in
                // A rendition whose playlist cannot be loaded is left out.
                do throws(LibraryError) { _ = try await library.playlists.source(of: rendition, in: asset) } catch {}
            }
        }
        for task in tasks { await task.value }
        return ladder(of: asset, listed: nil)
    }

    /// The ladder from the known playlists; nil if there is no choice.
    /// - Parameter listed: the places of the renditions that play without the origin, if it must not be asked.
    private func ladder(of asset: Asset, listed: Set<Int>?) -> Ladder? {
        guard let multivariant = asset.multivariant, !asset.isLive, !asset.isRecorded else { return nil }
        let renditions = asset.renditions
        var known = asset.interchangeableVariants.filter { renditions[$0.renditionIndex].source?.isDurable ?? false }
        if let listed {
            known = known.filter {
                listed.contains($0.renditionIndex) || !renditions[$0.renditionIndex].folder.sizes.isEmpty
            }
            // The variant's audio must be available, too.
            let all = listed.union(known.map(\.renditionIndex))
            let playable = Set(multivariant.completeVariants(renditions: all).map(\.index))
            known = known.filter { playable.contains($0.index) }
        }
        guard let top = known.last else { return nil }
        let best = renditions[top.renditionIndex]
        if best.isComplete { return Ladder(best: top, base: best) }
        return ladder(of: asset, known) { listed?.contains($0) ?? true }
    }

    /// Returns the ladder with the best rendition, or else the one with most renditions.
    private func ladder(of asset: Asset, _ variants: [Variant], isBase: (Int) -> Bool) -> Ladder? {
        var (found, rank): (Ladder?, (Int, Int)) = (nil, (0, 0))
        for variant in variants where isBase(variant.renditionIndex) {
            let base = asset.renditions[variant.renditionIndex]
            let substitutes = substitutes(of: base, in: asset)
            let better = variants.filter { substitutes?.mayUse(asset.renditions[$0.renditionIndex]) ?? false }
            guard let best = better.last else { continue }
            let newRank = (best.index == variants.last?.index ? 1 : 0, better.count)
            if newRank > rank { (found, rank) = (Ladder(best: best, base: base), newRank) }
        }
        return found
    }
}

extension Asset {
    /// The variants of one kind, each rendition once, lowest bit rate first. Of several kinds, the one with the highest
    /// bit rate that leaves a choice. Empty if none does.
    fileprivate var interchangeableVariants: [Variant] {
        guard let multivariant else { return [] }
        var seen: Set<Int> = []
        var left = multivariant.variants.filter { seen.insert($0.renditionIndex).inserted }
            .map { (variant: $0, traits: RenditionTraits(ofRendition: $0.renditionIndex, in: multivariant)) }
            .sorted { $0.variant.bandwidth < $1.variant.bandwidth }
        while let top = left.last?.traits {
            let same = left.filter { $0.traits.map { top.obstacle(to: $0) == nil } ?? false }
            if same.count > 1 { return same.map(\.variant) }
            left.removeLast()
        }
        return []
    }
}
