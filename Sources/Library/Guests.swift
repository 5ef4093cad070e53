import EventLoop
import Fetching
import HTTPMessage

/// Presentations that other assets' playlists name, and players play in between: known as long as they are of use,
/// never listed, and nothing of them is kept.
struct Guests {
    /// One URL may be asked for on behalf of several assets, of which each may only go where its own user said.
    struct Key: Hashable {
        let url: WebURL
        let access: OriginAccess
    }

    /// Those that are being opened.
    var opening: [Key: Task<Result<Asset, LibraryError>, Never>] = [:]
    private var byKey: [Key: Asset] = [:]
    private var byID: [String: Asset] = [:]
    /// The longest unused first.
    private var order: [Key] = []
    /// A player plays one, and looks at the next few.
    private static let limit = 64

    /// The guest with this id.
    func asset(id: String) -> Asset? { byID[id] }

    /// The guest at a URL.
    mutating func asset(_ key: Key) -> Asset? {
        guard let asset = byKey[key] else { return nil }
        order.removeAll { $0 == key }
        order.append(key)
        return asset
    }

    /// Takes a new one in; the one that was asked for the longest ago goes where there are too many.
    mutating func add(_ asset: Asset, _ key: Key) {
        (byKey[key], byID[asset.id]) = (asset, asset)
        order.append(key)
        guard order.count > Self.limit, let gone = byKey.removeValue(forKey: order.removeFirst()) else { return }
        byID[gone.id] = nil
    }
}
