public import EventLoop
import Fetching
public import Library
public import Store

/// Decides how long stored content stays: expiry, eviction of cached pieces, and purging of assets on a full disk.
///
/// Follows the library's events and the pieces of its bundles. The library makes room by `RoomMaker` alone.
@LoopActor public final class Retention {
    let library: Library
    let cache: PlayCache
    let purger: Purger
    private var subscription: Subscription?

    /// The lifetimes for keys of newly downloaded assets whose policy has none.
    public var newKeyTerms = KeyTerms()

    /// Starts to follow a library. Does not keep the library alive.
    ///
    /// - Parameters:
    ///   - cacheLimit: maximum size of cached pieces in bytes; nil for no limit.
    ///   - purge: the assets that may be purged on a full disk.
    public init(of library: Library, cacheLimit: Int64? = nil, purge: PurgePlan.Limit = .expired) {
        self.library = library
        cache = PlayCache(of: library, limit: cacheLimit)
        purger = Purger(limit: purge)
        for asset in library.assets { follow(asset) }
        subscription = library.events.subscribe { [weak self] event in
            switch event {
            case .registered(let asset): self?.cache.follow(asset)
            case .unregistered(let asset): self?.cache.forget(asset)
            default: break
            }
        }
        library.attach(purger)
        cache.start()
        purger.start(for: self)
    }

    private func follow(_ asset: Asset) {
        cache.follow(asset)
        if let revision = asset.revision { cache.follow(revision) }
    }

    // MARK: Cached and pinned pieces

    /// Bytes of cached pieces in the folders read so far.
    public var cachedBytes: Int64 { cache.queue.size }

    /// Maximum size of cached pieces in bytes, above which the least recently used are evicted; nil for no limit.
    public var cacheLimit: Int64? { cache.limit }

    /// Replaces the pinned content of an asset, which is never evicted, whether stored before or later. Content that is
    /// no longer pinned counts as just used.
    public func pin(_ content: PinnedContent, of asset: Asset) { cache.pin(content, of: asset) }

    /// The pinned content of an asset.
    package func pinned(of asset: Asset) -> PinnedContent { cache.pinned(of: asset) }

    /// Records that a session received a playlist of an asset and is about to request pieces.
    ///
    /// - Parameter isOffline: true if the session plays from the store alone.
    public func expect(_ session: String, at asset: Asset, isOffline: Bool) {
        cache.expect(session, at: asset, isOffline: isOffline || library.isOffline || asset.isOriginAbsent)
    }

    // MARK: Room

    /// The assets that may be purged on a full disk.
    public var purgeLimit: PurgePlan.Limit { purger.limit }

    /// `Library.room(for:)` plus the bytes that a purge would free.
    public func roomAfterPurge(for asset: Asset) -> Int64? {
        library.room(for: asset).map { $0 + (asset.isHome ? purger.purgeableBytes : 0) }
    }

    /// Makes space soon, because something could not be stored on the full disk.
    public func recordDiskFull() { purger.recordDiskFull() }

    /// Evicts and purges to make space for content that could not be stored.
    ///
    /// - Returns: true if anything was deleted.
    public func makeRoom() async -> Bool { await purger.makeRoom() }
}
