public import EventLoop
public import Store

/// A change in the library that other modules observe. `Library.events` delivers it.
public enum LibraryEvent {
    /// The asset is new or removed, or its name, title, URL, policy, image or time of last playback has changed.
    /// Changes of its pieces and keys have their own events.
    case assetChanged(Asset)
    /// The asset is now available by its id. Assets and revisions from the catalogue send no event at the start.
    case registered(Asset)
    /// The asset is no longer available by its id, and its fetches have ended.
    case unregistered(Asset)
    /// A stored piece of the asset is lost.
    case pieceLost(Asset)
    /// Everything stored of the asset is about to be deleted; the reason is a sentence.
    case willPurge(Asset, reason: String)
    /// Everything stored of the asset was deleted; `asset.life` has the same record.
    case purged(Asset, StorageLife.Purge)
    /// The keys with these numbers have changed.
    case keysChanged(Asset, KeyChange, numbers: [Int])
    /// The mode in which origins are asked has changed.
    case modeChanged(PlayMode)
    /// A volume that holds assets is mounted again.
    case volumeReturned
    /// The store's own disk has space again, for which downloads wait.
    case roomCame
}

/// Answers the library's questions about downloads. `Library.attach(_:)` takes it.
@LoopActor public protocol DownloadStatus: AnyObject {
    /// True if the user downloads the asset, so that its pieces are pinned.
    func isKept(_ asset: Asset) -> Bool
    /// True if a download of the asset is running or will continue by itself.
    func isFetched(_ asset: Asset) -> Bool
    /// True if a download waits for space on the store's own disk.
    var isRoomAwaited: Bool { get }
    /// Registers a former orphan bundle, which is an asset now, as a complete download.
    func keep(_ asset: Asset) async
}
