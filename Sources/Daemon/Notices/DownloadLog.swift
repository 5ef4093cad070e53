internal import Assets
internal import Control
internal import Downloads
internal import EventLoop
internal import Logging
internal import Orders
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
        let reason = download.error.map { ": \($0.message)" } ?? ""
        return switch download.state {
        case .queued: nil
        case .running:
            (isFirst ? "download begins" : "download continues")
                + (download.totalBytes.map { ", about \(megabytes($0)) in all" } ?? "")
        case .paused: "download paused"
        case .waiting: "download waits" + (download.need.map { " for \($0.words)" } ?? "") + reason
        case .failed: "download failed" + reason
        case .cancelled: "download cancelled"
        case .complete: "saved" + (download.summary.map { account($0) } ?? "")
        }
    }

    private nonisolated static func account(_ summary: API.Download.Summary) -> String {
        let rate = summary.seconds > 0 ? ", \(megabytes(Int(Double(summary.bytes) / summary.seconds)))/s" : ""
        return ", \(megabytes(summary.bytes)) in \(tenths(summary.seconds)) s" + rate
    }

    private nonisolated static func megabytes(_ bytes: Int) -> String { tenths(Double(max(0, bytes)) / 0x1p20) + " MB" }

    private nonisolated static func tenths(_ value: Double) -> String {
        let tenths = Int((min(max(0, value), 1e12) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
