import API
import Downloader
import Orders
import SafeText

extension DownloadOrder {
    init(_ request: API.DownloadRequest) throws(APIError) {
        self.init(range: request.range)
        selections = request.selections
        note = request.note
        priority = request.priority
        recordsLive = request.record ?? false
        recordSeconds = request.recordSeconds.map { Int64($0) }
        ignoresRoom = request.ignoreSpace ?? false
        isPaused = request.paused ?? false
        rules =
            try request.rules.map { rules throws(APIError) in try DownloadRules.Change(rules) }
            ?? DownloadRules.Change()
    }
}
