import API
public import Downloader
import EventLoop
public import Exchange
import Integrity
public import Library

extension EventFeed {
    /// Creates a feed of the downloads of `downloader` and the assets of its library. Both outlive the feed. Create one
    /// per library.
    public convenience init(
        _ downloader: Downloader, of library: Library, configuration: Configuration = Configuration()
    ) {
        self.init(configuration: configuration) {
            await library.summaries?.check()
        } snapshot: {
            downloader.downloads.filter { !library.isComplete($0) }.map { API.Download($0) }
        }
        follow(library)
        subscriptions.append(downloader.changes.subscribe { [weak self] in self?.publish($0.download, $0.event) })
        subscriptions.append(
            downloader.integrity.jobs.changes.subscribe { [weak self] job in
                self?.publish(.verification(API.Verification(job)))
            })
    }

    private func publish(_ download: Download, _ event: DownloadEvent) {
        let (id, name) = (download.asset.id, download.asset.name)
        switch event {
        case .state:
            publish(.download(.state, API.Download(download)))
            if download.state == .complete { publish(.download(.complete, API.Download(download))) }
            if download.state == .failed { publish(.download(.error, API.Download(download))) }
        case .progress: publish(.download(.progress, API.Download(download)))
        case .renditionComplete(let rendition):
            publish(.renditionComplete(.init(id: id, asset: name, rendition: rendition)))
        case .removed: publish(.removed(.init(id: id, asset: name)))
        }
    }
}

extension EventFeed {
    /// Also publishes changes of the library's assets, keys and mode. Call it once.
    func follow(_ library: Library) {
        subscriptions.append(library.events.subscribe { [weak self] in self?.publish($0) })
    }

    private func publish(_ event: LibraryEvent) {
        switch event {
        case .assetChanged(let asset):
            // A revision has the name of the asset that it revises.
            if !asset.isRevision { publish(.changed(.init(id: asset.id, asset: asset.name))) }
        case .modeChanged(let mode): publish(.mode(API.Mode(.init(mode))))
        case .purged(let asset, let purge):
            publish(.purged(.init(asset: asset.name, id: asset.id, purge: API.Storage.Purge(purge))))
        case .keysChanged(let asset, let change, let numbers):
            guard let change = API.Event.KeyChange.Change(rawValue: change.rawValue) else { return }
            publish(.keys(.init(asset: asset.name, id: asset.id, change: change, keys: numbers)))
        default: break
        }
    }

    /// Also publishes moves of assets to other volumes.
    public func follow(_ mover: Mover) {
        subscriptions.append(mover.jobs.changes.subscribe { [weak self] move in self?.publish(.move(API.Move(move))) })
    }
}
