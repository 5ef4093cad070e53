import EventLoop
import Fetching
import HTTPMessage

/// The interstitial assets: presentations that other assets' playlists name, and that players play in between. They are
/// kept in memory for a limited time, never listed, and never stored.
struct InterstitialAssets {
    /// Identifies an interstitial asset. Several assets may name one URL, and each may only reach the hosts that its
    /// own user named.
    struct Key: Hashable {
        let url: WebURL
        let access: OriginAccess
    }

    /// The opens under way.
    var opening: [Key: Task<Result<Asset, LibraryError>, Never>] = [:]
    private var byKey: [Key: Asset] = [:]
    private var byID: [String: Asset] = [:]
    /// Least recently used first.
    private var order: [Key] = []
    /// A player plays one interstitial, and looks at the next few.
    private static let limit = 64

    /// Returns the interstitial asset with this id.
    func asset(id: String) -> Asset? { byID[id] }

    /// Returns the interstitial asset with a key, and marks it as used.
    mutating func asset(_ key: Key) -> Asset? {
        guard let asset = byKey[key] else { return nil }
        order.removeAll { $0 == key }
        order.append(key)
        return asset
    }

    /// Inserts a new one; evicts the least recently used one above the limit.
    mutating func add(_ asset: Asset, _ key: Key) {
        (byKey[key], byID[asset.id]) = (asset, asset)
        order.append(key)
        guard order.count > Self.limit, let gone = byKey.removeValue(forKey: order.removeFirst()) else { return }
        byID[gone.id] = nil
    }
}
