import EventLoop
import Library
import Retention
import Store

/// The content that downloads pin.
extension Downloader {
    /// Pins the content of a download, so that none of it is evicted.
    func pin(_ download: Download) {
        download.asset.whenAwake { [weak self, weak download] in
            guard let self, let download, byAsset[download.asset.id] === download else { return }
            retention.pin(download.pins, of: download.asset)
        }
    }
}

extension Download {
    /// The content of its asset that it pins, running or not. A cancelled download pins its content until the asset is
    /// removed or purged. An unreadable one pins everything.
    var pins: PinnedContent {
        if asset.life.purge != nil { return .nothing }
        if isUnreadable { return .everything }
        var wanted: [String: WantedTime] = [:]
        // A store may know a mirror as a rendition of its own, whose pieces lie elsewhere now.
        for id in ids { wanted[asset.rendition(id)?.name.id ?? id] = task.span(of: id) }
        return .renditions(wanted)
    }
}
