public import EventLoop
import Glibc
public import Library
import Playlist
import Store

/// All downloads: begins them, goes on with those of an earlier process, and waits out an absent origin.
@LoopActor public final class Downloader {
    private let library: Library
    private let parallel: Int
    private let report: @Sendable (String) -> Void
    private var byAsset: [String: Download] = [:]
    private var patience: [String: Patience] = [:]

    private let pauses: ClosedRange<Duration>

    /// What a waiting download waits with.
    private struct Patience {
        /// How long it waits the next time.
        var delay: Duration
        var task: Task<Void, Never>?
    }

    /// - Parameters:
    ///   - parallel: the most transfers that one download has under way.
    ///   - pauses: the first pause before an absent origin is tried again, which doubles, and the longest.
    ///   - report: told of trouble that nobody waits for, in a sentence for a log.
    public init(
        library: Library, parallel: Int = 6, pauses: ClosedRange<Duration> = .seconds(2)...(.seconds(60)),
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.library = library
        self.parallel = parallel
        self.pauses = pauses
        self.report = report
        for record in library.storedDownloads { restore(record) }
    }

    private func restore(_ record: DownloadRecord) {
        guard let asset = library.asset(id: record.asset) else { return }
        let failure = record.errorMessage.map { Download.Failure(code: record.errorCode ?? "", message: $0) }
        byAsset[asset.id] = Download(
            asset, ids: record.renditions.split(separator: " ").map(String.init),
            state: Download.State(rawValue: record.state) ?? .failed, failure: failure, created: record.created)
    }

    /// All downloads.
    public var downloads: [Download] { byAsset.values.sorted { $0.created < $1.created } }

    /// The asset's download, if there is one.
    public func download(of asset: Asset) -> Download? { byAsset[asset.id] }

    /// Why a download did not begin.
    public enum Refusal: Error, Sendable {
        /// The presentation is live: it cannot be saved while it is in progress.
        case live(name: String)
        /// A stored copy would be of no use without a content decryption module.
        case needsDRM(name: String)
        /// Nothing fits the selection.
        case noMatch(Selection.NoMatch)
        /// A playlist could not be had.
        case library(LibraryError)
    }

    // MARK: Beginning

    /// Goes on with what an earlier process had begun.
    public func resume() {
        for download in downloads where download.state == .running || download.state == .waiting { start(download) }
    }

    /// Begins a download, or attaches to the one under way. More renditions than before are added to those before.
    ///
    /// Returns when the playlists are read, so that it is known what will come.
    public func start(_ asset: Asset, _ selection: Selection) async throws(Refusal) -> Download {
        let chosen = try choose(asset, selection)
        for rendition in chosen { try await check(rendition, of: asset) }
        guard library.asset(id: asset.id) === asset else {
            throw .library(LibraryError(.missing, "\(asset.name) was removed"))
        }
        let known = byAsset[asset.id]
        let ids = chosen.map(\.name.id)
        if let known, known.state == .running, Set(ids).isSubset(of: known.ids) { return known }
        let former = known?.ids.filter { !ids.contains($0) } ?? []
        forget(asset)
        let download = Download(asset, ids: ids + former, state: .running, created: known?.created ?? Self.now)
        byAsset[asset.id] = download
        start(download)
        await save(download)
        return download
    }

    private func choose(_ asset: Asset, _ selection: Selection) throws(Refusal) -> [Rendition] {
        guard let playlist = asset.multivariant else { return asset.renditions }
        do {
            return try selection.renditions(of: playlist).map { asset.renditions[$0] }
        } catch {
            throw .noMatch(error)
        }
    }

    private func check(_ rendition: Rendition, of asset: Asset) async throws(Refusal) {
        do {
            let source = try await library.source(of: rendition, in: asset)
            if !source.isDurable { throw Refusal.live(name: asset.name) }
            if rendition.needsDRM { throw Refusal.needsDRM(name: asset.name) }
        } catch let error as LibraryError {
            throw .library(error)
        } catch let error as Refusal {
            throw error
        } catch {
            throw .library(LibraryError(.badOrigin, "\(error)"))
        }
    }

    // MARK: Running

    private func start(_ download: Download) {
        download.state = .running
        download.failure = nil
        download.engine = nil
        let task = Task { @LoopActor in
            for rendition in download.renditions {
                do throws(LibraryError) {
                    _ = try await library.source(of: rendition, in: download.asset)
                } catch {
                    return settle(download, .failed(error))
                }
            }
            guard byAsset[download.asset.id] === download else { return }
            let engine = DownloadEngine(download, library: library, parallel: parallel) { [weak self, weak download] in
                guard let self, let download else { return }
                self.settle(download, $0)
            }
            download.engine = engine
            engine.start()
        }
        patience[download.asset.id, default: Patience(delay: pauses.lowerBound)].task = task
    }

    private func settle(_ download: Download, _ outcome: DownloadEngine.Outcome) {
        guard byAsset[download.asset.id] === download else { return }
        download.engine = nil
        switch outcome {
        case .complete:
            download.state = .complete
            patience[download.asset.id] = nil
            library.publish(download.asset)
        case .storeFailed(let error):
            fail(download, code: error.code.rawValue, "\(download.asset.name) is not wholly stored: \(error)")
        case .failed(let error):
            switch error.code {
            case .originAbsent, .notStored, .cancelled: wait(download, error)
            default: fail(download, code: error.code.rawValue, "\(error)")
            }
        }
        Task { @LoopActor in await save(download) }
    }

    private func fail(_ download: Download, code: String, _ message: String) {
        download.state = .failed
        download.failure = Download.Failure(code: code, message: message)
        patience[download.asset.id] = nil
        report("\(download.asset.name): the download stopped: \(message)")
    }

    private func wait(_ download: Download, _ error: LibraryError) {
        download.state = .waiting
        download.failure = Download.Failure(code: error.code.rawValue, message: "\(error)")
        var pause = patience[download.asset.id] ?? Patience(delay: pauses.lowerBound)
        let delay = pause.delay
        pause.delay = min(delay * 2, pauses.upperBound)
        // A task, as the work after the pause is: `forget` and `stop` cancel whichever of the two there is.
        pause.task = Task { @LoopActor in
            guard (try? await Task.sleep(for: delay)) != nil, byAsset[download.asset.id] === download else { return }
            start(download)
        }
        patience[download.asset.id] = pause
    }

    // MARK: Ending

    /// Ends the asset's download, if there is one, and forgets it. What is stored stays.
    public func forget(_ asset: Asset) {
        byAsset.removeValue(forKey: asset.id)?.engine?.cancel()
        patience.removeValue(forKey: asset.id)?.task?.cancel()
    }

    /// Ends all work. The downloads go on at the next start.
    public func stop() {
        for download in byAsset.values { download.engine?.cancel() }
        for pause in patience.values { pause.task?.cancel() }
        byAsset = [:]
        patience = [:]
    }

    private func save(_ download: Download) async {
        guard library.readOnlyReason == nil, byAsset[download.asset.id] === download else { return }
        do {
            try await library.save(download.record)
        } catch {
            report("\(download.asset.name): \(error)")
        }
    }

    private static var now: Int64 { Int64(time(nil)) }
}
