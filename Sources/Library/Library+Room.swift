import EventLoop
import Fetching
import Store

extension Library {
    /// The bytes that may still be kept of an asset before the reserve of its disk is touched; nil where that is not
    /// known, or nothing is kept at all.
    public func room(for asset: Asset) -> Int64? { readOnlyReason == nil ? store.room(in: asset.bundle.place) : nil }

    /// The same in the store's own folder.
    public var room: Int64? { readOnlyReason == nil ? store.room : nil }

    /// The same of an asset, with what would be purged for it.
    public func roomAfterPurge(for asset: Asset) -> Int64? {
        room(for: asset).map { $0 + (asset.isHome ? purger.purgeableBytes : 0) }
    }

    /// Something could not be kept since the disk is full: room is made soon, if there is any to be made.
    public func noteFull() { purger.noteFull() }

    /// Purges what may make way for something that could not be kept.
    ///
    /// - Returns: whether anything has gone.
    public func makeRoom() async -> Bool { await purger.makeRoom() }
}
