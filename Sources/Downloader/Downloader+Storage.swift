import EventLoop
public import Library
import Retention
import Store

/// Reactions to purges, a full disk and absent volumes.
extension Downloader {
    /// Pauses, repairs or retries downloads after a change in the library.
    func react(to event: LibraryEvent) {
        switch event {
        case .pieceLost(let asset): mend(asset)
        case .willPurge(let asset, let reason): expel(asset, reason)
        case .roomCame: tryAgain(.space) { $0.asset.isHome }
        case .volumeReturned: tryAgain(.disk)
        default: break
        }
    }

    /// Stops the download of an asset that is about to be purged; it does not restart by itself.
    private func expel(_ asset: Asset, _ reason: String) {
        if let revision = asset.revision { forget(revision) }
        guard let download = byAsset[asset.id], !download.isUnreadable else { return }
        halt(download)
        let code = retention.isExpired(asset) ? LibraryError.Code.expired.rawValue : StoreError.Code.diskFull.rawValue
        set(download, .failed, nil, Download.Failure(code: code, message: reason))
        schedule()
        Task { @LoopActor in await save(download) }
    }

    /// Continues a download that ran out of room, once other content was evicted; if nothing can be evicted, the
    /// download waits.
    func makeRoom(for download: Download, else failure: Download.Failure, _ pause: Duration) async {
        let isHome = download.asset.isHome
        let isMade = isHome ? await retention.makeRoom() : false
        guard !Task.isCancelled, download.state == .running, byAsset[download.asset.id] === download else { return }
        if isMade {
            set(download, .queued)
        } else {
            set(download, .waiting, .space, failure)
            wait(download, pause)
            if isHome { retention.recordDiskFull() }
        }
        schedule()
        await save(download)
    }

    /// True if the download may not begin because its asset has expired; the download then fails.
    func fails(ifExpired download: Download) -> Bool {
        do throws(LibraryError) {
            try retention.checkExpiry(of: download.asset)
            return false
        } catch {
            fail(download, Download.Failure(code: error.code.rawValue, message: error.message))
            Task { @LoopActor in await save(download) }
            return true
        }
    }

    /// True if the download may not begin because the asset's disk is absent; the download then waits for the disk.
    func waits(forDiskOf download: Download) -> Bool {
        do throws(LibraryError) {
            try library.checkPresence(of: download.asset)
            return false
        } catch {
            set(download, .waiting, .disk, Download.Failure(error))
            Task { @LoopActor in await save(download) }
            return true
        }
    }

    /// Notifies the observers that an asset was renamed.
    public func renamed(_ asset: Asset) {
        for asset in [asset, asset.revision] {
            if let download = asset.flatMap({ byAsset[$0.id] }) { tell(download, .state) }
        }
    }
}

extension Downloader: DownloadStatus {
    /// See `DownloadStatus`.
    public func isKept(_ asset: Asset) -> Bool { byAsset[asset.id].map { $0.state != .cancelled } ?? false }

    /// See `DownloadStatus`.
    public func isFetched(_ asset: Asset) -> Bool { byAsset[asset.id]?.state.isActive ?? false }

    /// See `DownloadStatus`. Nothing is purged on other volumes: a download that waits for room there retries by
    /// itself.
    public var isRoomAwaited: Bool {
        byAsset.values.contains { $0.state == .waiting && $0.need == .space && $0.asset.isHome }
    }
}
