import Assets
import EventLoop
import Orders
import Playheads

/// Revisions: new content of the origin is downloaded beside the old, with the same selections.
extension Downloader {
    /// Runs `body` with the asset, or with its revision if the origin has new content. If another order, a player or the user gives
    /// that revision up meanwhile, it runs again with the next one.
    func withTarget<Result>(
        for asset: Asset, _ body: @LoopActor (Asset) async throws(Refusal) -> Result
    ) async throws(Refusal) -> Result {
        while true {
            let target = try await target(for: asset)
            do throws(Refusal) {
                return try await body(target)
            } catch {
                let isGivenUp = target !== asset && target.isRemoved
                await discardRevision(target)
                guard isGivenUp, library.asset(id: asset.id) === asset else { throw error }
            }
        }
    }

    private func target(for asset: Asset) async throws(Refusal) -> Asset {
        if let revision = asset.revision {
            guard revision.hasChanged else { return revision }
            // The origin has changed once more, so the pieces of the earlier revision are useless.
            forget(revision)
            await library.revisions.abandon(revision)
        }
        guard asset.hasChanged, !asset.isRecorded, !library.isOffline else { return asset }
        do throws(LibraryError) {
            return try await library.revisions.revise(asset)
        } catch {
            throw .library(error)
        }
    }

    /// The task of an asset or of its revision, which begins with the selections of the old content.
    func task(for target: Asset, of asset: Asset) async throws(Refusal) -> DownloadTask {
        if let known = byAsset[target.id] {
            return known.task
        }
        let task = byAsset[asset.id]?.task ?? DownloadTask()
        return target === asset ? task : try await reselected(task, of: target)
    }

    /// Compares the content once more at the end of a download. True if that has begun.
    func beginLastComparison(of download: Download) -> Bool {
        let asset = download.asset
        guard !download.task.recordsLive, !asset.hasOtherSegments else {
            if asset.hasOtherSegments {
                work(for: download, ended: .failed(Self.otherContent(of: asset)))
            }
            return asset.hasOtherSegments
        }
        guard !download.isCompared, library.revisions.isCheckDueAtEnd(of: asset) else { return false }
        download.step = Task { @LoopActor [weak self, weak download] in
            guard let self, let download else { return }
            await self.library.revisions.checkAtEnd(of: asset)
            guard self.isWanted(download) else { return }
            download.isCompared = true
            self.work(for: download, ended: asset.hasOtherSegments ? .failed(Self.otherContent(of: asset)) : .complete)
        }
        return true
    }

    static func otherContent(of asset: Asset) -> LibraryError {
        LibraryError(.otherContent, "the origin has other content now than what is stored of \(asset.name)")
    }

    /// Gives a revision up that no download fetches and no player has.
    private func discardRevision(_ revision: Asset) async {
        guard byAsset[revision.id] == nil, !library.playheads.isPlayed(revision.id) else { return }
        await library.revisions.abandon(revision)
    }

    /// Throws the first refusal if no selection matches the new content, and reports it if some do.
    private func reselected(_ task: DownloadTask, of revision: Asset) async throws(Refusal) -> DownloadTask {
        var order = DownloadOrder()
        order.record = task.recordsLive
        var stopReason: Refusal?
        var items: [DownloadTask.Item] = []
        for item in task.items {
            order.range = item.range
            do throws(Refusal) {
                items.append(try await self.item(item.selection, order, of: revision))
            } catch {
                stopReason = stopReason ?? error
            }
        }
        if let stopReason {
            guard !items.isEmpty else { throw stopReason }
            report("\(revision.name): the new content has not all that was selected of the old: \(stopReason)")
        }
        return task.with(items)
    }

    /// True if new content at the origin may explain a failure. A failed revision needs the user: an origin that
    /// alternates between two contents would be fetched without end.
    func mayHaveNewContent(_ download: Download, _ outcome: DownloadOutcome) -> Bool {
        guard case .failed(let error, _, _) = outcome,
            [.missing, .originRefused, .badOrigin, .hostDead, .otherContent].contains(error.code)
        else { return false }
        return !download.asset.isRevision && !download.task.recordsLive && !library.isOffline
            && library.readOnlyReason == nil
    }

    /// Continues with a revision if the origin has new content; otherwise the download begins again after the pause, or fails.
    func continueWithRevision(of download: Download, after failure: JobFailure, orAgainAfter pause: Duration?) {
        download.step = Task { @LoopActor [weak self, weak download] in
            if let self, let download {
                await self.revise(download, after: failure, orAgainAfter: pause)
            }
        }
    }

    private func revise(_ download: Download, after failure: JobFailure, orAgainAfter pause: Duration?) async {
        await library.playlists.checkContent(of: download.renditions, in: download.asset)
        guard isWanted(download) else { return }
        if download.asset.hasChanged {
            await startRevision(download, failure)
        } else if let pause {
            wait(download, for: .network, failure, pause: pause)
        } else if await !takeNextBest(download, failure) {
            fail(download, failure)
        }
        schedule()
        await save(download)
    }

    private func startRevision(_ download: Download, _ failure: JobFailure) async {
        let asset = download.asset
        do throws(Refusal) {
            let (revision, task) = try await withTarget(for: asset) { target throws(Refusal) in
                // An order may have begun the download of the revision, without what was added to the old one since.
                let task = try await reselected(download.task, of: target)
                try await checkRoom(for: task, of: target)
                await applyNewKeyTerms(to: target)
                try checkNotRemoved(target)
                return (target, task)
            }
            guard isWanted(download) else { return await discardRevision(revision) }
            let isJoined = isUnderWay(task, of: revision)
            let all = byAsset[revision.id]?.task.adding(task.items) ?? task
            let new = prepare(all, of: revision)
            let sentence = Download.otherContentSentence
            set(download, .failed, failure: .init(code: .library(.otherContent), message: sentence))
            report("\(asset.name): \(sentence)")
            // In one step: after a kill in between, the old download would go on and store pieces of the new content.
            await save(download, new)
            if !isJoined {
                await restart(new, .queued)
            }
        } catch {
            guard isWanted(download) else { return }
            let message = "\(failure.message); and the origin's new content is not fetched: \(error)"
            fail(download, JobFailure(code: failure.code, message: message))
        }
    }

    /// True if the user, or a command, has begun the revision's download with all of a task, and it goes on, is paused, or is complete.
    private func isUnderWay(_ task: DownloadTask, of revision: Asset) -> Bool {
        guard let known = byAsset[revision.id] else { return false }
        // A complete revision waits for the end of the playback of the old content, or replaces it at this moment.
        let isDone = known.state == .complete && known.isComplete
        guard known.state.isActive || known.state == .paused || isDone else { return false }
        return task.items.allSatisfy(known.task.covers)
    }

    private func isWanted(_ download: Download) -> Bool {
        !Task.isCancelled && byAsset[download.asset.id] === download && download.state == .running
    }

    // MARK: Replacing the old content

    /// Replaces the old content by a complete revision once no session plays the old content.
    func replaceOldContent(with download: Download) {
        guard let asset = library.revisions.revised(by: download.asset), download.state == .complete,
            download.isComplete
        else { return }
        guard !library.playheads.isPlayed(asset.id) else { return wait(download, for: asset) }
        Task { @LoopActor in
            guard await library.revisions.supersede(asset) else { return replaceOldContent(with: download) }
            forget(asset)
        }
    }

    private func wait(_ download: Download, for asset: Asset) {
        guard download.watch == nil else { return }
        download.watch = library.playheads.moves.subscribe { [weak self, weak download, id = asset.id] move in
            guard let self, let download, move.asset == id, move.cause == .end else { return }
            download.watch = nil
            self.replaceOldContent(with: download)
        }
    }
}
