import EventLoop
import Integrity
import Library

/// Repair: fetches the pieces that a verification found missing or damaged.
extension Downloader {
    /// Lets the asset's download fetch its holes, unless the user stopped it, and then fetches the other damaged pieces
    /// again.
    ///
    /// - Returns: the reason why a piece is still missing; nil if all were fetched, or if the repair was cancelled.
    func repair(_ job: VerificationJob) async -> Download.Failure? {
        let asset = job.asset
        if let reason = library.readOnlyReason {
            return Download.Failure(LibraryError(reason, about: "\(asset.name) cannot be repaired"))
        }
        if let download = byAsset[asset.id], download.isMendable, !download.isWhole {
            if let failure = await complete(download, job) { return failure }
        }
        guard !job.state.isFinal else { return nil }
        do throws(LibraryError) {
            try await integrity.fetchAgain(job.verification)
            return nil
        } catch {
            return Download.Failure(error)
        }
    }

    /// Runs a download to its end, or until it has to wait.
    private func complete(_ download: Download, _ job: VerificationJob) async -> Download.Failure? {
        let wasActive = download.state == .running || download.state == .queued
        if !wasActive { await resume(download) }
        await rest(of: download, job)
        guard !job.state.isFinal else {
            // The repair was cancelled, so the download that it started is paused.
            if !wasActive { await pause(download) }
            return nil
        }
        switch download.state {
        case .complete: return nil
        case .waiting, .failed: return download.failure
        case .queued, .running, .paused, .cancelled:
            let sentence = "the download of \(download.asset.name) was stopped meanwhile"
            return Download.Failure(code: LibraryError.Code.cancelled.rawValue, message: sentence)
        }
    }

    /// Waits until the download is neither running nor queued, or is forgotten, or the verification ends.
    private func rest(of download: Download, _ job: VerificationJob) async {
        let isBusy = { [weak self] in
            (download.state == .running || download.state == .queued)
                && self?.byAsset[download.asset.id] === download
        }
        guard isBusy(), !job.state.isFinal else { return }
        var observer: Int?
        await withCheckedContinuation { continuation in
            job.stopWaiting = {
                job.stopWaiting = nil
                continuation.resume()
            }
            observer = observe { other, _ in
                if other === download, !isBusy() { job.stopWaiting?() }
            }
        }
        observer.map(ignore)
    }
}

extension Download {
    /// True if the download may fetch its holes: the user has not stopped it, and the content is still available.
    fileprivate var isMendable: Bool {
        switch state {
        case .complete, .failed, .queued, .running, .waiting: !isUnreadable && !asset.isRecorded
        case .paused, .cancelled: false
        }
    }
}
