import EventLoop
import Library
import Playheads

/// Running downloads: scheduling, preparation and results.
extension Downloader: DownloadWorkObserver {
    /// Starts the downloads whose turn it is.
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
        if fails(ifExpired: download) || waits(forDiskOf: download) { return }
        set(download, .running)
        library.playlists.allowRenewal(of: download.asset)
        download.ticker = ProgressTicker { [weak self, weak download] in
            if let self, let download { self.tell(download, .progress) }
        }
        download.step = Task { @LoopActor [weak self, weak download] in
            guard let self, let download else { return }
            // A recording continues even if its origin is absent.
            for rendition in download.renditions where rendition.recording == nil {
                do throws(LibraryError) {
                    _ = try await self.library.playlists.source(of: rendition, in: download.asset)
                } catch {
                    guard !Task.isCancelled else { return }
                    return self.work(for: download, ended: .failed(error))
                }
            }
            guard !Task.isCancelled, self.byAsset[download.asset.id] === download else { return }
            let work = self.work(for: download)
            download.work = work
            self.watch(download)
            work.start(at: self.library.playheads.downloadStart(for: download.asset.id) ?? 0)
        }
    }

    /// Moves the work along with the sessions that play the asset.
    private func watch(_ download: Download) {
        download.watch = library.playheads.moves.subscribe { [weak self, weak download] move in
            guard let self, let download, move.asset == download.asset.id, let work = download.work else { return }
            let start = self.library.playheads.downloadStart(for: move.asset)
            switch move.cause {
            case .seek: work.move(to: start ?? 0, isJump: true)
            case .progress: work.move(to: start ?? 0, isJump: false)
            case .end: work.move(to: 0, isJump: false)
            }
        }
    }

    /// Stops the running work. The caller sets the state.
    func halt(_ download: Download) {
        download.work?.cancel()
        download.step?.cancel()
        (download.watch, download.work, download.step, download.ticker) = (nil, nil, nil, nil)
    }

    // MARK: DownloadWorkObserver

    func work(for download: Download, received bytes: Int64) {
        download.retryBudget.noteProgress()
        download.rate.add(bytes, at: .now)
        download.ticker?.note()
    }

    func work(for download: Download, completed rendition: Rendition) {
        tell(download, .renditionComplete(rendition.name.id))
    }

    func work(for download: Download, ended outcome: DownloadOutcome) {
        guard byAsset[download.asset.id] === download, download.state == .running else { return }
        halt(download)
        let name = download.asset.name
        switch download.retryBudget.verdict(on: outcome, of: name, pauses: configuration.pauses) {
        case .complete:
            set(download, .complete)
            library.publish(download.asset)
            settle(download)
        case .fail(let failure) where mayBeOvertaken(download, outcome):
            download.step = Task { @LoopActor [weak self, weak download] in
                if let self, let download { await self.overtake(download, after: failure) }
            }
            return
        case .fail(let failure): fail(download, failure)
        case .wait(.space, let failure, let pause):
            download.step = Task { @LoopActor [weak self, weak download] in
                if let self, let download { await self.makeRoom(for: download, else: failure, pause) }
            }
            return
        case .wait(let need, let failure, let pause):
            set(download, .waiting, need, failure)
            wait(download, pause)
        }
        schedule()
        Task { @LoopActor in await save(download) }
    }

    /// Marks a download as failed.
    func fail(_ download: Download, _ failure: Download.Failure) {
        set(download, .failed, nil, failure)
        report("\(download.asset.name): the download stopped: \(failure.message)")
    }

    func wait(_ download: Download, _ pause: Duration) {
        // Stored in `step`, like the task that follows the pause, so that `halt` cancels whichever of the two exists.
        download.step = Task { @LoopActor [weak self, weak download] in
            guard (try? await Task.sleep(for: pause)) != nil, let self, let download, download.state == .waiting,
                self.byAsset[download.asset.id] === download
            else { return }
            self.set(download, .queued)
            self.schedule()
        }
    }
}
