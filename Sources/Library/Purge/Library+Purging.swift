import EventLoop
import Fetching
import FoundationEssentials
import Store

/// Assets of which all that is stored goes, while they stay known.
extension Library {
    /// Deletes what is stored of an asset, its revision included, unless somebody plays it. It stays in the list, with
    /// what became of it; what is asked for anew begins from nothing.
    ///
    /// Returns when the room is free.
    func purge(_ asset: Asset, _ cause: StorageLife.Cause) async {
        asset.wake()
        guard readOnlyReason == nil, !asset.isRemoved, asset.refusal == nil, !playCache.isInUse(asset, audience) else {
            return
        }
        let bytes = asset.bytes + (asset.revision?.bytes ?? 0)
        let purge = StorageLife.Purge(date: date(), bytes: bytes, cause: cause)
        let sentence = "\(asset.name) was purged, \(bytes >> 20) MB: \(reason(of: asset, cause))"
        asset.life.purge = purge
        events.send(.willPurge(asset, reason: sentence))
        if let revision = asset.revision { await abandon(revision) }
        let artwork = artwork(of: asset)
        let fault = await withCheckedContinuation { (done: CheckedContinuation<StoreError?, Never>) in
            do throws(StoreError) {
                try empty(asset) { done.resume(returning: nil) }
            } catch {
                done.resume(returning: error)
            }
        }
        if let fault {
            asset.life.purge = nil
            return report("\(asset.name) could not be purged: \(fault)")
        }
        report(sentence)
        guard !asset.isRemoved else { return }
        await saveLife(of: asset)
        if let artwork, !asset.isRemoved { try? keep(artwork, of: asset) }
        events.send(.purged(asset, purge))
    }

    private func empty(_ asset: Asset, isGone: @escaping @Sendable () -> Void) throws(StoreError) {
        loader.forget(asset.folders)
        playCache.forget(asset)
        try asset.bundle.clear(isGone: isGone)
        for folder in asset.folders { folder.emptied() }
        (asset.published, asset.knownArtwork) = ([], nil)
    }

    private func reason(of asset: Asset, _ cause: StorageLife.Cause) -> String {
        switch cause {
        case .expired: "it expired at \(asset.life.expiration.map(Self.instant) ?? "some time")"
        case .space: "the disk was full, and it was played the longest ago"
        case .spaceThoughImportant: "the disk was full, and nothing of less importance was left"
        }
    }

    /// An instant for people, in UTC: `2026-12-24T18:00:00Z`.
    static func instant(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }

    /// What a plan chooses from.
    var purgeCandidates: [PurgePlan.Candidate] {
        // What lies on another disk frees nothing here.
        assets.filter(\.isHome).map { asset in
            let summary = summaries[asset]
            let (bytes, cached) = (summary?.bytes ?? asset.bytes, summary?.cachedBytes ?? asset.cachedBytes)
            var candidate = PurgePlan.Candidate(
                id: asset.id, life: asset.life, created: asset.created, kept: bytes - cached, cached: cached)
            candidate.isPlaying = playCache.isInUse(asset, audience)
            candidate.isDownloading = asset.revision != nil || isFetched(asset)
            candidate.isIrreplaceable = asset.isRecorded || asset.isRecording
            return candidate
        }
    }
}
