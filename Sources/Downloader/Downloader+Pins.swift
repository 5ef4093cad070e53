import EventLoop
import Library
import Retention
import Store

/// Pinning of downloaded content.
extension Downloader {
    /// Pins the content of a download, so that none of it is evicted.
    func pin(_ download: Download) {
        download.asset.whenLoaded { [weak self, weak download] in
            guard let self, let download, byAsset[download.asset.id] === download else { return }
            retention.pin(download.pins, of: download.asset)
        }
    }
}

extension Download {
    /// The content that the download pins, running or not. A cancelled download pins its content until the asset is
    /// removed or purged. An unreadable one pins everything.
    var pins: PinnedContent {
        if asset.life.purge != nil { return .nothing }
        if isUnreadable { return .everything }
        var wanted: [String: WantedTime] = [:]
        // The task may name a mirror that is now part of another rendition, whose folder then has the pieces.
        for id in ids { wanted[asset.rendition(id)?.name.id ?? id] = task.span(of: id) }
        return .renditions(wanted)
    }
}
