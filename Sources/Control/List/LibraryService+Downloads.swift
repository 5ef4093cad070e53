import Downloader
import EventLoop
import Library
import Store

/// The list of all downloads. Most of a large store are complete: of these no more is told than what is known without
/// looking into their assets.
extension LibraryService {
    /// Between two turns others have the loop.
    private static let turn = Duration.milliseconds(5)

    /// See `ControlService`.
    public func downloads() async throws(ControlError) -> [API.Download] {
        await library.summaries.check()
        var begin = ContinuousClock.now
        var shapes: [API.Download] = []
        for download in downloader.downloads {
            if ContinuousClock.now - begin > Self.turn {
                await Task.yield()
                begin = .now
            }
            // Where an origin's new content is fetched, that download stands for the asset.
            guard download.asset.revision == nil, downloader.download(of: download.asset) === download else { continue }
            shapes.append(library.isComplete(download) ? complete(download) : API.Download(download))
        }
        return shapes
    }

    /// A download of which all is there, in a list.
    private func complete(_ download: Download) -> API.Download {
        let asset = download.asset
        let facts = asset.isAsleep ? facts(of: asset) : nil
        let bytes = facts.map { $0.bytes - $0.cachedBytes } ?? (asset.bytes - asset.cachedBytes)
        return API.Download(complete: download, duration: facts?.duration ?? asset.duration, bytes: Int(bytes))
    }
}

extension Library {
    /// Whether a download is complete, as far as is known without its asset being looked into.
    func isComplete(_ download: Download) -> Bool {
        let asset = download.asset
        guard download.state == .complete else { return false }
        guard asset.isAsleep else { return download.isWhole }
        return summaries[asset].map { $0.local == API.Local.complete.rawValue } ?? asset.volume?.isThere ?? true
    }
}
