import API
import Downloader

extension DownloadOrder {
    /// The order that a request is.
    init(_ request: API.DownloadRequest) {
        self.init(range: request.range?.seconds)
        selections = request.selections.map { Selection($0) }
        note = request.note
        priority = request.priority.map { $0 == .important ? .important : .normal }
        recordsLive = request.record ?? false
        ignoresRoom = request.anyway ?? false
        isPaused = request.paused ?? false
    }
}
