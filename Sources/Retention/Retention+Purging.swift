import EventLoop
import Fetching
public import Library
import Store

/// Purges assets: deletes everything stored of an asset, which stays in the library.
extension Retention {
    /// Deletes everything stored of an asset and its revision, unless a session plays it. The asset stays in the list
    /// with the record of the purge. A new download or playback starts from nothing.
    ///
    /// Returns once the space is free.
    func purge(_ asset: Asset, _ cause: StorageLife.Cause) async {
        asset.load()
        guard library.readOnlyReason == nil, !asset.isRemoved, asset.refusal == nil, !cache.isInUse(asset) else {
            return
        }
        let bytes = asset.bytes + (asset.revision?.bytes ?? 0)
        let purge = StorageLife.Purge(date: library.date(), bytes: bytes, cause: cause)
        let sentence = "\(asset.name) was purged, \(bytes >> 20) MB: \(reason(of: asset, cause))"
        asset.life.purge = purge
        library.events.send(.willPurge(asset, reason: sentence))
        if let revision = asset.revision { await library.revisions.abandon(revision) }
        let artwork = library.artwork.image(of: asset)
        let fault = await withCheckedContinuation { (done: CheckedContinuation<StoreError?, Never>) in
            do throws(StoreError) {
                cache.forget(asset)
                try library.empty(asset) { done.resume(returning: nil) }
            } catch {
                done.resume(returning: error)
            }
        }
        if let fault {
            asset.life.purge = nil
            return library.report("\(asset.name) could not be purged: \(fault)")
        }
        library.report(sentence)
        guard !asset.isRemoved else { return }
        await library.records.saveLife(of: asset)
        if let artwork, !asset.isRemoved { try? library.artwork.keep(artwork, of: asset) }
        library.events.send(.purged(asset, purge))
    }

    /// Removes the record of a purge, because the asset was requested again.
    public func forgetPurge(of asset: Asset) {
        guard asset.life.purge != nil else { return }
        asset.life.purge = nil
        Task { await library.records.saveLife(of: asset) }
    }

    private func reason(of asset: Asset, _ cause: StorageLife.Cause) -> String {
        switch cause {
        case .expired: "it expired at \(asset.life.expiration.map(Library.instant) ?? "some time")"
        case .space: "the disk was full, and it was played the longest ago"
        case .spaceThoughImportant: "the disk was full, and nothing of less importance was left"
        }
    }

    /// The assets that a plan chooses from.
    var purgeCandidates: [PurgePlan.Candidate] {
        // Purging assets on another volume frees no space here.
        library.assets.filter(\.isHome).map { asset in
            let summary = library.summaries?.summary(of: asset)
            let (bytes, cached) = (summary?.bytes ?? asset.bytes, summary?.cachedBytes ?? asset.cachedBytes)
            var candidate = PurgePlan.Candidate(
                id: asset.id, life: asset.life, created: asset.created, kept: bytes - cached, cached: cached)
            candidate.isPlaying = cache.isInUse(asset)
            candidate.isDownloading = asset.revision != nil || library.isFetched(asset)
            candidate.isIrreplaceable = asset.isRecorded || asset.isRecording
            return candidate
        }
    }
}
