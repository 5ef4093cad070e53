public import Assets
import EventLoop
import Fetching
public import HLS
import Store

/// The renditions from which Weir selects a quality for each segment, for a player that is given one variant.
public struct Ladder: Sendable {
    /// The variant with the best rendition.
    public let best: Variant
    /// The rendition whose playlist the player gets: the lowest, or one of which the beginning is stored. Pieces are compared with
    /// stored pieces of it, and these come first, while the bandwidth is still unknown.
    public let base: Rendition
}

extension Substitutions {
    /// Returns the ladder of an asset, after loading the playlists of its renditions. Nil if there is no choice: one
    /// variant, a live stream, or variants with different segment boundaries.
    /// - Parameters:
    ///   - isStored: true if the origin must not be asked.
    ///   - limit: how long playlists are waited for if segments of a variant are stored. If nothing else is known by then, that
    ///     variant plays, and the others join it when their playlists come.
    public func ladder(
        of asset: Asset, in library: Library, isStored: Bool, waitingFor limit: Duration
    ) async -> Ladder? {
        if isStored {
            return await ladder(of: asset, listed: await offlineRenditions(of: asset))
        }
        await prepareTraits(of: asset)
        let unknown = interchangeableVariants(of: asset).sample(Self.mostLoaded)
            .map { asset.renditions[$0.renditionIndex] }.filter { $0.source == nil }
        let tasks = unknown.map { rendition in
            Task { @LoopActor in
                // A rendition whose playlist cannot be loaded is left out.
                do throws(LibraryError) { _ = try await library.playlists.source(of: rendition, in: asset) } catch {}
            }
        }
        let all = Task { @LoopActor in
            for task in tasks {
                await task.value
            }
        }
        guard let stored = bestStoredVariant(of: asset) else {
            await all.value
            return await ladder(of: asset, listed: nil)
        }
        let isWhole = await all.value(within: limit) != nil
        let ladder = await ladder(of: asset, listed: nil)
        guard ladder == nil, !isWhole, asset.renditions.indices.contains(stored.renditionIndex) else { return ladder }
        return Ladder(best: stored, base: asset.renditions[stored.renditionIndex])
    }

    /// The best variant that can be exchanged for others, and of which segments are stored; nil if there is none.
    private func bestStoredVariant(of asset: Asset) -> Variant? {
        interchangeableVariants(of: asset).last { variant in
            let rendition = asset.renditions[variant.renditionIndex]
            return rendition.hasEnded && !rendition.folder.sizes.isEmpty
                && rendition.folder.hasSegments ?? false
        }
    }

    /// So many playlists are loaded for a ladder at most.
    private static let mostLoaded = 512
    /// The time that the search for the best ladder of an asset may take.
    private static let budget = Duration.seconds(1)

    /// The ladder from the known playlists, computed once for each change; nil if there is no choice.
    /// - Parameter listed: the indices of the renditions that play without the origin, if it must not be asked.
    private func ladder(of asset: Asset, listed: Set<Int>?) async -> Ladder? {
        if let known = views(of: asset)?.ladders[listed == nil], known.state == state(of: asset) {
            return known.ladder
        }
        return await tasks.ladders.run(TaskKey(asset: asset, isOffline: listed != nil)) { [self] in
            let state = state(of: asset)
            var slice = LoopSlice()
            let ladder = await findLadder(of: asset, listed: listed, &slice)
            if slice.mayGoOn {
                update(asset) { $0.ladders[listed == nil] = (state, ladder) }
            }
            return ladder
        }
    }

    private func findLadder(of asset: Asset, listed: Set<Int>?, _ slice: inout LoopSlice) async -> Ladder? {
        await prepareTraits(of: asset)
        guard let multivariant = asset.multivariant, !asset.isLive, !asset.isRecorded else { return nil }
        let renditions = asset.renditions
        var known = interchangeableVariants(of: asset).filter {
            renditions[$0.renditionIndex].hasEnded
        }
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
        if best.isComplete {
            return Ladder(best: top, base: best)
        }
        slice = LoopSlice(budget: Self.budget)
        if listed == nil, let ladder = await storedLadder(of: asset, renditions: renditions, variants: known, &slice) {
            return ladder
        }
        return await bestLadder(of: asset, renditions: renditions, variants: known, &slice) {
            listed?.contains($0) ?? true
        }
    }

    /// Returns the ladder whose base has a stored beginning, if nothing of the lowest rendition is stored: that would have to be fetched
    /// before any stored piece could be compared with it. Nil unless there is a lower quality for a slow link.
    private func storedLadder(
        of asset: Asset, renditions: [Rendition], variants: [Variant], _ slice: inout LoopSlice
    ) async -> Ladder? {
        guard let lowest = variants.first, renditions[lowest.renditionIndex].folder.sizes.isEmpty,
            let variant = variants.last(where: { renditions[$0.renditionIndex].hasStoredBeginning })
        else { return nil }
        await prepareCandidates(of: asset, &slice)
        let base = renditions[variant.renditionIndex]
        guard let substitutes = substitutes(of: base, in: asset), substitutes.hasLikelyLower else { return nil }
        let better = await substitutes.likelyBetter(&slice)
        let best = variants.last { other in better.contains { $0 === renditions[other.renditionIndex] } }
        return Ladder(best: best ?? variant, base: base)
    }

    /// Returns the ladder with the best rendition, or else the one with most renditions, of those that the budget reaches.
    private func bestLadder(
        of asset: Asset, renditions: [Rendition], variants: [Variant], _ slice: inout LoopSlice,
        isBase: (Int) -> Bool
    ) async -> Ladder? {
        await prepareCandidates(of: asset, &slice)
        var found: Ladder? = nil
        var rank: (Int, Int) = (0, 0)
        let byRendition = Dictionary(
            variants.map { (ObjectIdentifier(renditions[$0.renditionIndex]), $0) },
            uniquingKeysWith: { first, _ in first })
        for (index, variant) in variants.enumerated() where isBase(variant.renditionIndex) && slice.mayGoOn {
            // No later base has more renditions above it.
            if rank.0 == 1, rank.1 >= variants.count - 1 - index {
                break
            }
            let base = renditions[variant.renditionIndex]
            let likely = await substitutes(of: base, in: asset)?.likelyBetter(&slice) ?? []
            let better = likely.compactMap { byRendition[ObjectIdentifier($0)] }
            guard let best = better.last else { continue }
            // The best rendition of all counts more than any number of others.
            let reachesTop = best.index == variants.last?.index ? 1 : 0
            let newRank = (reachesTop, better.count)
            if newRank > rank {
                found = Ladder(best: best, base: base)
                rank = newRank
            }
        }
        return found
    }

    /// See `RenditionTraits.Table.interchangeableVariants(of:)`.
    private func interchangeableVariants(of asset: Asset) -> [Variant] {
        guard let multivariant = asset.multivariant, let traits = traits(of: asset) else { return [] }
        return traits.interchangeableVariants(of: multivariant)
    }
}

extension Rendition {
    /// True if the first segment is stored, with its initialization section and keys.
    fileprivate var hasStoredBeginning: Bool {
        guard let first = source?.playlist.segments.first, folder.contains(file(of: first)) else { return false }
        if let map = first.map, !folder.contains(name(of: map).description) {
            return false
        }
        return first.keys.compactMap { number(of: $0) }.allSatisfy(keys.hasFile)
    }
}
