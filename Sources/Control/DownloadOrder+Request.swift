import API
import Downloader
import Orders

extension DownloadOrder {
    init(_ request: API.DownloadRequest) {
        self.init(range: request.range)
        selections = request.selections
        note = request.note
        priority = request.priority
        recordsLive = request.record ?? false
        recordSeconds = request.recordSeconds.map { Int64($0) }
        ignoresRoom = request.ignoreSpace ?? false
        isPaused = request.paused ?? false
        rules = request.rules ?? DownloadRules.Change()
    }
}
