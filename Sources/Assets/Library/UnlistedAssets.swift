import EventLoop
package import Fetching
public import HTTPMessage
public import Origin

/// Presentations that are played, and neither listed nor stored: those that other assets' playlists name, and those of users
/// whose fields are not an asset's.
@LoopActor struct UnlistedAssets {
    /// Identifies an unlisted asset. Several assets may name one URL, each with the hosts of its own user.
    struct Key: Hashable {
        let url: WebURL
        let access: OriginAccess
    }

    let opening = SharedTasks<Key, Result<Asset, LibraryError>>()
    private var byKey: [Key: Asset] = [:]
    private var byID: [String: Asset] = [:]
    private var order: [Key] = []
    /// A player plays one interstitial, and looks at the next few.
    private static let limit = 64

    func asset(id: String) -> Asset? { byID[id] }

    /// Returns the unlisted asset with a key, and marks it as used.
    mutating func asset(_ key: Key) -> Asset? {
        guard let asset = byKey[key] else { return nil }
        order.removeAll { $0 == key }
        order.append(key)
        return asset
    }

    /// The rights of a known session with these fields, or new ones.
    func access(to url: WebURL, with fields: UserFields) -> OriginAccess {
        order.last { $0.url == url && $0.access.fields == fields }?.access ?? OriginAccess(to: url, with: fields)
    }

    mutating func add(_ asset: Asset, _ key: Key) {
        byKey[key] = asset
        byID[asset.id] = asset
        order.append(key)
        guard order.count > Self.limit, let gone = byKey.removeValue(forKey: order.removeFirst()) else { return }
        byID[gone.id] = nil
    }
}

extension Library {
    /// Opens a URL for a session whose user name, password or cookie is not that of the known asset there. The session
    /// shares nothing with it, and nothing is stored.
    public func open(_ url: WebURL, apart fields: UserFields) async throws(LibraryError) -> Asset {
        try checkOnline("\(url.redacted) is not in the store for this user")
        return try await openUnlisted(url, unlisted.access(to: url, with: fields))
    }

    /// Returns the unlisted asset of a URL with these rights, with its entry playlist loaded.
    package func openUnlisted(_ url: WebURL, _ access: OriginAccess) async throws(LibraryError) -> Asset {
        let key = UnlistedAssets.Key(url: url, access: access)
        if let known = unlisted.asset(key) {
            return known
        }
        return try await unlisted.opening.run(key) { await self.makeUnlisted(key) }.get()
    }

    private func makeUnlisted(_ key: UnlistedAssets.Key) async -> Result<Asset, LibraryError> {
        let name = AssetNaming.name(forPath: key.url.path)
        let id = AssetNaming.id(forName: name) { presentation(id: $0) != nil }
        let asset = Asset(
            id: id, name: name, title: nil, origin: key.url, access: key.access, created: Self.now, store: store,
            isPreview: true)
        do {
            try await playlists.loadEntry(of: asset)
        } catch {
            return .failure(error)
        }
        unlisted.add(asset, key)
        return .success(asset)
    }
}
