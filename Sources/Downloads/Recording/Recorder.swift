import Assets
import EventLoop
import Fetching
import HLS
import Origin
import Store

/// Records the renditions of a live stream until it ends: reloads their playlists, fetches each new segment while it is
/// available, and turns the result into an ordinary asset.
///
/// All renditions end together: when the origin has ended each of them or has had nothing new for long, or when the
/// user ends the recording. If the recording is cancelled, a later recorder continues it.
@LoopActor final class Recorder: DownloadWork {
    /// Identifies a piece on its way.
    private struct Target: Hashable {
        let folder: ObjectIdentifier
        let name: PieceName

        @LoopActor init(_ need: (folder: PieceFolder, resource: Resource)) {
            folder = ObjectIdentifier(need.folder)
            name = need.resource.name
        }
    }

    /// A piece on its way.
    private struct Arrival {
        let fetch: Fetch
        /// The bytes that were there before.
        let began: Int64
        /// A player's for a piece that is about to leave the origin's playlist.
        var urgency: Fetch.Urgency
    }

    private struct Failure {
        let since: ContinuousClock.Instant
        let error: LibraryError
    }

    private let download: Download
    private let library: Library
    private let parallel: Int
    private let limits: GiveUpRule.RecordingLimits
    private weak var observer: (any DownloadWorkObserver)?
    private let report: (String) -> Void
    private var beginning: Task<Void, Never>?
    private var tracks: [RecordingTrack] = []
    private var fetching: [Target: Arrival] = [:]
    /// Bytes of fetches that have ended.
    private var settled: Int64 = 0
    private var failures: [Target: Failure] = [:]
    private var isOver = false
    private let keyTrial: KeyTrial
    /// The samples of keys that are being read.
    private var trying: [Int: KeyTrial.Sample] = [:]
    private var lastTrial = 0
    /// The keys that the origin was asked for once more, because they did not fit.
    private var replaced: Set<Int> = []
    /// Those that it is being asked for.
    private var asking: Set<Int> = []
    /// The keys of which the user was told that they do not fit.
    private var told: Set<Int> = []
    /// The words that the observer knows.
    private var words: String?
    /// The holes that the observer knows.
    private var holes = RecordingHoles()

    private var asset: Asset { download.asset }
    private var renditions: [Rendition] { download.renditions }

    init(
        _ download: Download, library: Library, parallel: Int, limits: GiveUpRule.RecordingLimits = .init(),
        observer: any DownloadWorkObserver, report: @escaping (String) -> Void
    ) {
        self.download = download
        self.library = library
        self.parallel = parallel
        self.limits = limits
        self.observer = observer
        self.report = report
        keyTrial = KeyTrial(download.asset)
    }

    // MARK: DownloadWork

    /// The playhead is ignored, because the oldest segments leave the origin first.
    func start(at playhead: Double) {
        beginning = Task { @LoopActor in
            do throws(LibraryError) {
                try await begin()
            } catch {
                end(.failed(error))
            }
        }
    }

    /// Stops; the recorded part is kept, and a later recorder continues it.
    func cancel() {
        guard !isOver else { return }
        stop()
        library.recordings.pause(renditions, of: asset)
    }

    func move(to playhead: Double, isJump: Bool) {}

    var received: Int64 { fetching.values.reduce(settled) { $0 + max(0, $1.fetch.written - $1.began) } }
    var unfinished: Int64 { fetching.values.reduce(0) { $0 + $1.fetch.written } }

    func tick() {}

    // MARK: Start and end

    private func begin() async throws(LibraryError) {
        let start = try await library.recordings.commonStart(download.task.recordFrom, of: renditions, in: asset)
        for rendition in renditions {
            let recording = try await library.recordings.start(rendition, of: asset, from: start)
            guard !isOver else { return library.recordings.pause(renditions, of: asset) }
            guard let recording else { continue }
            tracks.append(RecordingTrack(rendition, recording, limits: limits))
        }
        if tracks.isEmpty {
            guard !download.isClosedRecording else {
                stop()
                return complete()
            }
            throw LibraryError(
                .notPlaylist, "\(asset.name) has ended already: \"weir get\" fetches it without --record")
        }
        // The listed segments are fetched at once, and not after the first reload, which is due a target duration later.
        update()
        guard !isOver else { return }
        for track in tracks {
            track.task = Task { @LoopActor in await follow(track) }
        }
    }

    func finish() { close(because: "it was told to end") }

    private func stop() {
        isOver = true
        beginning?.cancel()
        for track in tracks {
            track.task?.cancel()
        }
        let arrivals = fetching.values
        fetching = [:]
        for arrival in arrivals {
            arrival.fetch.release(arrival.urgency)
        }
    }

    private func end(_ outcome: DownloadOutcome) {
        guard !isOver else { return }
        stop()
        library.recordings.pause(renditions, of: asset)
        observer?.work(for: download, ended: outcome)
    }

    private func close(because reason: String) {
        guard !isOver else { return }
        stop()
        do throws(LibraryError) {
            guard try library.recordings.close(renditions, of: asset) else {
                throw LibraryError(.missing, "nothing of \(asset.name) was recorded: \(reason)")
            }
        } catch {
            library.recordings.pause(renditions, of: asset)
            observer?.work(for: download, ended: .failed(error))
            return
        }
        report("\(asset.name): the recording ended: \(reason)")
        reportHoles()
        // They have just been stored: the pages are in memory.
        for sample in trying.values {
            keyTrial.record(sample.fits(), of: sample)
        }
        trying = [:]
        if let key = keyTrial.unfit.first {
            // The failure says it, and a later attempt may mend it.
            observer?.work(for: download, lacks: holes.words)
            observer?.work(for: download, ended: .failed(keyTrial.error(about: key), isKey: true))
            return
        }
        complete()
    }

    private func complete() {
        for rendition in renditions {
            observer?.work(for: download, completed: rendition)
        }
        observer?.work(for: download, ended: .complete)
    }

    // MARK: Keys

    /// Tries the keys of segments that have come. While it records, the user may still mend what the origin refuses.
    private func tryKeys(of track: RecordingTrack) {
        for sample in track.newSamples(for: keyTrial) {
            lastTrial += 1
            let number = lastTrial
            trying[number] = sample
            Task { @LoopActor in
                let fits = try? await DiskWork.run { sample.fits() }
                guard trying.removeValue(forKey: number) != nil else { return }
                keyTrial.record(fits ?? nil, of: sample)
                await replaceIfUnfit(sample.key)
            }
        }
    }

    /// Asks for a key once more that does not fit: the origin may have sent a page for a moment. Reports it if it still does not.
    private func replaceIfUnfit(_ key: Int) async {
        guard !isOver, keyTrial.unfit.contains(key), !asking.contains(key) else { return }
        if replaced.insert(key).inserted {
            asking.insert(key)
            await askAgain(for: key)
            asking.remove(key)
            guard !isOver, replaced.contains(key) else { return }
        }
        if keyTrial.isUnfit(key), told.insert(key).inserted {
            report("\(asset.name) cannot be played: \(keyTrial.fault(of: key))")
            reportHoles()
        }
    }

    private func askAgain(for key: Int) async {
        do throws(LibraryError) {
            if try await library.keys.replaceUnfit(key, of: asset) {
                await keyTrial.runAgain(key)
            }
        } catch {
            if error.code == .missing {
                // It is not in the catalogue yet: `follow` saves it and asks again.
                replaced.remove(key)
            } else {
                report("\(asset.name): \(error)")
            }
        }
    }

    private func replaceSavedKeys() {
        for key in keyTrial.unfit where !replaced.contains(key) {
            Task { @LoopActor in await replaceIfUnfit(key) }
        }
    }

    // MARK: Following

    private func follow(_ track: RecordingTrack) async {
        while !isOver {
            if track.recording.hasEnded {
                await pause(track)
            } else {
                await reload(track)
            }
            guard !isOver else { return }
            if asset.isRemoved {
                return end(.failed(LibraryError(.missing, "\(asset.name) was removed")))
            }
            await library.records.saveNewKeys(of: asset)
            replaceSavedKeys()
            retry(track)
            update()
        }
    }

    private func reload(_ track: RecordingTrack) async {
        do throws(LibraryError) {
            _ = try await library.playlists.nextSource(of: track.rendition, in: asset)
            track.record(nil)
        } catch {
            track.record(error)
            await pause(track)
        }
    }

    /// Waits half a target duration: the origin must not be asked sooner (RFC 8216 §6.3.4).
    private func pause(_ track: RecordingTrack) async { try? await LoopActor.pause(for: track.interval / 2) }

    private func update() {
        guard !isOver else { return }
        do throws(StoreError) {
            for track in tracks {
                giveUpLost(of: track)
                tryKeys(of: track)
                try track.recording.advance()
            }
        } catch {
            return end(.storeFailed(error))
        }
        reportHoles()
        // The end may be changed while it records.
        if let end = download.task.recordEnd, library.date() >= end {
            let mayWait = library.date() < end + Self.lastWait
            guard mayWait, awaitsSegment else { return close(because: "its time is over") }
            return
        }
        if let stopReason = tracks.lazy.compactMap({ $0.recording.stopReason }).first {
            return close(because: stopReason)
        }
        let reasons = tracks.compactMap(\.end)
        if reasons.count == tracks.count, let reason = reasons.first {
            return close(because: reason)
        }
        fill()
        hurry()
    }

    /// Seconds for which a recording whose time is over waits for segments that are on their way.
    private static let lastWait: Int64 = 10

    /// True if a segment is on its way in front of one that is there: without it the recording would end with a hole.
    private var awaitsSegment: Bool {
        tracks.contains { track in
            let items = track.recording.items
            guard let last = items.lastIndex(where: { $0.isComplete && !$0.isMissing }) else { return false }
            return items[..<last].contains { item in
                item.needed.contains { fetching[Target($0)] != nil }
            }
        }
    }

    /// Reports the holes of the rendition that lacks most: what the origin did not give is missing in all of them. And a key that does
    /// not fit.
    private func reportHoles() {
        if let worst = tracks.map(\.recording.holes).max(by: { $0.seconds < $1.seconds }) {
            holes = worst
        }
        let fault = told.min().map(keyTrial.fault)
        let found = [fault, holes.words].compactMap(\.self).joined(separator: "; ")
        guard found != words, !found.isEmpty else { return }
        words = found
        observer?.work(for: download, lacks: found)
    }

    // MARK: Fetching

    /// Fetches all renditions in turn by media time, the oldest segments first, because they leave the origin first.
    private func fill() {
        for track in tracks {
            track.collectNewItems()
        }
        while !isOver, fetching.count < parallel {
            guard let item = earliestTrack?.next() else { return }
            fetch(item)
        }
    }

    /// The track whose next item is the earliest by media time; nil if none has one.
    private var earliestTrack: RecordingTrack? {
        var earliest: RecordingTrack?
        var least = Double.infinity
        for track in tracks {
            guard let time = track.nextTime, time < least else { continue }
            earliest = track
            least = time
        }
        return earliest
    }

    private func fetch(_ item: Recording.Item) {
        for need in item.needed where !need.folder.contains(need.resource.name.description) {
            guard !isOver, fetching[Target(need)] == nil else { continue }
            fetch(need)
        }
    }

    private func fetch(_ need: (folder: PieceFolder, resource: Resource)) {
        let target = Target(need)
        do throws(LibraryError) {
            let fetch = try library.fetch(need.resource, in: need.folder, of: asset, urgency: .background)
            let began = fetch.written
            fetching[target] = Arrival(fetch: fetch, began: began, urgency: .background)
            fetch.whenEnded { [weak self] result in self?.finish(fetch, of: target, with: result, began: began) }
        } catch {
            fail(target, error)
        }
    }

    /// Raises what is about to leave the origin's playlist above downloads, and beside players, to which all else yields.
    private func hurry() {
        for track in tracks {
            for item in track.recording.items.prefix(2 * parallel) where track.recording.isAboutToLeave(item) {
                for need in item.needed {
                    raise(need)
                }
            }
        }
    }

    private func raise(_ need: (folder: PieceFolder, resource: Resource)) {
        let target = Target(need)
        guard let arrival = fetching[target], arrival.urgency == .background, arrival.fetch.outcome == nil else {
            return
        }
        // If it cannot be raised, it goes on as it was.
        guard let fetch = try? library.fetch(need.resource, in: need.folder, of: asset, urgency: .playback) else {
            return
        }
        guard fetch === arrival.fetch, fetching[target]?.fetch === fetch else { return fetch.release(.playback) }
        fetching[target]?.urgency = .playback
        fetch.release(.background)
    }

    private func finish(_ fetch: Fetch, of target: Target, with result: Result<Void, FetchError>, began: Int64) {
        guard let arrival = fetching[target], arrival.fetch === fetch else { return }
        fetching[target] = nil
        settled += max(0, fetch.written - began)
        fetch.release(arrival.urgency)
        if let failure = fetch.keepFailure {
            return end(.storeFailed(failure))
        }
        switch fetch.contentError.map({ .failure($0) }) ?? result {
        case .success where fetch.isPiece:
            failures[target] = nil
            observer?.work(for: download, received: fetch.written - began)
        // The fetch had begun before the recording needed its piece stored.
        case .success: fail(target, LibraryError(.store, "\(target.name) was not kept"))
        case .failure(let error): fail(target, LibraryError(error))
        }
        update()
    }

    private func fail(_ target: Target, _ error: LibraryError) {
        failures[target] = Failure(since: failures[target]?.since ?? .now, error: error)
    }

    private func retry(_ track: RecordingTrack) {
        for item in track.recording.items.prefix(2 * parallel)
        where item.needed.contains(where: { failures[Target($0)] != nil }) {
            fetch(item)
        }
    }

    /// Gives up pieces that cannot be fetched any more, so that later segments can be listed.
    private func giveUpLost(of track: RecordingTrack) {
        for item in track.recording.items.prefix(2 * parallel) {
            let failed = item.needed.compactMap { failures[Target($0)] }.min { $0.since < $1.since }
            guard let failed, let limit = track.limit(for: item, failed.error), .now - failed.since >= limit else {
                continue
            }
            for need in item.needed where need.folder === track.rendition.folder {
                failures[Target(need)] = nil
            }
            track.recording.giveUp(item, because: "\(failed.error)")
        }
    }
}
