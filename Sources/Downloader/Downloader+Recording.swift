import EventLoop
import Library

/// Downloads of live presentations: recorded, not fetched.
extension Downloader {
    /// What fetches for a download whose playlists are known.
    func work(for download: Download) -> any DownloadWork {
        if download.isLive {
            return Recorder(
                download, library: library, parallel: configuration.parallel, observer: self, tell: report)
        }
        return DownloadEngine(download, library: library, parallel: configuration.parallel, observer: self)
    }

    /// Ends a recording where it is, so that what was recorded is whole: it is complete then.
    ///
    /// - Returns: whether it was one, and anything had been recorded.
    func finishRecording(_ download: Download) -> Bool {
        guard download.isLive, download.renditions.contains(where: { $0.recording != nil }) else { return false }
        if let recorder = download.work as? Recorder {
            recorder.finish()
        } else {
            finishAtRest(download)
        }
        return download.state == .complete
    }

    private func finishAtRest(_ download: Download) {
        do throws(LibraryError) {
            guard try library.close(download.renditions, of: download.asset) else { return }
            halt(download)
            set(download, .complete)
        } catch {
            report("\(download.asset.name): the recording cannot be ended: \(error)")
        }
    }
}

extension Download {
    /// Whether it records what goes on: that is not known before the playlists are, but for what has been begun.
    var isLive: Bool {
        guard task.recordsLive else { return false }
        return renditions.contains { $0.recording != nil || !($0.source?.isDurable ?? true) }
    }
}
