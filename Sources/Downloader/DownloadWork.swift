import EventLoop
import Library
import Store

/// The work of a running download: a `DownloadEngine` for complete presentations, a `Recorder` for live ones.
@LoopActor protocol DownloadWork: AnyObject {
    /// Begins with the content from `playhead` on, in seconds of media time.
    func start(at playhead: Double)
    /// Stops the work; the observer is not called any more.
    func cancel()
    /// Moves the work to a new playhead, after playback progress, a jump, or the end of playback.
    func move(to playhead: Double, isJump: Bool)
}

/// Result of a download's work.
enum DownloadOutcome {
    /// Everything requested is stored.
    case complete
    /// Resources could not be fetched. The error is the first one; `isKey` is true if it concerns a key; `count` is the
    /// number of failed resources.
    case failed(LibraryError, isKey: Bool = false, count: Int = 1)
    /// A piece could not be stored.
    case storeFailed(StoreError)
}

/// Receives the progress and the result of the work.
@LoopActor protocol DownloadWorkObserver: AnyObject {
    /// Bytes were received and stored as pieces.
    func work(for download: Download, received bytes: Int64)
    /// Everything requested of a rendition is stored.
    func work(for download: Download, completed rendition: Rendition)
    /// The work is over.
    func work(for download: Download, ended outcome: DownloadOutcome)
}
