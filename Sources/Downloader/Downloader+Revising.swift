import EventLoop
import Library
import Playheads

/// Revisions: new content of the origin is downloaded beside the old, with the same selections.
extension Downloader {
    /// Returns the asset, or its revision if the origin has new content, with the task that it already has.
    func target(for asset: Asset) async throws(Refusal) -> (asset: Asset, task: DownloadTask) {
        if let revision = asset.revision {
            guard revision.hasChanged else { return (revision, byAsset[revision.id]?.task ?? DownloadTask()) }
            // The origin has changed once more, so the pieces of the earlier revision are useless.
            forget(revision)
            await library.revisions.abandon(revision)
        }
        let task = byAsset[asset.id]?.task ?? DownloadTask()
        guard asset.hasChanged, !asset.isRecorded, !library.isOffline else { return (asset, task) }
        return try await revise(asset, wanting: task)
    }

    private func revise(
        _ asset: Asset, wanting task: DownloadTask
    ) async throws(Refusal) -> (asset: Asset, task: DownloadTask) {
        let revision: Asset
        do throws(LibraryError) {
            revision = try await library.revisions.revise(asset)
        } catch {
            throw .library(error)
        }
        do throws(Refusal) {
            return (revision, try await reselected(task, of: revision))
        } catch {
            await discardRevision(revision)
            throw error
        }
    }

    /// Compares the content once more at the end of a download. True if that has begun.
    func beginLastComparison(of download: Download) -> Bool {
        let asset = download.asset
        guard !download.task.recordsLive, !asset.hasOtherSegments else {
            if asset.hasOtherSegments { work(for: download, ended: .failed(Self.otherContent(of: asset))) }
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

    func discardRevision(_ revision: Asset) async {
        if byAsset[revision.id] == nil { await library.revisions.abandon(revision) }
    }

    /// Throws the first refusal if no selection matches the new content, and reports it if some do.
    private func reselected(_ task: DownloadTask, of revision: Asset) async throws(Refusal) -> DownloadTask {
        var order = DownloadOrder()
        order.recordsLive = task.recordsLive
        var obstacle: Refusal?
        var items: [DownloadTask.Item] = []
        for item in task.items {
            order.range = item.range
            do throws(Refusal) {
                items.append(try await self.item(item.selection, order, of: revision))
            } catch {
                obstacle = obstacle ?? error
            }
        }
        if let obstacle {
            guard !items.isEmpty else { throw obstacle }
            report("\(revision.name): the new content has not all that was selected of the old: \(obstacle)")
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
            if let self, let download { await self.revise(download, after: failure, orAgainAfter: pause) }
        }
    }

    private func revise(_ download: Download, after failure: JobFailure, orAgainAfter pause: Duration?) async {
        await library.playlists.checkContent(of: download.renditions, in: download.asset)
        guard isWanted(download) else { return }
        if download.asset.hasChanged {
            await startRevision(download, failure)
        } else if let pause {
            wait(download, for: .network, failure, pause)
        } else if await !takeNextBest(download, failure) {
            fail(download, failure)
        }
        schedule()
        await save(download)
    }

    private func startRevision(_ download: Download, _ failure: JobFailure) async {
        let asset = download.asset
        do throws(Refusal) {
            let (revision, task) = try await target(for: asset)
            do throws(Refusal) {
                try await checkRoom(for: task, of: revision)
            } catch {
                await discardRevision(revision)
                throw error
            }
            guard isWanted(download) else { return await discardRevision(revision) }
            let new = await prepare(task, of: revision)
            let sentence =
                "the origin has other content now: the new is fetched beside the old, which plays until the new is complete"
            set(download, .failed, nil, .init(code: .library(.otherContent), message: sentence))
            report("\(asset.name): \(sentence)")
            // In one step: after a kill in between, the old download would go on and store pieces of the new content.
            await save(download, new)
            await restart(new, .queued)
        } catch {
            guard isWanted(download) else { return }
            let message = "\(failure.message); and the origin's new content is not fetched: \(error)"
            fail(download, JobFailure(code: failure.code, message: message))
        }
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
