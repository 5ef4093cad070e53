internal import Assets
internal import Control
internal import Downloads
internal import EventLoop
internal import Logging
internal import Orders
import SafeText
internal import WeirAPI

/// Writes the states of downloads into the daemon's log: their begin, their end with the rate, and why they pause.
@LoopActor final class DownloadLog {
    private let logger: Logger
    private var subscription: Subscription?
    /// The last state of each download that was logged, by the asset's id: a state may be reported again.
    private var last: [String: (state: JobState, reason: String?)] = [:]

    init(of downloader: Downloader, logger: Logger) {
        self.logger = logger
        subscription = downloader.changes.subscribe { [weak self] in self?.react(to: $0.download, $0.event) }
    }

    private func react(to download: Download, _ event: DownloadEvent) {
        switch event {
        case .state:
            let id = download.asset.id
            var shape = API.Download(stateOf: download)
            let last = self.last[id]
            guard last?.state != shape.state || last?.reason != shape.error?.message else { return }
            // Sizes need the playlists, and a start reports every download in the queue.
            if shape.state == .running || shape.state == .complete {
                shape = API.Download(download)
            }
            guard let line = Self.line(shape, isFirst: last?.state.isFinal ?? true) else { return }
            self.last[id] = (shape.state, shape.error?.message)
            logger.info("\(download.asset.name): \(line)")
        case .removed: last[download.asset.id] = nil
        default: break
        }
    }

    /// The words for a state; nil for one that says nothing.
    ///
    /// - Parameter isFirst: false if the download has paused or waited before.
    nonisolated static func line(_ download: API.Download, isFirst: Bool) -> String? {
        var line: String
        switch download.state {
        case .queued: return nil
        case .running:
            line = isFirst ? "download begins" : "download continues"
            if let totalBytes = download.totalBytes {
                line += ", about \(Quantity.bytes(totalBytes)) in all"
            }
        case .paused: line = "download paused"
        case .waiting:
            line = "download waits"
            if let need = download.need {
                line += " for \(need.words)"
            }
            line += reason(of: download)
        case .failed: line = "download failed" + reason(of: download)
        case .cancelled: line = "download cancelled"
        case .complete:
            line = "saved"
            if let summary = download.summary {
                line += account(summary)
            }
        }
        return line
    }

    private nonisolated static func reason(of download: API.Download) -> String {
        guard let error = download.error else { return "" }
        return ": \(error.message)"
    }

    private nonisolated static func account(_ summary: API.Download.Summary) -> String {
        let text = ", \(Quantity.bytes(summary.bytes)) in \(tenths(summary.seconds)) s"
        guard summary.seconds > 0 else { return text }
        let rate = Int(Double(summary.bytes) / summary.seconds)
        return "\(text), \(Quantity.bytes(rate))/s"
    }

    private nonisolated static func tenths(_ value: Double) -> String {
        let tenths = Int((min(max(0, value), 1e12) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
