import EventLoop
import Fetching
import Library
import Playlist
import Store

/// Records the renditions of a live stream until it ends: follows their playlists, fetches each new segment while it
/// can be had, and makes an ordinary asset of it in the end.
///
/// `weir get --record` runs it in the place of a `DownloadEngine`. All renditions end together: when each has been
/// ended by the origin or has had nothing new for long, or when somebody says so. Where it is ended, or cannot be found
/// any more, what was recorded is whole; where it is cancelled, a later recorder goes on.
@LoopActor final class Recorder: DownloadWork {
    /// One piece on its way.
    private struct Place: Hashable {
        let folder: ObjectIdentifier
        let name: PieceName

        @LoopActor init(_ need: (folder: PieceFolder, resource: Resource)) {
            (folder, name) = (ObjectIdentifier(need.folder), need.resource.name)
        }
    }

    /// A piece that did not come.
    private struct Failure {
        let since: ContinuousClock.Instant
        let error: LibraryError
    }

    private let download: Download
    private let library: Library
    private let parallel: Int
    private let patience: RecordingTrack.Patience
    private weak var observer: (any DownloadWorkObserver)?
    private let tell: (String) -> Void
    private var beginning: Task<Void, Never>?
    private var tracks: [RecordingTrack] = []
    private var fetching: [Place: Fetch] = [:]
    private var failures: [Place: Failure] = [:]
    private var isOver = false

    private var asset: Asset { download.asset }
    private var renditions: [Rendition] { download.renditions }

    /// - Parameters:
    ///   - parallel: the most segments that are fetched at one time.
    ///   - tell: told why the recording ended, in a sentence for a log.
    init(
        _ download: Download, library: Library, parallel: Int, patience: RecordingTrack.Patience = .init(),
        observer: any DownloadWorkObserver, tell: @escaping (String) -> Void
    ) {
        (self.download, self.library, self.parallel) = (download, library, parallel)
        (self.patience, self.observer, self.tell) = (patience, observer, tell)
    }

    // MARK: DownloadWork

    /// Begins, or goes on behind what was recorded before. Whoever plays changes nothing: what is oldest leaves first.
    func start(at playhead: Double) {
        beginning = Task { @LoopActor in
            do throws(LibraryError) {
                try await begin()
            } catch {
                end(.failed(error))
            }
        }
    }

    /// What is recorded stays, and a later recorder goes on with it.
    func cancel() {
        guard !isOver else { return }
        stop()
        library.rest(renditions, of: asset)
    }

    func move(to playhead: Double, isJump: Bool) {}

    // MARK: Beginning and ending

    private func begin() async throws(LibraryError) {
        for rendition in renditions {
            let recording = try await library.record(rendition, of: asset)
            guard !isOver else { return library.rest(renditions, of: asset) }
            guard let recording else { continue }
            tracks.append(RecordingTrack(rendition, recording, patience))
        }
        if tracks.isEmpty {
            throw LibraryError(
                .notPlaylist, "\(asset.name) has ended already: \"weir get\" fetches it without --record")
        }
        for track in tracks { track.task = Task { @LoopActor in await follow(track) } }
    }

    /// Ends the recording where it is, so that what is there is the whole.
    func finish() { close(because: "it was told to end") }

    private func stop() {
        isOver = true
        beginning?.cancel()
        for track in tracks { track.task?.cancel() }
        let fetches = fetching.values
        fetching = [:]
        for fetch in fetches { fetch.release() }
    }

    private func end(_ outcome: DownloadOutcome) {
        guard !isOver else { return }
        stop()
        library.rest(renditions, of: asset)
        observer?.work(for: download, ended: outcome)
    }

    private func close(because reason: String) {
        guard !isOver else { return }
        stop()
        do throws(LibraryError) {
            guard try library.close(renditions, of: asset) else {
                throw LibraryError(.missing, "nothing of \(asset.name) was recorded: \(reason)")
            }
        } catch {
            library.rest(renditions, of: asset)
            observer?.work(for: download, ended: .failed(error))
            return
        }
        tell("\(asset.name): the recording ended: \(reason)")
        for rendition in renditions { observer?.work(for: download, completed: rendition) }
        observer?.work(for: download, ended: .complete)
    }

    // MARK: Following

    private func follow(_ track: RecordingTrack) async {
        while !isOver {
            if track.recording.hasEnded { await pause(track) } else { await reload(track) }
            guard !isOver else { return }
            if asset.isRemoved { return end(.failed(LibraryError(.missing, "\(asset.name) was removed"))) }
            await library.noteKeys(of: asset)
            retry(track)
            settle()
        }
    }

    private func reload(_ track: RecordingTrack) async {
        do throws(LibraryError) {
            _ = try await library.nextSource(of: track.rendition, in: asset)
            track.note(nil)
        } catch {
            track.note(error)
            await pause(track)
        }
    }

    /// Not a poll: an origin must not be asked again sooner (RFC 8216 §6.3.4). `stop` cancels it with the track's task.
    private func pause(_ track: RecordingTrack) async { try? await Task.sleep(for: track.interval / 2) }

    /// Lists what has come, ends what has ended, and asks for more.
    private func settle() {
        guard !isOver else { return }
        do throws(StoreError) {
            for track in tracks {
                giveUpLost(of: track)
                try track.recording.advance()
            }
        } catch {
            return end(.storeFailed(error))
        }
        if let obstacle = tracks.lazy.compactMap({ $0.recording.obstacle }).first { return close(because: obstacle) }
        let reasons = tracks.compactMap(\.end)
        if reasons.count == tracks.count, let reason = reasons.first { return close(because: reason) }
        fill()
    }

    // MARK: Fetching

    /// Asks for what is oldest, since it leaves the origin first; renditions in turn, by media time.
    private func fill() {
        for track in tracks { track.look() }
        while !isOver, fetching.count < parallel {
            let track = tracks.filter { $0.nextTime != nil }.min { $0.nextTime ?? 0 < $1.nextTime ?? 0 }
            guard let item = track?.next() else { return }
            fetch(item)
        }
    }

    private func fetch(_ item: Recording.Item) {
        for need in item.needed where !need.folder.contains(need.resource.name.description) {
            guard !isOver, fetching[Place(need)] == nil else { continue }
            fetch(need)
        }
    }

    private func fetch(_ need: (folder: PieceFolder, resource: Resource)) {
        let place = Place(need)
        do throws(LibraryError) {
            let fetch = try library.fetch(need.resource, in: need.folder, of: asset, urgency: .background)
            let began = fetch.written
            fetching[place] = fetch
            fetch.whenEnded { [weak self] result in self?.ended(place, fetch, result, began: began) }
        } catch {
            fail(place, error)
        }
    }

    private func ended(_ place: Place, _ fetch: Fetch, _ result: Result<Void, FetchError>, began: Int64) {
        guard fetching[place] === fetch else { return }
        fetching[place] = nil
        fetch.release()
        if let failure = fetch.keepFailure { return end(.storeFailed(failure)) }
        switch result {
        case .success where fetch.isPiece:
            failures[place] = nil
            observer?.work(for: download, received: fetch.written - began)
        // It had begun before it was to be kept.
        case .success: fail(place, LibraryError(.store, "\(place.name) was not kept"))
        case .failure(let error): fail(place, LibraryError(error))
        }
        settle()
    }

    private func fail(_ place: Place, _ error: LibraryError) {
        failures[place] = Failure(since: failures[place]?.since ?? .now, error: error)
    }

    /// Asks again for what did not come, as far as it is in the way of what is listed next.
    private func retry(_ track: RecordingTrack) {
        for item in track.recording.items.prefix(2 * parallel)
        where item.needed.contains(where: { failures[Place($0)] != nil }) {
            fetch(item)
        }
    }

    /// Gives up what will not come, so that what is behind it can be listed.
    private func giveUpLost(of track: RecordingTrack) {
        for item in track.recording.items.prefix(2 * parallel) {
            let failed = item.needed.compactMap { failures[Place($0)] }.min { $0.since < $1.since }
            guard let failed, let limit = track.limit(for: item, failed.error), .now - failed.since >= limit else {
                continue
            }
            for need in item.needed where need.folder === track.rendition.folder { failures[Place(need)] = nil }
            track.recording.giveUp(item, because: "\(failed.error)")
        }
    }
}
