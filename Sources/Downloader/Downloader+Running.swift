import EventLoop
import Library

/// Downloads that run: whose turn it is, what they need before they fetch, and what becomes of them.
extension Downloader: DownloadWorkObserver {
    /// Lets those begin whose turn it is.
    func schedule() {
        guard isOpen else { return }
        let entries = downloads.map {
            DownloadQueue.Entry(
                id: $0.asset.id, priority: $0.task.priority, isQueued: $0.state == .queued,
                isRunning: $0.state == .running)
        }
        for id in DownloadQueue(places: configuration.running).next(of: entries) {
            if let download = byAsset[id] { run(download) }
        }
    }

    private func run(_ download: Download) {
        set(download, .running)
        download.ticker = ProgressTicker { [weak self, weak download] in
            if let self, let download { self.tell(download, .progress) }
        }
        download.step = Task { @LoopActor [weak self, weak download] in
            guard let self, let download else { return }
            for rendition in download.renditions {
                do throws(LibraryError) {
                    _ = try await self.library.source(of: rendition, in: download.asset)
                } catch {
                    guard !Task.isCancelled else { return }
                    return self.work(for: download, ended: .failed(error))
                }
            }
            guard !Task.isCancelled, self.byAsset[download.asset.id] === download else { return }
            download.work = self.work(for: download)
            download.work?.start(at: 0)
        }
    }

    private func work(for download: Download) -> any DownloadWork {
        DownloadEngine(download, library: library, parallel: configuration.parallel, observer: self)
    }

    // MARK: DownloadWorkObserver

    func work(for download: Download, received bytes: Int64) {
        download.patience.noteProgress()
        download.rate.add(bytes, at: .now)
        download.ticker?.note()
    }

    func work(for download: Download, completed rendition: Rendition) {
        tell(download, .renditionComplete(rendition.name.id))
    }

    func work(for download: Download, ended outcome: DownloadOutcome) {
        guard byAsset[download.asset.id] === download, download.state == .running else { return }
        download.halt()
        let name = download.asset.name
        switch download.patience.verdict(on: outcome, of: name, pauses: configuration.pauses) {
        case .complete:
            set(download, .complete)
            library.publish(download.asset)
        case .fail(let failure):
            set(download, .failed, nil, failure)
            report("\(name): the download stopped: \(failure.message)")
        case .wait(let need, let failure, let pause):
            set(download, .waiting, need, failure)
            wait(download, pause)
        }
        schedule()
        Task { @LoopActor in await save(download) }
    }

    private func wait(_ download: Download, _ pause: Duration) {
        // A task, as the step after the pause is: `halt` cancels whichever of the two there is.
        download.step = Task { @LoopActor [weak self, weak download] in
            guard (try? await Task.sleep(for: pause)) != nil, let self, let download, download.state == .waiting,
                self.byAsset[download.asset.id] === download
            else { return }
            self.set(download, .queued)
            self.schedule()
        }
    }
}
