import EventLoop
import Library

/// Downloads of live presentations, which are recorded.
extension Downloader {
    /// Makes the work for a download whose playlists are known.
    func work(for download: Download) -> any DownloadWork {
        if download.isLive {
            return Recorder(
                download, library: library, parallel: configuration.parallel, observer: self, tell: report)
        }
        return DownloadEngine(download, library: library, parallel: configuration.parallel, observer: self)
    }

    /// Ends a recording now; the recorded part is then complete.
    ///
    /// - Returns: false if the download is no recording, or if nothing was recorded.
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
            guard try library.recordings.close(download.renditions, of: download.asset) else { return }
            halt(download)
            set(download, .complete)
        } catch {
            report("\(download.asset.name): the recording cannot be ended: \(error)")
        }
    }
}

extension Download {
    /// True if the download records a live presentation. Known only once the playlists are loaded or a recording has
    /// begun.
    var isLive: Bool {
        guard task.recordsLive else { return false }
        return renditions.contains { $0.recording != nil || !($0.source?.isDurable ?? true) }
    }
}
