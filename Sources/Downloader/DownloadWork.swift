import EventLoop
import Library
import Store

/// What fetches for a download that runs: a `DownloadEngine` for what has ended, a recorder for what goes on.
@LoopActor protocol DownloadWork: AnyObject {
    /// Begins, with what comes from `playhead` on, in seconds of media time.
    func start(at playhead: Double)
    /// Wants nothing any more, and tells nothing any more.
    func cancel()
    /// What is needed next lies elsewhere: somebody plays on, or has jumped there, or nobody plays any more.
    func move(to playhead: Double, isJump: Bool)
}

/// How a download's work ended.
enum DownloadOutcome {
    /// Everything that was wanted is there.
    case complete
    /// Something could not be had: the first that was not, whether that is a key, and how many things there are.
    case failed(LibraryError, isKey: Bool = false, count: Int = 1)
    /// Something could not be kept.
    case storeFailed(StoreError)
}

/// Whom work tells how it goes on.
@LoopActor protocol DownloadWorkObserver: AnyObject {
    /// So many bytes have come as pieces.
    func work(for download: Download, received bytes: Int64)
    /// Everything that was wanted of a rendition is there.
    func work(for download: Download, completed rendition: Rendition)
    /// It is over.
    func work(for download: Download, ended outcome: DownloadOutcome)
}
