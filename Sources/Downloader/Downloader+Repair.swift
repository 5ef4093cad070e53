import EventLoop
import Integrity
import Library

/// Fetching what a verification has found missing.
extension Downloader {
    /// Lets the asset's download fetch what it lacks, unless a person has stopped it, and then has fetched what else was
    /// wrong: nothing beside.
    ///
    /// - Returns: why something is missing still; nil where all has come, or it was given up.
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

    /// Lets a download go on to its end, or until it has to wait.
    private func complete(_ download: Download, _ job: VerificationJob) async -> Download.Failure? {
        let wasActive = download.state == .running || download.state == .queued
        if !wasActive { await resume(download) }
        await rest(of: download, job)
        guard !job.state.isFinal else {
            // Who lets go of what they have begun wants no more of it.
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

    /// Waits until a download neither runs nor is about to, or is forgotten, or the verification ends.
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
    /// Whether what it lacks may be fetched: a person has not stopped it, and it can be had again.
    fileprivate var isMendable: Bool {
        switch state {
        case .complete, .failed, .queued, .running, .waiting: !isUnreadable && !asset.isRecorded
        case .paused, .cancelled: false
        }
    }
}
