public import Downloader
import EventLoop
import Library

extension EventFeed {
    /// A feed of what happens to the downloads of a downloader, which outlives it.
    public convenience init(_ downloader: Downloader, configuration: Configuration = Configuration()) {
        self.init(configuration: configuration) { downloader.downloads.map { API.Download($0) } }
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
