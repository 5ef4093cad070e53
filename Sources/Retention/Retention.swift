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

    /// The terms for keys of newly downloaded assets whose policy has none.
    public var newKeyTerms = KeyTerms()

    /// Begins to follow a library, which does not keep it alive.
    ///
    /// - Parameters:
    ///   - cacheLimit: the bytes above which cached pieces are evicted; nil for no limit.
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

    /// The bytes of cached pieces in the folders read so far.
    public var cachedBytes: Int64 { cache.queue.size }

    /// The bytes above which the least recently used pieces are evicted; nil for no limit.
    public var cacheLimit: Int64? { cache.limit }

    /// Replaces the pinned content of an asset: none of its pieces is evicted, neither those stored already nor those
    /// stored later. Content that is not pinned any more counts as used just now.
    public func pin(_ content: PinnedContent, of asset: Asset) { cache.pin(content, of: asset) }

    /// The pinned content of an asset.
    package func pinned(of asset: Asset) -> PinnedContent { cache.pinned(of: asset) }

    /// Records that a session was given a playlist of an asset, and is about to ask for pieces.
    ///
    /// - Parameter isOffline: true if the session has nothing but the store.
    public func expect(_ session: String, at asset: Asset, isOffline: Bool) {
        cache.expect(session, at: asset, isOffline: isOffline || library.isOffline || asset.isOriginAbsent)
    }

    // MARK: Room

    /// The assets that may be purged on a full disk.
    public var purgeLimit: PurgePlan.Limit { purger.limit }

    /// `Library.room(for:)`, and the bytes that a purge would free.
    public func roomAfterPurge(for asset: Asset) -> Int64? {
        library.room(for: asset).map { $0 + (asset.isHome ? purger.purgeableBytes : 0) }
    }

    /// Makes room soon: something was not kept because the disk is full.
    public func noteFull() { purger.noteFull() }

    /// Evicts and purges, so that content which was not kept may be.
    ///
    /// - Returns: true if anything was deleted.
    public func makeRoom() async -> Bool { await purger.makeRoom() }
}
