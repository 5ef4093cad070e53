import EventLoop
import Fetching
import HTTPMessage
import HTTPServer
import Library
import Playheads

/// Answers a request from a fetch that was retained for this reply, and releases it when the reply ends.
///
/// If nothing arrives within `playerTimeout`, a player that has nothing else to play gets a head without a length while
/// the origin is still awaited. For other players, and if the fetch fails, the source is chosen again.
@LoopActor final class FetchReply {
    private let fetch: Fetch
    private var request: SegmentRequest
    private weak var playback: Playback?
    /// True to answer once all bytes are stored, false to answer while they arrive.
    private let isSentComplete: Bool
    private let status: CacheStatus
    private let playerTimeout: Duration
    private var isAnswered = false
    private var deadline: Deadline?
    private var stallWatch: StallWatch?

    init(_ fetch: Fetch, _ request: SegmentRequest, _ playback: Playback, isSentComplete: Bool) {
        (self.fetch, self.request, self.playback) = (fetch, request, playback)
        (self.isSentComplete, playerTimeout) = (isSentComplete, playback.playerTimeout)
        status = CacheStatus.of(fetch)
        self.request.fetchStatus = status
    }

    /// Answers, now or later.
    func start() {
        let (awaited, subject) = (AwaitedReply(fetch, for: request), request.subject)
        request.exchange.whenEnded { [fetch, sessions = playback?.sessions] end in
            fetch.release()
            awaited.end(end)
            if end.cause == .bodyFailed { sessions?.recordFailure(Failure(brokenOff: fetch, about: subject)) }
        }
        deadline = Deadline(after: playerTimeout) { [weak self] in self?.playerTimedOut() }
        // The fetch holds this object until it can be answered.
        if isSentComplete {
            stallWatch = StallWatch(of: fetch) { [weak self] in self?.fetchStalled() }
            fetch.whenEnded { [self] in answer($0) }
        } else {
            fetch.whenAnnounced { [self] in answer($0) }
        }
    }

    private func answer(_ result: Result<Void, FetchError>) {
        deadline?.cancel()
        stallWatch?.cancel()
        switch result {
        case .success where isSentComplete:
            if request.exchange.isOpen, !isAnswered { playback?.send(complete: fetch, request) }
        case .success:
            guard let playback else { return }
            PieceReply.send(fetch, playback.shelf.type(of: request.file), status, to: request.exchange)
        case .failure(let error): fail(LibraryError(error))
        }
    }

    private func playerTimedOut() {
        // Bytes have begun to arrive but cannot be sent before the last one, so the reply keeps waiting.
        if isSentComplete, fetch.written > 0 { return }
        if !isSentComplete, fetch.isWaitingForNetwork { return fetch.announce() }
        let reason = "the origin has sent nothing for \(playerTimeout.components.seconds) seconds"
        fail(LibraryError(.originAbsent, reason))
    }

    /// Sends a substitute if there is one; otherwise keeps waiting.
    private func fetchStalled() {
        guard request.exchange.isOpen, !isAnswered else { return }
        fetch.doubtOrigin()
        var stalled = request
        stalled.recordFailure(LibraryError(.originAbsent, "the origin has gone silent"))
        guard case .substitute(let rendition) = SegmentSource(stalled.facts) else { return }
        isAnswered = playback?.sendSubstitute(of: rendition, stalled) ?? false
    }

    private func fail(_ error: LibraryError) {
        guard request.exchange.isOpen, !isAnswered else { return }
        isAnswered = true
        request.recordFailure(error)
        playback?.answer(request)
    }
}

/// A reply that waits for the origin, as the playhead tracker and the session's record see it.
@LoopActor final class AwaitedReply {
    private let cursor: RenditionCursor?
    private let file: String
    private let wait: SessionRecord.Wait
    private weak var record: SessionRecord?
    private let isOtherQuality: Bool
    private var isOver = false

    /// Begins to wait.
    init(_ fetch: Fetch, for request: SegmentRequest) {
        let place = request.place
        (cursor, file, record) = (request.cursor, request.file, place.record)
        isOtherQuality = request.facts.quality != nil
        wait = place.record.beginWait(for: request.file, in: place.folder, fetch, isAwaited: request.cursor != nil)
        cursor?.beginWait(for: file)
    }

    /// Ends the wait; later calls have no effect.
    ///
    /// - Parameter end: nil if the request is answered in another way.
    func end(_ end: ReplyEnd?) {
        guard !isOver else { return }
        isOver = true
        // The delivery of another quality may begin an event of the log, and the bytes belong to that event.
        if isOtherQuality { endCursorWait(end) }
        record?.end(wait, end)
        if !isOtherQuality { endCursorWait(end) }
    }

    private func endCursorWait(_ end: ReplyEnd?) {
        cursor?.endWait(for: file, bytes: end?.bodyBytes ?? 0, isComplete: end?.isComplete ?? false)
    }
}
