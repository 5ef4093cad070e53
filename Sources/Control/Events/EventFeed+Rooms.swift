import API
public import Downloader
import EventLoop
public import Exchange
public import Library

extension EventFeed {
    /// A feed of what happens to the downloads of a downloader, and to the assets of its library, which outlive it. One
    /// of a library.
    public convenience init(
        _ downloader: Downloader, of library: Library, configuration: Configuration = Configuration()
    ) {
        self.init(configuration: configuration) {
            await library.summaries.check()
        } snapshot: {
            downloader.downloads.filter { !library.isComplete($0) }.map { API.Download($0) }
        }
        follow(library)
        _ = downloader.observe { [weak self] download, event in self?.publish(download, event) }
        downloader.verifier.observe { [weak self] job in self?.publish(.verification(API.Verification(job))) }
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
    /// Tells as well of what becomes of a library's assets and their keys, and how it asks origins. Once.
    func follow(_ library: Library) {
        library.assetChanged = { [weak self] asset in
            // Of what is not in its place yet, the name is another asset's.
            if !asset.isRevision { self?.publish(.changed(.init(id: asset.id, asset: asset.name))) }
        }
        library.modeChanged = { [weak self] mode in self?.publish(.mode(API.Mode(.init(mode)))) }
        library.purged = { [weak self] asset, purge in
            self?.publish(
                .purged(.init(asset: asset.name, id: asset.id, purge: API.Storage.Purge(purge))))
        }
        library.keysChanged = { [weak self] asset, change, numbers in
            guard let change = API.Event.KeyChange.Change(rawValue: change.rawValue) else { return }
            self?.publish(.keys(.init(asset: asset.name, id: asset.id, change: change, keys: numbers)))
        }
    }

    /// Publishes moves of assets to other volumes from now on.
    public func follow(_ mover: Mover) {
        subscriptions.append(mover.changes.subscribe { [weak self] move in self?.publish(.move(API.Move(move))) })
    }
}
