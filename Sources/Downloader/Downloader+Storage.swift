import EventLoop
public import Library
import Retention
import Store

/// What becomes of downloads where what they have stored is given up, or there is no room for it.
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

    /// Ends the download of what is about to go; it does not begin again by itself.
    private func expel(_ asset: Asset, _ reason: String) {
        if let revision = asset.revision { forget(revision) }
        guard let download = byAsset[asset.id], !download.isUnreadable else { return }
        halt(download)
        let code = retention.isExpired(asset) ? LibraryError.Code.expired.rawValue : StoreError.Code.diskFull.rawValue
        set(download, .failed, nil, Download.Failure(code: code, message: reason))
        schedule()
        Task { @LoopActor in await save(download) }
    }

    /// Lets a download go on that the disk had no room for, once something has made way; where nothing does, it waits.
    func makeRoom(for download: Download, else failure: Download.Failure, _ pause: Duration) async {
        let isHome = download.asset.isHome
        let isMade = isHome ? await retention.makeRoom() : false
        guard !Task.isCancelled, download.state == .running, byAsset[download.asset.id] === download else { return }
        if isMade {
            set(download, .queued)
        } else {
            set(download, .waiting, .space, failure)
            wait(download, pause)
            if isHome { retention.noteFull() }
        }
        schedule()
        await save(download)
    }

    /// Whether a download may not begin, since its asset is not to be played any more: it fails then.
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

    /// Whether a download may not begin, since the disk of its asset is not there: it waits for that.
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

    /// An asset is called otherwise: whoever listens hears it.
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

    /// See `DownloadStatus`. Nothing is purged on other volumes: a download that waits for room there retries by itself.
    public var isRoomAwaited: Bool {
        byAsset.values.contains { $0.state == .waiting && $0.need == .space && $0.asset.isHome }
    }
}
