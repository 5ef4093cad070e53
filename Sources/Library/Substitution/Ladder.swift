import EventLoop
import Fetching
public import Playlist

/// The renditions from which Weir selects a quality for each segment, for a player that is given one variant.
public struct Ladder {
    /// The variant with the best rendition.
    public let best: Variant
    /// The rendition whose playlist the player gets: the lowest. Pieces are compared with stored pieces of it, and
    /// these arrive first, while the bandwidth is still unknown.
    public let frame: Rendition
    /// The better renditions, whose pieces may replace its own.
    public let better: [Rendition]
}

extension Asset {
    /// The variants of one kind, each rendition once, lowest bit rate first. Of several kinds, the one with the highest
    /// bit rate that leaves a choice. Empty if none does.
    var kin: [Variant] {
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

    /// The ladder from the known playlists; nil if there is no choice.
    ///
    /// - Parameter listed: the places of the renditions that play without the origin, if it must not be asked.
    func ladder(_ listed: Set<Int>?) -> Ladder? {
        guard let multivariant, !isLive, !isRecorded else { return nil }
        var known = kin.filter { renditions[$0.renditionIndex].source?.isDurable ?? false }
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
        if best.isWhole { return Ladder(best: top, frame: best, better: []) }
        return ladder(of: known) { listed?.contains($0) ?? true }
    }

    /// Returns the ladder with the best rendition, or else the one with most renditions.
    private func ladder(of variants: [Variant], isFrame: (Int) -> Bool) -> Ladder? {
        var found: (ladder: Ladder, leadsUp: Bool)?
        for variant in variants where isFrame(variant.renditionIndex) {
            let frame = renditions[variant.renditionIndex]
            guard let substitutes = substitutes(of: frame) else { continue }
            let above = variants.filter { substitutes.mayTake(renditions[$0.renditionIndex]) }
            guard let best = above.last else { continue }
            let leadsUp = best.index == variants.last?.index
            if let found {
                if found.leadsUp != leadsUp, found.leadsUp { continue }
                if found.leadsUp == leadsUp, found.ladder.better.count >= above.count { continue }
            }
            let ladder = Ladder(best: best, frame: frame, better: above.map { renditions[$0.renditionIndex] })
            found = (ladder, leadsUp)
        }
        return found?.ladder
    }
}

extension Library {
    /// Returns the ladder of an asset, after loading the playlists of its renditions. Nil if there is no choice: one
    /// variant, a live stream, or variants with different segment boundaries.
    ///
    /// - Parameter isStored: true if the origin must not be asked.
    public func ladder(of asset: Asset, isStored: Bool) async -> Ladder? {
        if isStored { return asset.ladder(asset.offlineRenditions) }
        let unknown = asset.kin.map { asset.renditions[$0.renditionIndex] }.filter { $0.source == nil }
        let tasks = unknown.map { rendition in
            Task { @LoopActor in
                // A rendition whose playlist cannot be loaded is left out.
                do throws(LibraryError) { _ = try await playlists.source(of: rendition, in: asset) } catch {}
            }
        }
        for task in tasks { await task.value }
        return asset.ladder(nil)
    }
}
