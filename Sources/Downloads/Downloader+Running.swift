import Assets
import EventLoop
import Glibc
import Orders
import Origin
import Playheads
import Store

/// The work of a running download: a `DownloadEngine` for complete presentations, a `Recorder` for live ones.
@LoopActor protocol DownloadWork: AnyObject {
    /// Begins with the content from `playhead` on, in seconds of media time.
    func start(at playhead: Double)
    /// Stops the work; the observer is not called any more.
    func cancel()
    /// Bytes received since the start, those of unfinished pieces included.
    var received: Int64 { get }
    /// Bytes of pieces that are not stored yet.
    var unfinished: Int64 { get }
    /// Called about twice a second while it runs.
    func tick()
    /// Moves the work to a new playhead, after playback progress, a jump, or the end of playback.
    func move(to playhead: Double, isJump: Bool)
}

enum DownloadOutcome {
    case complete
    /// The first error; `isKey` if it concerns a key, and the number of failed resources.
    case failed(LibraryError, isKey: Bool = false, count: Int = 1)
    /// A host refuses everything with 403: segments, and the playlist that named them.
    case banned(LibraryError)
    /// A piece could not be stored.
    case storeFailed(StoreError)
}

@LoopActor protocol DownloadWorkObserver: AnyObject {
    /// Bytes were received and stored as pieces.
    func work(for download: Download, received bytes: Int64)
    func work(for download: Download, completed rendition: Rendition)
    func work(for download: Download, completed selection: DownloadTask.Item)
    /// A recording lacks more than before, as words: `1 hole, 2 s missing`; nil for nothing.
    func work(for download: Download, lacks words: String?)
    func work(for download: Download, ended outcome: DownloadOutcome)
}

extension Downloader: DownloadWorkObserver {
    func schedule() {
        guard isOpen else { return }
        applyRules()
        let entries = downloads.filter { !mustAwaitReading($0) }.map {
            DownloadQueue.Entry(
                id: $0.asset.id, priority: $0.task.priority, state: $0.state, isRecording: $0.task.recordsLive)
        }
        for id in DownloadQueue(slots: configuration.running).next(of: entries) {
            if let download = byAsset[id] {
                run(download)
            }
        }
    }

    private func run(_ download: Download) {
        if isObstructed(download) || leavesRoom(download) {
            return
        }
        set(download, .running)
        download.book.start(.init(download.asset.traffic), at: Int64(time(nil)), now: .now)
        library.playlists.allowRenewal(of: download.asset)
        // Before a download ends without them, dead hosts are looked at once more.
        library.client.lookAtDeadHostsAgain()
        download.rate = ReceivedRate()
        download.lost = [:]
        if download.isOrdered {
            forgetGivenUp(of: download)
        }
        download.pulse = Pulse { [weak self, weak download] in
            if let self, let download {
                self.measure(download)
            }
        }
        download.ticker = ProgressTicker { [weak self, weak download] in
            if let self, let download {
                self.notify(download, .progress)
            }
        }
        download.step = Task { @LoopActor [weak self, weak download] in
            guard let self, let download else { return }
            // The first pieces would be stored where the asset is moving away from.
            await self.library.moves?.waitForMove(of: download.asset)
            guard !Task.isCancelled else { return }
            // A recording continues even if its origin is absent.
            for rendition in download.renditions where rendition.recording == nil {
                do throws(LibraryError) {
                    _ = try await self.library.playlists.source(of: rendition, in: download.asset)
                } catch {
                    guard !Task.isCancelled else { return }
                    return self.work(for: download, ended: .failed(error))
                }
            }
            let isStart = download.isOrdered
            download.isOrdered = false
            download.isCompared = false
            // A live stream changes all the time.
            if !download.task.recordsLive {
                await self.library.revisions.checkBeforeFetching(into: download.asset, isStart: isStart)
            }
            guard !Task.isCancelled, self.byAsset[download.asset.id] === download else { return }
            if download.asset.hasOtherSegments {
                return self.work(for: download, ended: .failed(Self.otherContent(of: download.asset)))
            }
            if download.distrustsKeys {
                download.distrustsKeys = false
                let unfit = await KeyTrial(download.asset).run(on: download.renditions)
                if !unfit.isEmpty {
                    try? await self.library.keys.discard(unfit, of: download.asset)
                }
                guard !Task.isCancelled, self.byAsset[download.asset.id] === download else { return }
            }
            let work = self.work(for: download)
            download.work = work
            self.watch(download)
            work.start(at: self.library.playheads.downloadStart(for: download.asset.id) ?? 0)
        }
    }

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
        download.book.stop(.init(download.asset.traffic), now: .now)
        download.watch = nil
        download.work = nil
        download.step = nil
        download.ticker = nil
        download.pulse = nil
    }

    private func measure(_ download: Download) {
        guard let work = download.work else { return }
        let now = ContinuousClock.now
        download.rate.record(work.received, at: now)
        work.tick()
        if download.state == .running, download.book.mustSave(at: now) {
            saveSoon(download)
        }
        if download.state == .running {
            download.ticker?.recordProgress(atMostEvery: .seconds(1))
        }
        keepRoomForRecordings(at: now)
    }

    // MARK: DownloadWorkObserver

    func work(for download: Download, received bytes: Int64) {
        download.retryBudget.recordProgress()
        download.book.record(bytes: bytes)
        download.ticker?.recordProgress()
    }

    func work(for download: Download, completed rendition: Rendition) {
        notify(download, .renditionComplete(rendition.name.id))
    }

    func work(for download: Download, completed selection: DownloadTask.Item) {
        guard !download.reported.contains(selection.identity) else { return }
        download.reported.append(selection.identity)
        notify(download, .selectionComplete(Download.Selected(selection)))
    }

    func work(for download: Download, lacks words: String?) {
        guard byAsset[download.asset.id] === download else { return }
        let items = download.task.items
        if let words {
            download.task = download.task.with(items.map { $0.with(Shortfall(.holes, words)) })
        } else {
            download.task = download.task.with(items.map { $0.without(.holes) })
        }
        notify(download, .state)
        saveSoon(download)
    }

    func work(for download: Download, ended outcome: DownloadOutcome) {
        guard byAsset[download.asset.id] === download, download.state == .running else { return }
        if case .complete = outcome, beginInterstitials(of: download) || beginLastComparison(of: download) {
            return
        }
        halt(download)
        let name = download.asset.name
        switch outcome {
        case .complete: break
        default: download.book.recordInterruption()
        }
        switch download.retryBudget.verdict(on: outcome, of: name, pauses: configuration.pauses) {
        case .complete:
            for item in download.task.items {
                work(for: download, completed: item)
            }
            set(download, .complete)
            library.publish(download.asset)
            replaceOldContent(with: download)
        case .fail(let failure) where mayHaveNewContent(download, outcome):
            return continueWithRevision(of: download, after: failure, orAgainAfter: nil)
        case .lookAgain(let failure, let pause) where mayHaveNewContent(download, outcome):
            return continueWithRevision(of: download, after: failure, orAgainAfter: pause)
        case .fail(let failure): fail(download, failure)
        case .lookAgain(let failure, let pause): wait(download, for: .network, failure, pause: pause)
        case .wait(.space, let failure, let pause):
            download.step = Task { @LoopActor [weak self, weak download] in
                if let self, let download {
                    await self.makeRoom(for: download, else: failure, pause)
                }
            }
            return
        case .wait(let need, let failure, let pause): wait(download, for: need, failure, pause: pause)
        }
        schedule()
        saveSoon(download)
    }

    func fail(_ download: Download, _ failure: JobFailure) {
        if !download.lost.isEmpty, giveUpLost(of: download, failure) {
            return work(for: download, ended: .complete)
        }
        set(download, .failed, failure: failure)
        report("\(download.asset.name): the download stopped: \(failure.message)")
    }

    /// Gives up the segments of subtitles that the origin does not have. Returns true if nothing else is missing: the download is
    /// then complete, and says what it lacks.
    private func giveUpLost(of download: Download, _ failure: JobFailure) -> Bool {
        let message = "\(failure.message); the subtitles are empty there, and all else is stored"
        download.task.givenUp = DownloadTask.GivenUp(download.lost, message: message)
        download.lost = [:]
        restoreGivenUp(of: download)
        guard download.isComplete else { return false }
        report("\(download.asset.name): \(message)")
        return true
    }

    /// The segments that an earlier attempt has given up are sought again.
    private func forgetGivenUp(of download: Download) {
        download.task.givenUp = nil
        restoreGivenUp(of: download)
    }

    private func restoreGivenUp(of download: Download) {
        let known = givenUp(of: download.asset)
        for rendition in download.asset.renditions {
            rendition.giveUp(known[rendition.name.id] ?? [])
        }
    }

    func wait(_ download: Download, for need: Need, _ failure: JobFailure, pause: Duration) {
        set(download, .waiting, need: need, failure: failure)
        wait(download, pause)
    }

    func wait(_ download: Download, _ pause: Duration) {
        // Stored in `step`, like the task that follows the pause, so that `halt` cancels whichever of the two exists.
        download.step = Task { @LoopActor [weak self, weak download] in
            guard (try? await LoopActor.pause(for: pause)) != nil, let self, let download, download.state == .waiting,
                self.byAsset[download.asset.id] === download
            else { return }
            self.set(download, .queued)
            self.schedule()
        }
    }

    // MARK: Recording

    private func work(for download: Download) -> any DownloadWork {
        if download.isLive {
            return Recorder(
                download, library: library, parallel: configuration.parallel, observer: self, report: report)
        }
        return DownloadEngine(download, library: library, parallel: configuration.parallel, observer: self)
    }

    /// Ends a recording now. Returns false if the download is no recording, or nothing was recorded.
    func finishRecording(_ download: Download) -> Bool {
        guard download.isLive, download.renditions.contains(where: { $0.recording != nil }) else { return false }
        if let recorder = download.work as? Recorder {
            recorder.finish()
            // Its end is written in both cases.
            return download.state == .complete || download.failure?.code == .library(.keyUnfit)
        }
        guard closeRecording(download) else { return false }
        halt(download)
        set(download, .complete)
        return true
    }

    /// Makes an ordinary asset of what is recorded. Returns false if nothing is, or if that cannot be written.
    func closeRecording(_ download: Download) -> Bool {
        do throws(LibraryError) {
            return try library.recordings.close(download.renditions, of: download.asset)
        } catch {
            report("\(download.asset.name): the recording cannot be ended: \(error)")
            return false
        }
    }

    /// Ends a recording that did not run when its time was over: what the channel shows now does not belong to it. Returns true if
    /// it is over.
    func endIfOver(_ download: Download) -> Bool {
        guard download.task.recordsLive, download.state != .running, let end = download.task.recordEnd,
            library.date() >= end
        else { return false }
        if download.isClosedRecording {
            set(download, .complete)
        } else if !finishRecording(download) {
            halt(download)
            let sentence = "nothing of \(download.asset.name) was recorded: it did not run before its time was over"
            fail(download, JobFailure(code: .library(.missing), message: sentence))
        }
        saveSoon(download)
        return true
    }
}

extension Download {
    /// True if an earlier process has ended the recording, and was killed before it noted that.
    var isClosedRecording: Bool {
        guard task.recordsLive, !renditions.isEmpty else { return false }
        return renditions.allSatisfy { rendition in
            guard let source = rendition.source else { return false }
            return source.isRecorded && source.isDurable
        }
    }

    /// Known only once the playlists are loaded or a recording has begun.
    fileprivate var isLive: Bool {
        guard task.recordsLive else { return false }
        return renditions.contains { $0.recording != nil || !($0.source?.isDurable ?? true) }
    }
}
