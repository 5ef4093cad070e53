import EventLoop
import Library
import Playheads

/// Revisions: if the origin has new content under the same URL, it is downloaded beside the old content, with the
/// selections of the old download.
extension Downloader {
    /// Returns the asset that an order applies to, with the task that it already has: the asset itself, or its revision
    /// if the origin is known to have new content.
    func subject(of asset: Asset) async throws(Refusal) -> (asset: Asset, task: DownloadTask) {
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
            await drop(revision)
            throw error
        }
    }

    /// Deletes a revision that has no download; does nothing for other assets.
    func drop(_ revision: Asset) async {
        if byAsset[revision.id] == nil { await library.revisions.abandon(revision) }
    }

    /// Resolves a task's selections against the new content. A selection without a match is reported and left out; if
    /// none matches, the first refusal is thrown.
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

    /// True if a failure may be explained by new content at the origin. The failure of a revision does not count: it
    /// must be restarted by the user, because an origin that alternates between two contents would be fetched without
    /// end.
    func mayBeOvertaken(_ download: Download, _ outcome: DownloadOutcome) -> Bool {
        guard case .failed(let error, _, _) = outcome, [.missing, .originRefused, .badOrigin].contains(error.code)
        else {
            return false
        }
        return !download.asset.isRevision && !download.task.recordsLive && !library.isOffline
            && library.readOnlyReason == nil
    }

    /// Continues with a revision after a failed download, if the origin has new content; otherwise the download fails.
    func overtake(_ download: Download, after failure: Download.Failure) async {
        await library.playlists.checkContent(of: download.renditions, in: download.asset)
        guard isWanted(download) else { return }
        if download.asset.hasChanged {
            await fetchAnew(download, failure)
        } else {
            fail(download, failure)
        }
        schedule()
        await save(download)
    }

    private func fetchAnew(_ download: Download, _ failure: Download.Failure) async {
        let asset = download.asset
        do throws(Refusal) {
            let (revision, task) = try await subject(of: asset)
            do throws(Refusal) {
                try checkRoom(for: task, of: revision)
            } catch {
                await drop(revision)
                throw error
            }
            guard isWanted(download) else { return await drop(revision) }
            _ = await begin(task, of: revision, isPaused: false)
            let sentence =
                "the origin has other content now: the new is fetched beside the old, which plays until it is whole"
            set(download, .failed, nil, .init(code: LibraryError.Code.otherContent.rawValue, message: sentence))
            report("\(asset.name): \(sentence)")
        } catch {
            guard isWanted(download) else { return }
            let message = "\(failure.message); and the origin's new content is not fetched: \(error)"
            fail(download, Download.Failure(code: failure.code, message: message))
        }
    }

    private func isWanted(_ download: Download) -> Bool {
        !Task.isCancelled && byAsset[download.asset.id] === download && download.state == .running
    }

    // MARK: Replacing the old content

    /// Replaces the old content with a complete revision, as soon as no session plays the old content.
    func settle(_ download: Download) {
        guard let asset = library.revisions.revised(by: download.asset), download.state == .complete, download.isWhole
        else {
            return
        }
        guard !library.playheads.isPlayed(asset.id) else { return wait(download, for: asset) }
        Task { @LoopActor in
            guard await library.revisions.supersede(asset) else { return settle(download) }
            forget(asset)
        }
    }

    /// Waits until the last session of the old content has ended.
    private func wait(_ download: Download, for asset: Asset) {
        guard download.watch == nil else { return }
        download.watch = library.playheads.moves.subscribe { [weak self, weak download, id = asset.id] move in
            guard let self, let download, move.asset == id, move.cause == .end else { return }
            download.watch = nil
            self.settle(download)
        }
    }
}
