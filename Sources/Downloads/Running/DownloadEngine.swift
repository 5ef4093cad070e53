import Assets
import EventLoop
import Fetching
import HLS
import HTTPMessage
import Origin
import Store

/// Fetches a download's holes.
///
/// `DownloadRound` has the holes, `DownloadRequests` says how many are fetched at once, `DownloadFaults` when to stop. This class owns
/// the fetches.
@LoopActor final class DownloadEngine: DownloadWork {
    private let download: Download
    private let library: Library
    private let most: Int
    private let requests = DownloadRequests(at: .now)
    private var round = DownloadRound()
    private var faults = DownloadFaults()
    /// Pieces that were stored since the start, and bytes of fetches that are not in `fetching` any more.
    private var filledCount: Int = 0
    private var settled: Int64 = 0
    /// The origin of the latest request.
    private var lastOrigin: WebURL.Origin?
    private weak var observer: (any DownloadWorkObserver)?
    /// The renditions of the plan's tracks. One that is in several selections is here several times.
    private var renditions: [Rendition] = []
    /// The plan refers to these keys and initialization sections by index.
    private var preliminaries: [[(folder: PieceFolder, resource: Resource)]] = []
    /// The running fetches, each with its hole.
    private var fetching: [ObjectIdentifier: Piece] = [:]
    /// The fetches that have all bytes, which are being written to the disk. `settled` includes their bytes.
    private var storing: [ObjectIdentifier: Piece] = [:]
    private let keyTrial: KeyTrial
    /// True once all keys were tried that are to be tried, and while they are.
    private var hasTriedKeys = false
    private var isTryingKeys = false
    private var isFilling = false
    /// The number of the latest plan that is being made on a worker; nil while none is.
    private var planning: Int?
    private var lastPlanning = 0
    /// The renditions of which a worker finds out if they are complete.
    private var measuring = 0
    /// True once that is known for the end.
    private var isEndMeasured = false
    private var isOver = false

    @LoopActor private final class Piece {
        let fetch: Fetch
        let item: Plan.Hole.Item
        let track: Int
        let isKey: Bool
        /// True if nothing of the selected variant plays without it, and another variant may replace that.
        let isNeededByAll: Bool
        let request: Int
        /// True for a file of cues: the rest of the subtitles can do without it.
        let isCueFile: Bool
        /// End of the hole, in seconds of media time.
        let end: Double
        /// Number of bytes that were stored before.
        let began: Int64
        let asked = ContinuousClock.now
        /// The time from the request to the first byte; nil before that, where several requests were under way, and if `isJoined`.
        var wait: Duration?
        /// True if the fetch was under way before, so that its next byte says nothing about the origin.
        let isJoined: Bool
        /// True if its rest takes no longer than another request needs for its first byte.
        var isEnding = false
        var subscription: Int?
        /// Bytes that have arrived since from the origin.
        var received: Int64 {
            if fetch.isCopy {
                return 0
            }
            return max(0, fetch.written - began)
        }

        init(
            _ fetch: Fetch, of hole: Plan.Hole, in batch: Plan.Batch, isKey: Bool, isNeededByAll: Bool, request: Int,
            isCueFile: Bool
        ) {
            self.fetch = fetch
            self.isKey = isKey
            self.isNeededByAll = isNeededByAll
            self.request = request
            self.isCueFile = isCueFile
            item = hole.item
            track = batch.track
            end = hole.time.upperBound
            began = fetch.written
            isJoined = fetch.approach == .joined
        }
    }

    init(_ download: Download, library: Library, parallel: Int, observer: any DownloadWorkObserver) {
        self.download = download
        self.library = library
        most = parallel
        self.observer = observer
        keyTrial = KeyTrial(download.asset)
    }

    // MARK: DownloadWork

    func start(at playhead: Double) {
        round.move(to: playhead)
        requests.restart(at: .now)
        download.asset.keys.folder.reread()
        for rendition in download.renditions {
            rendition.folder.reread()
        }
        replan { _ in self.fill() }
    }

    var received: Int64 {
        var sum = settled
        for piece in fetching.values {
            sum += piece.received
        }
        return sum
    }

    var unfinished: Int64 { (Array(fetching.values) + storing.values).reduce(0) { $0 + $1.fetch.written } }
    private var isIdle: Bool { fetching.isEmpty && storing.isEmpty }

    func tick() {
        guard !isOver, !isIdle else { return }
        measure()
        fill()
    }

    /// Fetches stop, and keep their bytes; see `AbandonedTransfer`.
    func cancel() {
        isOver = true
        let pieces = Array(fetching.values) + storing.values
        // A piece that has arrived is stored all the same.
        for piece in storing.values {
            observer?.work(for: download, received: piece.received)
        }
        settled = received
        fetching = [:]
        storing = [:]
        requests.removeAll()
        for piece in pieces {
            release(piece)
        }
    }

    /// Plans fetches again that the playhead has passed and that still wait for their turn; after a jump, all without a
    /// byte.
    func move(to playhead: Double, isJump: Bool) {
        guard !isOver else { return }
        round.move(to: playhead)
        let passed = fetching.filter { _, piece in
            isJump ? piece.fetch.written == 0 : !piece.fetch.isAsked && 0 < piece.end && piece.end <= playhead
        }
        guard isJump || !passed.isEmpty else { return }
        drop(passed)
        replan { _ in self.fill() }
    }

    /// Releases fetches whose holes another plan has.
    private func drop(_ pieces: [ObjectIdentifier: Piece]) {
        for (id, piece) in pieces {
            fetching[id] = nil
            settled += piece.received
            requests.endFetch(of: piece.request)
            // Later it begins behind these bytes.
            if piece.received > 0 {
                observer?.work(for: download, received: piece.received)
            }
            release(piece)
        }
    }

    private func release(_ piece: Piece) {
        if let subscription = piece.subscription {
            piece.fetch.unsubscribe(subscription)
        }
        piece.fetch.release()
    }

    // MARK: Width

    /// The fetches whose requests end soon.
    /// - Parameter most: see `mostRequests`.
    private func endingCount(atMost most: Int) -> Int {
        guard requests.asksEarly(atMost: most) else { return 0 }
        var count = 0
        for piece in fetching.values where piece.isEnding {
            count += 1
        }
        return count
    }
    /// The most requests at once. A host that answers by HTTP/2 takes more.
    private var mostRequests: Int {
        var most = most
        if let lastOrigin, let streams = library.client.streams(at: lastOrigin) {
            most = streams
        }
        return min(most, download.banWidth ?? most)
    }

    /// True if another request may begin.
    private var mayBegin: Bool {
        let most = mostRequests
        return requests.mayBegin(atMost: most, ending: endingCount(atMost: most))
    }

    private func measure() {
        // Beside players, the client decides.
        var most: Int?
        if library.client.backgroundAllowance == .full {
            most = mostRequests
        }
        if requests.measure(bytes: received, pieces: filledCount, most: most, now: .now) {
            narrow()
        }
    }

    /// Stops the latest requests beyond the width. Those without a byte go on: they take little, and would be sent twice.
    private func narrow() {
        let most = mostRequests
        let surplus = requests.surplus(atMost: most, ending: endingCount(atMost: most))
        let late = fetching.values.filter { surplus.contains($0.request) && $0.fetch.written > 0 }
        let begun = Set(late.map(\.request))
        guard !begun.isEmpty else { return }
        drop(fetching.filter { begun.contains($0.value.request) })
        replan { _ in self.fill() }
    }

    // MARK: Rounds

    /// Makes the plan anew, and then calls `next`, with true if fewer holes are left than at the start of the last round: at once, but
    /// for long playlists, which take a worker. Of several the latest counts.
    private func replan(then next: @escaping @LoopActor (_ isShorter: Bool) -> Void) {
        guard download.isLong else { return next(adopt(download.tracks)) }
        lastPlanning += 1
        let number = lastPlanning
        planning = number
        Task { @LoopActor in
            await download.measureCompleteness()
            let tracks = await download.scannedTracks()
            guard planning == number, !isOver else { return }
            planning = nil
            next(adopt(tracks))
        }
    }

    /// Returns true if fewer holes are left than at the start of the last round.
    private func adopt(_ tracks: [(rendition: Rendition, holes: Plan.Track)]) -> Bool {
        isEndMeasured = false
        renditions = tracks.map(\.rendition)
        preliminaries = renditions.map(\.preliminaries)
        let isShorter = round.begin(tracks.map(\.holes))
        reportSelections()
        return isShorter
    }

    private func fill() {
        // A fetch that ends at once calls back synchronously.
        guard !isFilling, planning == nil else { return }
        isFilling = true
        while !isOver, faults.stopReason == nil, mayBegin, let batch = round.next(isIdle: isIdle) {
            fetch(batch)
        }
        isFilling = false
        guard isIdle, measuring == 0, !isOver else { return }
        finish()
    }

    private func finish() {
        if let outcome = faults.outcome {
            return end(outcome)
        }
        guard isEndMeasured || !download.isLong else {
            isEndMeasured = true
            return measureCompleteness {}
        }
        guard download.isComplete else {
            // A piece was lost meanwhile, or another owner cancelled its fetch. The folders show what is missing.
            return replan { self.goOn($0) }
        }
        guard hasTriedKeys else { return tryKeys() }
        end(.complete)
    }

    /// Fetches what a new plan has, if that is less than the former one had.
    private func goOn(_ isShorter: Bool) {
        let interruption = faults.takeInterruption()
        guard isShorter else {
            return end(.failed(interruption ?? LibraryError(.store, "pieces are lost as soon as they come")))
        }
        fill()
    }

    /// Finds out on a worker which long renditions are complete, calls `body`, and goes on.
    private func measureCompleteness(then body: @escaping @LoopActor () -> Void) {
        measuring += 1
        Task { @LoopActor in
            await download.measureCompleteness()
            measuring -= 1
            guard !isOver else { return }
            body()
            fill()
        }
    }

    /// Tries the keys on all that is stored, also on what came earlier or by a player.
    private func tryKeys() {
        guard !isTryingKeys else { return }
        isTryingKeys = true
        Task { @LoopActor in
            let unfit = await keyTrial.run(on: download.renditions)
            isTryingKeys = false
            hasTriedKeys = true
            guard !isOver else { return }
            if let key = unfit.first {
                return end(.failed(keyTrial.error(about: key), isKey: true))
            }
            fill()
        }
    }

    /// Tries the key of a segment that was just stored, so that a download of hours does not fail at its end.
    private func tryKey(of item: Plan.Hole.Item, in rendition: Rendition) {
        guard case .segment(let index) = item, let segments = rendition.source?.playlist.segments,
            segments.indices.contains(index), let sample = keyTrial.sample(of: segments[index], in: rendition)
        else { return }
        Task { @LoopActor in
            await keyTrial.run(sample)
            guard !isOver, faults.stopReason == nil, keyTrial.isUnfit(sample.key) else { return }
            faults.stop(.failed(keyTrial.error(about: sample.key), isKey: true))
            fill()
        }
    }

    private func end(_ outcome: DownloadOutcome) {
        guard !isOver else { return }
        isOver = true
        download.lost = faults.lost
        observer?.work(for: download, ended: outcome)
    }

    // MARK: Pieces

    private func fetch(_ batch: Plan.Batch) {
        let rendition = renditions[batch.track]
        var wanted: [(folder: PieceFolder, resource: Resource)] = []
        var holes: [Plan.Hole] = []
        for hole in batch.holes {
            guard let found = resource(of: hole, in: batch.track) else {
                let sentence = "a segment of \(rendition.name.id) has no usable URL"
                faults.record(LibraryError(.notPlaylist, sentence), isKey: false)
                continue
            }
            if found.folder.contains(found.resource.name.description) {
                round.recordFilled(in: batch.track)
            } else {
                wanted.append(found)
                holes.append(hole)
            }
        }
        guard let (folder, resource) = wanted.first else { return }
        lastOrigin = resource.url.origin
        do {
            let fetches = try library.fetches(wanted.map(\.resource), in: folder, of: download.asset)
            var isSmall = false
            if case .preliminary? = batch.holes.first?.item {
                isSmall = true
            }
            let request = requests.begin(isSmall: isSmall)
            let isKey = folder !== rendition.folder
            let isNeededByAll = isNeededByAll(batch, isKey)
            for (fetch, hole) in zip(fetches, holes) {
                // A new plan also lists the holes of running fetches.
                guard case let id = ObjectIdentifier(fetch), fetching[id] == nil, storing[id] == nil else {
                    fetch.release()
                    continue
                }
                requests.addFetch(to: request)
                follow(
                    Piece(
                        fetch, of: hole, in: batch, isKey: isKey, isNeededByAll: isNeededByAll, request: request,
                        isCueFile: isCueFile(hole, of: rendition)))
            }
        } catch {
            faults.stop(.failed(error))
        }
    }

    private func resource(of hole: Plan.Hole, in track: Int) -> (folder: PieceFolder, resource: Resource)? {
        switch hole.item {
        case .preliminary(let index):
            return preliminaries[track].indices.contains(index) ? preliminaries[track][index] : nil
        case .segment(let index):
            let rendition = renditions[track]
            guard let segments = rendition.source?.playlist.segments, segments.indices.contains(index) else {
                return nil
            }
            return rendition.resource(of: segments[index]).map { (rendition.folder, $0) }
        }
    }

    private func isCueFile(_ hole: Plan.Hole, of rendition: Rendition) -> Bool {
        guard case .segment(let index) = hole.item, let segments = rendition.source?.playlist.segments else {
            return false
        }
        return segments.indices.contains(index) && rendition.isCueFile(segments[index])
    }

    private func isNeededByAll(_ batch: Plan.Batch, _ isKey: Bool) -> Bool {
        guard case .preliminary? = batch.holes.first?.item, batch.track == 0,
            download.asset.multivariant?.variants.count ?? 1 > 1, let playlist = renditions[0].source?.playlist
        else { return false }
        return isKey
            ? playlist.keys.count == 1 && !playlist.segments.contains { $0.keys.isEmpty } : playlist.maps.count == 1
    }

    private func follow(_ piece: Piece) {
        let fetch = piece.fetch
        fetching[ObjectIdentifier(fetch)] = piece
        piece.subscription = fetch.subscribe { [weak self, weak piece] in
            if let piece {
                self?.grew(piece)
            }
        }
        fetch.whenArrived { [weak self] in self?.arrived(fetch) }
        fetch.whenEnded { [weak self] result in self?.ended(fetch, result) }
    }

    private func grew(_ piece: Piece) {
        let fetch = piece.fetch
        // Bytes are announced to those who send them, and again once they are counted.
        guard fetch.fresh == nil, !piece.isEnding, fetching[ObjectIdentifier(fetch)] === piece,
            requests.asksEarly(atMost: mostRequests)
        else { return }
        if requests.measuresLatency, piece.wait == nil, !piece.isJoined, !fetch.isCopy {
            let time = ContinuousClock.now - piece.asked
            piece.wait = time
            requests.recordFirstByte(after: time)
        }
        guard let length = fetch.length, let rate = fetch.rate,
            requests.isEnding(piece.request, missing: length - fetch.written, rate: rate)
        else { return }
        piece.isEnding = true
        fill()
    }

    private func arrived(_ fetch: Fetch) {
        guard let piece = fetching.removeValue(forKey: ObjectIdentifier(fetch)) else { return }
        requests.recordEnd(
            of: piece.request, after: piece.wait, of: ContinuousClock.now - piece.asked, bytes: piece.received)
        storing[ObjectIdentifier(fetch)] = piece
        settled += piece.received
        requests.endFetch(of: piece.request)
        fill()
    }

    private func ended(_ fetch: Fetch, _ result: Result<Void, FetchError>) {
        let id = ObjectIdentifier(fetch)
        let piece: Piece
        if let stored = storing.removeValue(forKey: id) {
            piece = stored
        } else if let running = fetching.removeValue(forKey: id) {
            piece = running
            settled += piece.received
            requests.endFetch(of: piece.request)
        } else {
            return
        }
        release(piece)
        switch fetch.contentError.map({ .failure($0) }) ?? result {
        case .success:
            if let failure = fetch.keepFailure {
                faults.stop(.storeFailed(failure))
            } else {
                filled(piece)
            }
        case .failure(let error) where error.code == .cancelled: faults.recordInterruption(LibraryError(error))
        case .failure(let error) where mayBeBan(error, piece): recordRefusal(LibraryError(error), of: piece)
        case .failure(let error): record(LibraryError(error), of: piece)
        }
        measure()
        fill()
    }

    /// True if the host has refused the playlist, too, when it was fetched again.
    private func mayBeBan(_ error: FetchError, _ piece: Piece) -> Bool {
        guard let origin = error.underlying as? OriginError, origin.status == 403, !piece.isKey else { return false }
        return renditions[piece.track].isPlaylistRefused
    }

    /// Ends the work for a while if the host has refused another segment a moment ago. If not, the next segment shows it.
    private func recordRefusal(_ error: LibraryError, of piece: Piece) {
        guard faults.recordRefusal(error, of: piece.fetch.resource.url, at: .now) else { return }
        let width = requests.width(atMost: mostRequests)
        download.banWidth = max(1, min(width, download.banWidth ?? width) / 2)
    }

    private func filled(_ piece: Piece) {
        faults.recordSuccess()
        tryKey(of: piece.item, in: renditions[piece.track])
        filledCount += 1
        let isTrackComplete = round.recordFilled(in: piece.track)
        observer?.work(for: download, received: piece.received)
        guard isTrackComplete else { return }
        let rendition = renditions[piece.track]
        guard rendition.isLong else { return report(rendition) }
        measureCompleteness { self.report(rendition) }
    }

    private func report(_ rendition: Rendition) {
        if download.isComplete(rendition) {
            observer?.work(for: download, completed: rendition)
        }
        reportSelections()
    }

    /// Reports the selections that are complete; one may be, because others have its renditions.
    private func reportSelections() {
        let open = round.openSelections
        for (index, item) in download.task.items.enumerated() where !open.contains(index) {
            if download.isComplete(item) {
                observer?.work(for: download, completed: item)
            }
        }
    }

    private func record(_ error: LibraryError, of piece: Piece) {
        if piece.isCueFile, error.concernsOnePiece, case .segment(let number) = piece.fetch.resource.name.role {
            return faults.record(error, lostCues: number, of: renditions[piece.track].name.id)
        }
        faults.record(error, isKey: piece.isKey, isNeededByAll: piece.isNeededByAll)
    }
}
