import EventLoop
import Library
import Store

/// What is kept because a download wants it.
extension Downloader {
    /// Tells the library what a download wants, so that nothing of it makes way.
    func pin(_ download: Download) {
        download.asset.whenAwake { [weak self, weak download] in
            guard let self, let download, byAsset[download.asset.id] === download else { return }
            library.pin(download.pins, of: download.asset)
        }
    }
}

extension Download {
    /// What is to stay of its asset: what it wants, whether it goes on or not; what was given up stays until the asset is
    /// removed, or was purged. Where it is not understood what that is, everything.
    var pins: Pins {
        if asset.life.purge != nil { return .nothing }
        if isUnreadable { return .everything }
        var wanted: [String: WantedTime] = [:]
        // A store may know a mirror as a rendition of its own, whose pieces lie elsewhere now.
        for id in ids { wanted[asset.rendition(id)?.name.id ?? id] = task.span(of: id) }
        return .renditions(wanted)
    }
}
