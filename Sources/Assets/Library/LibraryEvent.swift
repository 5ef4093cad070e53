public import EventLoop
public import Fetching
public import HTTPMessage
public import Orders
public import Store

/// A change in the library, as `Library.events` delivers it.
public enum LibraryEvent {
    /// The asset is new or removed, or its name, title, URL, policy, image or time of last playback has changed.
    /// Changes of its pieces and keys have their own events.
    case assetChanged(Asset)
    /// The asset is now available by its id. Assets and revisions from the catalogue send no event at the start.
    case registered(Asset)
    /// The asset is no longer available by its id, and its fetches have ended.
    case unregistered(Asset)
    /// The asset has a new name.
    case renamed(Asset, from: String)
    /// The user has removed the asset: nothing may be kept about it. Follows `unregistered`.
    case removed(Asset)
    /// A stored piece of the asset is lost.
    case pieceLost(Asset)
    /// The origin was found to have other content than what is stored of the asset.
    case contentChanged(Asset)
    /// Everything stored of the asset is about to be deleted; the reason is a sentence.
    case willPurge(Asset, reason: String)
    /// Everything stored of the asset was deleted; `asset.life` has the same record.
    case purged(Asset, Purge)
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
    /// The numbers of the segments of subtitles that the asset's download could not get from the origin, by rendition.
    func givenUp(of asset: Asset) -> [String: Set<Int>]
    /// True if a download of the asset is running or will continue by itself.
    func isFetched(_ asset: Asset) -> Bool
    /// True if a download of the asset has failed for good.
    func hasFailed(_ asset: Asset) -> Bool
    /// True if a download waits for space on the store's own disk.
    var isRoomAwaited: Bool { get }
    /// Registers a former orphan bundle, which is an asset now, as a complete download.
    func keep(_ asset: Asset) async
}

/// The recording of a rendition, as the library sees it. The room that records implements it.
@LoopActor public protocol RenditionRecording: AnyObject {
    /// Returns the recorded playlist as it is now; nil while nothing is recorded. A long one is parsed on a worker.
    func current() async -> Rendition.Source?
    /// Number of segments in the recorded playlist, gaps included.
    var count: Int { get }
    /// Adopts a playlist of the origin, and returns it with the recording's numbers in its names.
    func observe(_ source: Rendition.Source) -> Rendition.Source
    /// True if a piece with this name is kept, whoever fetches it.
    func keeps(_ name: PieceName) -> Bool
    /// The name of an initialization section of a window; nil if it is not recorded.
    func name(ofMapAt url: WebURL, _ bytes: Range<Int64>?) -> PieceName?
    /// Added to the number of a segment of the channel's present window, it gives the segment's number in the recording; nil if the
    /// recording has no window, or that of no channel.
    var channelOffset: Int? { get }
    /// The segments of the origin's present window, by their numbers in the recording.
    var window: Range<Int> { get }
    /// The numbers to which `channelOffset` belongs: those of the recording since the origin's numbers last began anew.
    var sharedNumbers: Range<Int> { get }
}

/// Restores recordings that an earlier process began.
@LoopActor public protocol StoredRecordings {
    /// Restores the recording of a rendition, given by its id.
    func restoreRecording(of rendition: String, in asset: Asset, _ library: Library)
}

/// Answers the library's questions about moves of assets to other volumes.
@LoopActor public protocol MoveStatus: AnyObject {
    /// True while the asset's bundle is being moved.
    func isMoving(_ asset: Asset) -> Bool
    /// Returns once the asset's bundle is not being moved any more.
    func waitForMove(of asset: Asset) async
    /// Cancels the move of an asset that is being removed, waits for its end, and forgets the asset.
    func forget(_ asset: Asset) async
}

/// Knows sizes and states of assets whose playlists are not loaded. The room that lists assets implements it.
@LoopActor public protocol AssetSummaries: AnyObject {
    /// The summary of an asset; nil if there is none, or the asset has been used since the start.
    func summary(of asset: Asset) -> SummaryRecord?
    /// Calls `body` once the stored summaries have been checked.
    func whenChecked(_ body: @escaping @LoopActor () -> Void)
    /// Invalidates the summary of an asset that has changed.
    func invalidate(_ asset: Asset)
    /// Computes the summary of an asset whose playlists leave memory.
    func settle(_ asset: Asset) async
    /// Removes the summary of an asset.
    func remove(_ asset: Asset)
}

extension AssetSummaries {
    /// Waits until the stored summaries have been checked.
    public func check() async {
        await withCheckedContinuation { continuation in whenChecked { continuation.resume() } }
    }
}

/// Finds assets that can be played in part, because no variant of them is complete.
@LoopActor public protocol PartialPlayback: AnyObject {
    /// True if enough of the asset is stored to be played with cuts, or with pieces of other renditions.
    func isPlayableInPart(_ asset: Asset) async -> Bool
    /// Drops what is known about an asset that was removed.
    func forget(_ asset: Asset)
}
