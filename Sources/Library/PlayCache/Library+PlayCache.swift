import EventLoop
import Fetching
import Store

/// What is kept because it flowed, and what is kept because it is wanted.
extension Library {
    /// The bytes of the pieces that merely flowed, as far as the store was looked into.
    public var cachedBytes: Int64 { playCache.queue.size }

    /// The bytes above which those make way that were not used the longest; nil for no limit.
    public var cacheLimit: Int64? { playCache.limit }

    /// Pins what is wanted of an asset, in the place of what was wanted before: none of its pieces makes way, neither
    /// those that are here nor those that come. What is not wanted any more counts as used just now.
    public func pin(_ wanted: Pins, of asset: Asset) { playCache.pin(wanted, of: asset) }

    /// A session was given a playlist of an asset, and is about to ask for pieces.
    ///
    /// - Parameter isOffline: whether it has nothing but the store.
    public func expect(_ session: String, at asset: Asset, isOffline: Bool) {
        let isAway = asset.checked.map { !$0.isPresent } ?? false
        playCache.expect(session, at: asset, isOffline: isOffline || self.isOffline || isAway)
    }

    /// Takes a rendition, which is not whole any more, out of the bundle's own playlists, so that they name no piece that
    /// is about to be deleted.
    ///
    /// - Throws: `StoreError` where they still name it.
    func withdraw(_ rendition: Rendition, of asset: Asset) throws(StoreError) {
        asset.published = asset.wholeRenditions
        do {
            try BundlePlaylists(asset).write()
        } catch {
            // On a full disk no text can be written, but one can be deleted.
            try asset.bundle.directory(create: false).remove("master.m3u8")
        }
        try rendition.folder.removeText("media.m3u8")
    }
}

extension Asset {
    /// The sum of the lengths of its pieces that merely flowed; `bytes` has them too.
    public var cachedBytes: Int64 {
        folders.reduce(0) { sum, folder in
            _ = folder.sizes  // Read, it is known what belongs to whom.
            return sum + folder.cachedBytes
        }
    }
}
