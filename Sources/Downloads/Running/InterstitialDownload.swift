import Assets
import EventLoop
import Extras
import Fetching
import HLS
import HTTPMessage
import Orders
import Store

/// Fetches the interstitials that the playlists of a download name, once its own media is complete. One that fails is told in
/// the summary, and never fails the download.
@LoopActor final class InterstitialDownload: DownloadWork {
    private let download: Download
    private unowned let downloader: Downloader
    private var files: InterstitialFiles { downloader.library.interstitialFiles }
    private var asset: Asset { download.asset }
    private var task: Task<Void, Never>?
    /// The running fetches, with the bytes that were stored before.
    private var running: [ObjectIdentifier: (fetch: Fetch, began: Int64)] = [:]
    /// Bytes that ended fetches received.
    fileprivate var settled: Int64 = 0
    private var waiting: CheckedContinuation<Void, Never>?
    private var failure: LibraryError?
    private var isOver = false
    private var stored: Set<InterstitialFiles.Reference> = []
    private var faults: [String] = []

    /// More presentations than this, as a live stream names them in days, are not fetched.
    private static let limit = 200

    init(_ download: Download, _ downloader: Downloader) {
        self.download = download
        self.downloader = downloader
    }

    // MARK: DownloadWork

    func start(at playhead: Double) {
        task = Task { @LoopActor [weak self] in
            guard let self else { return }
            await self.run()
        }
    }

    func cancel() {
        isOver = true
        task?.cancel()
        settled = received
        let fetches = running.values.map(\.fetch)
        running = [:]
        for fetch in fetches {
            fetch.release()
        }
        waiting?.resume()
        waiting = nil
    }

    var received: Int64 { running.values.reduce(settled) { $0 + max(0, $1.fetch.written - $1.began) } }
    var unfinished: Int64 { running.values.reduce(0) { $0 + $1.fetch.written } }

    func tick() {}

    /// Interstitials are not in the film's time.
    func move(to playhead: Double, isJump: Bool) {}

    // MARK: Steps

    private func run() async {
        files.markKept(of: asset)
        let references = files.references(of: download.renditions, in: asset)
        for reference in references.prefix(Self.limit) where !isOver {
            await store(reference)
        }
        guard !isOver else { return }
        if references.count > Self.limit {
            faults.append("the playlists name \(references.count) interstitials; the first \(Self.limit) are stored")
        }
        download.book.record(interstitials: stored.count, faults: faults)
        downloader.library.writeBundle(of: asset)
        isOver = true
        downloader.work(for: download, ended: .complete)
    }

    /// Stores an interstitial, unless it is stored already.
    private func store(_ reference: InterstitialFiles.Reference) async {
        do throws(LibraryError) {
            guard !asset.content.additions.hasStored(reference.name) else {
                stored.insert(reference)
                return
            }
            if reference.name.kind == .presentation {
                try await storePresentation(reference)
            } else {
                try await storeList(reference)
            }
            if !isOver {
                stored.insert(reference)
            }
        } catch {
            if !isOver {
                faults.append("\(error)")
            }
        }
    }

    private func storeList(_ reference: InterstitialFiles.Reference) async throws(LibraryError) {
        let (list, presentations) = try await files.list(reference, of: asset)
        var first: LibraryError?
        var missing: Set<InterstitialFiles.Reference> = []
        let named = Set(presentations.compactMap(\.self))
        for presentation in presentations.compactMap(\.self).prefix(Self.limit)
        where !isOver && !asset.content.additions.hasStored(presentation.name) {
            do throws(LibraryError) {
                try await storePresentation(presentation)
            } catch {
                first = first ?? error
                missing.insert(presentation)
            }
        }
        guard !isOver else { return }
        if let first, missing.count == named.count {
            throw first
        }
        try files.keep(list, presentations, as: reference, of: asset)
        if let first {
            throw first
        }
    }

    private func storePresentation(_ reference: InterstitialFiles.Reference) async throws(LibraryError) {
        let selection = download.task.items.first?.selection ?? Selection(subtitles: .nothing)
        let prepared = try await files.prepare(reference, of: asset) {
            selection.forInterstitial.renditionIndices(in: $0)
        }
        guard !isOver else { return }
        downloader.pin(download)
        for rendition in prepared.renditions {
            try await fetch(rendition)
        }
        guard !isOver else { return }
        guard prepared.renditions.allSatisfy(\.isComplete) else {
            throw LibraryError(.badOrigin, "\(reference.url.redacted) is not completely stored")
        }
        try files.keep(prepared, of: asset)
    }

    // MARK: Pieces

    private func fetch(_ rendition: Rendition) async throws(LibraryError) {
        guard let playlist = rendition.source?.playlist else { return }
        var wanted = rendition.preliminaries.filter { !$0.folder.contains($0.resource.name.description) }
        for segment in playlist.segments where !segment.isGap {
            guard let resource = rendition.resource(of: segment) else {
                throw LibraryError(.notPlaylist, "a segment of \(rendition.name.id) has no usable URL")
            }
            if !rendition.folder.contains(resource.name.description) {
                wanted.append((rendition.folder, resource))
            }
        }
        var rest = wanted[...]
        while !rest.isEmpty, !isOver {
            let batch = rest.prefix(downloader.configuration.parallel)
            rest = rest.dropFirst(batch.count)
            try await fetch(Array(batch))
        }
    }

    private func fetch(_ batch: [(folder: PieceFolder, resource: Resource)]) async throws(LibraryError) {
        failure = nil
        // A player may have brought one meanwhile.
        for (folder, resource) in batch where !folder.contains(resource.name.description) {
            let fetch = try downloader.library.fetch(resource, in: folder, of: asset, urgency: .background)
            running[ObjectIdentifier(fetch)] = (fetch, fetch.written)
            fetch.whenEnded { [weak self] result in self?.ended(fetch, result) }
        }
        // A fetch that ends at once has called back.
        if !running.isEmpty {
            await withCheckedContinuation { waiting = $0 }
        }
        if let failure {
            throw failure
        }
    }

    private func ended(_ fetch: Fetch, _ result: Result<Void, FetchError>) {
        guard let (_, began) = running.removeValue(forKey: ObjectIdentifier(fetch)) else { return }
        settled += max(0, fetch.written - began)
        fetch.release()
        switch fetch.contentError.map({ .failure($0) }) ?? result {
        case .success:
            if let reason = fetch.keepFailure {
                failure = failure ?? LibraryError(reason, about: "\(fetch.resource.name) is not kept")
            } else {
                downloader.work(for: download, received: fetch.written - began)
            }
        case .failure(let error): failure = failure ?? LibraryError(error)
        }
        guard running.isEmpty else { return }
        waiting?.resume()
        waiting = nil
    }
}

extension Downloader {
    /// Begins to fetch the interstitials of a download whose own media is complete. Returns false if none are requested, or
    /// that is done.
    func beginInterstitials(of download: Download) -> Bool {
        guard download.task.keepsInterstitials, !(download.work is InterstitialDownload), !download.task.recordsLive
        else {
            return false
        }
        download.work?.cancel()
        let work = InterstitialDownload(download, self)
        // The rate is that of the whole download.
        work.settled = download.work?.received ?? 0
        download.work = work
        work.start(at: 0)
        return true
    }
}

extension Selection {
    /// The selection for an interstitial: of the same quality as far as it has that.
    fileprivate var forInterstitial: Selection {
        var selection = self
        selection.conditions = nil
        if case .height(let height)? = quality {
            selection.quality = .heightAtMost(height)
        }
        selection.wishes.keepsTrickPlay = nil
        return selection
    }

    /// The renditions of the selection; those of the lowest quality if the presentation has none of it.
    fileprivate func renditionIndices(in playlist: MultivariantPlaylist) -> [Int] {
        if let renditionIndices = try? renditions(of: playlist) {
            return renditionIndices
        }
        let other = Selection(
            quality: quality.map { _ in .worst }, subtitles: .nothing, preferences: preferences)
        return (try? other.renditions(of: playlist)) ?? []
    }
}
