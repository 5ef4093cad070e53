package import Assets
import EventLoop
import Glibc
package import Integrity
import Orders
import Retention
import Store

/// Pinned content, and reactions to purges, a full disk, absent volumes and lost pieces.
extension Downloader {
    func pin(_ download: Download) {
        download.asset.whenLoaded { [weak self, weak download] in
            guard let self, let download, byAsset[download.asset.id] === download else { return }
            retention.pin(download.pins, of: download.asset)
        }
    }

    func react(to event: LibraryEvent) {
        switch event {
        case .pieceLost(let asset): resumeIncomplete(asset)
        case .willPurge(let asset, let reason): stop(beforePurgeOf: asset, reason)
        case .roomCame: retry(.space) { $0.asset.isHome }
        case .volumeReturned: retry(.volume)
        default: break
        }
    }

    /// Stops the download of an asset that is about to be purged; it does not restart by itself.
    private func stop(beforePurgeOf asset: Asset, _ reason: String) {
        if let revision = asset.revision {
            forget(revision)
        }
        guard let download = byAsset[asset.id], !download.isUnreadable else { return }
        halt(download)
        let code: JobFailure.Code = retention.isExpired(asset) ? .library(.expired) : .store(.diskFull)
        set(download, .failed, failure: JobFailure(code: code, message: reason))
        schedule()
        saveSoon(download)
    }

    /// Continues a download that ran out of room if other content could be evicted; else the download waits.
    func makeRoom(for download: Download, else failure: JobFailure, _ pause: Duration) async {
        let isHome = download.asset.isHome
        let isMade = isHome ? await retention.makeRoom() : false
        guard !Task.isCancelled, download.state == .running, byAsset[download.asset.id] === download else { return }
        if isMade {
            set(download, .queued)
        } else if download.task.recordsLive, closeRecording(download) {
            // A recording with a hole of unknown length is worth less than one that ends.
            let sentence = "\(download.asset.name) has ended, because the disk is full; what is recorded plays"
            fail(download, JobFailure(code: failure.code, message: sentence))
        } else {
            set(download, .waiting, need: .space, failure: failure)
            wait(download, pause)
            if isHome {
                retention.recordDiskFull()
            }
        }
        schedule()
        await save(download)
    }

    /// True if the download may not begin: it fails if its asset has expired, and waits if the volume is absent.
    func isObstructed(_ download: Download) -> Bool {
        do throws(LibraryError) {
            try retention.checkExpiry(of: download.asset)
        } catch {
            fail(download, JobFailure(error))
            saveSoon(download)
            return true
        }
        do throws(LibraryError) {
            try library.volumes.checkPresence(of: download.asset)
        } catch {
            set(download, .waiting, need: .volume, failure: JobFailure(error))
            saveSoon(download)
            return true
        }
        return false
    }

    /// Changes the description of a download.
    package func setNote(_ note: String?, of download: Download) async {
        guard download.task.note != note else { return }
        download.task.note = note
        notify(download, .state)
        await save(download)
    }

    /// Notifies the subscribers that an asset was renamed.
    package func renamed(_ asset: Asset) {
        for asset in [asset, asset.revision] {
            if let download = asset.flatMap({ byAsset[$0.id] }) {
                notify(download, .state)
            }
        }
    }
}

extension Download {
    /// A cancelled download pins its content until the asset is removed or purged.
    var pins: PinnedContent {
        if asset.life.purge != nil {
            return .nothing
        }
        if isUnreadable {
            return .everything
        }
        var wanted: [String: WantedTime] = [:]
        let spans = task.spans
        // The task may name a mirror that is now part of another rendition, whose folder then has the pieces.
        for id in ids {
            wanted[asset.rendition(id)?.name.id ?? id] = spans[id]
        }
        for id in asset.content.additions.interstitials.flatMap(\.renditions) {
            wanted[id] = .all
        }
        return .renditions(wanted)
    }
}

extension Downloader: DownloadStatus {
    package func isKept(_ asset: Asset) -> Bool {
        guard let download = byAsset[asset.id] else { return false }
        return download.state != .cancelled
    }

    package func givenUp(of asset: Asset) -> [String: Set<Int>] {
        let segments = byAsset[asset.id]?.task.givenUp?.segments ?? [:]
        return segments.mapValues { Set($0) }
    }

    package func isFetched(_ asset: Asset) -> Bool { byAsset[asset.id]?.state.isActive ?? false }

    package func hasFailed(_ asset: Asset) -> Bool { byAsset[asset.id]?.state == .failed }

    /// Nothing is purged on other volumes: downloads there retry by themselves.
    package var isRoomAwaited: Bool {
        byAsset.values.contains { $0.state == .waiting && $0.need == .space && $0.asset.isHome }
    }

    /// Registers an imported or adopted asset as a complete download if any rendition is complete.
    package func keep(_ asset: Asset) async {
        let stored = asset.renditions.filter(\.isStored).map(\.name.id)
        guard byAsset[asset.id] == nil, !stored.isEmpty else { return }
        var task = DownloadTask()
        task.add(DownloadTask.Item(Selection(subtitles: .nothing), renditions: stored))
        let download = insert(Download(asset, task, state: .complete, created: Int64(time(nil))))
        notify(download, .state)
        await save(download)
    }
}

extension Downloader: RepairDownloads {
    package var isAnyRunning: Bool { byAsset.values.contains { $0.state == .running } }

    package func resumeIncomplete(_ asset: Asset) {
        guard let download = byAsset[asset.id], download.state == .complete, !download.isComplete, isOpen else {
            return
        }
        Task { await resume(download) }
    }

    package func fillHoles(for job: VerificationJob) async -> JobFailure? {
        guard let download = byAsset[job.asset.id], download.isRepairable, !download.isComplete else { return nil }
        let wasActive = download.isQueuedOrRunning
        if !wasActive {
            await resume(download)
        }
        await end(of: download, or: job)
        guard !job.state.isFinal else {
            // The repair was cancelled, so the download that it started is paused.
            if !wasActive {
                await pause(download)
            }
            return nil
        }
        switch download.state {
        case .complete: return nil
        case .waiting, .failed: return download.failure
        case .queued, .running, .paused, .cancelled:
            let sentence = "the download of \(download.asset.name) was stopped meanwhile"
            return JobFailure(code: .library(.cancelled), message: sentence)
        }
    }

    private func end(of download: Download, or job: VerificationJob) async {
        let isOver = { [weak self] in
            !download.isQueuedOrRunning || self?.byAsset[download.asset.id] !== download || job.state.isFinal
        }
        guard !isOver() else { return }
        var subscriptions: [Subscription] = []
        await withCheckedContinuation { continuation in
            var waiting: CheckedContinuation<Void, Never>? = continuation
            let check = {
                guard isOver() else { return }
                waiting?.resume()
                waiting = nil
            }
            subscriptions = [changes.subscribe { _ in check() }, integrity.jobs.changes.subscribe { _ in check() }]
        }
        for subscription in subscriptions {
            subscription.cancel()
        }
    }
}

extension Download {
    fileprivate var isQueuedOrRunning: Bool { state == .queued || state == .running }

    fileprivate var isRepairable: Bool { state != .paused && state != .cancelled && !isUnreadable && !asset.isRecorded }
}
