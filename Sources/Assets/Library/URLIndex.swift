import EventLoop
import HTTPMessage

/// Finds assets by their URLs. It keeps only a hash of an asset's own URL: for 100,000 assets, a dictionary with the URLs would
/// take 30 MB.
@LoopActor struct URLIndex {
    /// By the hash of the asset's URL.
    private var assets: [Int: Asset] = [:]
    /// At other URLs than their own, and at one with the hash of another asset's.
    private var others: [WebURL: Asset] = [:]

    /// The asset at a URL; nil if there is none.
    subscript(url: WebURL) -> Asset? {
        get {
            if let found = assets[url.hashValue], found.origin == url {
                return found
            }
            return others[url]
        }
        set {
            remove(url)
            guard let asset = newValue else { return }
            if asset.origin == url, assets[url.hashValue] == nil {
                assets[url.hashValue] = asset
            } else {
                others[url] = asset
            }
        }
    }

    private mutating func remove(_ url: WebURL) {
        others[url] = nil
        guard let found = assets[url.hashValue] else { return }
        // Also one that has another URL by now.
        if found.origin == url || found.origin.hashValue != url.hashValue {
            assets[url.hashValue] = nil
        }
    }
}
