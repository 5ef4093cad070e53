public import EventLoop
public import Store

/// A change in the library that other rooms follow. `Library.events` delivers it.
public enum LibraryEvent {
    /// The asset is new or removed, or its name, title, URL, policy, image or time of last playback has changed. Changes of
    /// its pieces and keys have events of their own.
    case assetChanged(Asset)
    /// The asset's id leads to it from now on. Assets and revisions that the catalogue had at the start send no event.
    case registered(Asset)
    /// The asset's id leads to it no more, and its fetches have ended.
    case unregistered(Asset)
    /// A piece of the asset was stored, and is lost.
    case pieceLost(Asset)
    /// Everything stored of the asset is about to be deleted; the reason is a sentence.
    case willPurge(Asset, reason: String)
    /// Everything stored of the asset was deleted; `asset.life` has the same record.
    case purged(Asset, StorageLife.Purge)
    /// The keys with these numbers have changed.
    case keysChanged(Asset, KeyChange, numbers: [Int])
    /// Origins are asked in another mode from now on.
    case modeChanged(PlayMode)
    /// A volume that holds assets is mounted again.
    case volumeReturned
    /// The store's own disk has room again, for which downloads wait.
    case roomCame
}

/// Answers the library's questions about downloads. `Library.attach(_:)` takes it.
@LoopActor public protocol DownloadStatus: AnyObject {
    /// True if the user wants the stored pieces of an asset to be kept, and asks for it to be downloaded.
    func isKept(_ asset: Asset) -> Bool
    /// True if a download of the asset is running or will go on by itself.
    func isFetched(_ asset: Asset) -> Bool
    /// True if a download waits for room on the store's own disk.
    var isRoomAwaited: Bool { get }
    /// Registers an orphan bundle, which is an asset now, as a complete download.
    func keep(_ asset: Asset) async
}
