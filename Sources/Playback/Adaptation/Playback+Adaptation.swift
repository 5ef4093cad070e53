import EventLoop
import Fetching
import HTTPMessage
import HTTPServer
import Library
import Playheads

/// Segments of sessions whose player cannot adapt: in the quality that is chosen for it, under the name that it knows.
extension Playback {
    /// What was tried for one request before.
    struct Attempts {
        /// When the first of them began.
        let since = ContinuousClock.now
        /// The rendition that would have come too late; nil for none.
        var givenUp: String?
        /// Whether what is not stored may be chosen.
        var mayFetch = true
    }

    /// Answers for a segment in another quality than its own, now or later; false where its own is chosen, or none is
    /// to be chosen.
    func adapted(
        _ exchange: Exchange, _ place: PiecePlace, _ file: String, _ tells: Bool, after earlier: Attempts? = nil
    ) -> Bool {
        // What was begun in one quality is gone on with in that.
        guard let adapter = place.record.adapter, !exchange.isAmid, let slot = slot(place, file) else { return false }
        let qualities = slot.substitutes.qualities(of: slot.name)
        guard qualities.count > 1 else { return false }
        let attempts = earlier ?? Attempts()
        let situation = Adapter.Situation(
            buffer: buffer(of: place.session), patience: patience(of: adapter, after: attempts),
            mayAsk: attempts.mayFetch && !library.isOffline && library.readOnlyReason == nil,
            ceiling: attempts.givenUp)
        guard let quality = adapter.choose(from: qualities, situation) else { return false }
        let chosen = quality.rendition.name.id
        if chosen == place.folder.id {
            adapter.took(chosen)
            return false
        }
        if !quality.isStored { return pursue(quality, instead: qualities[0], exchange, slot, adapter, attempts) }
        guard substituted(exchange, slot, of: chosen, ended: place.record.stored) else { return false }
        adapter.took(chosen)
        if tells || !place.record.hasStarted { library.playheads.catchUp() }
        return true
    }

    /// The media ahead of a session's playhead, in seconds.
    func buffer(of session: Session) -> Double {
        library.playheads.catchUp()
        guard let reading = library.playheads.reading(of: session.id), let front = reading.front else { return 0 }
        return max(0, front - reading.position)
    }

    /// For how long a player still waits, in seconds.
    private func patience(of adapter: Adapter, after attempts: Attempts) -> Double {
        max(0, ((adapter.patience ?? patience) - (ContinuousClock.now - attempts.since)).inSeconds)
    }

    /// Fetches a segment in another quality, and answers with it once it is there; false where that cannot begin.
    private func pursue(
        _ quality: Quality, instead own: Quality, _ exchange: Exchange, _ slot: Slot, _ adapter: Adapter,
        _ attempts: Attempts
    ) -> Bool {
        let (place, chosen) = (slot.place, quality.rendition.name.id)
        let cursor = exchange.head.method == .get ? place.cursor : nil
        guard let (fetches, segment) = fetches(for: quality, of: place.asset) else {
            adapter.failed(chosen)
            return false
        }
        for fetch in fetches { adapter.link.follow(fetch) }
        // The player may ask for the next one before this is sent.
        slot.composition.advance(to: .joined)
        let arrived = place.record.awaits(slot.file, in: place.folder, segment, isAwaited: cursor != nil)
        cursor?.awaits(slot.file)
        let pursuit = Pursuit(fetches)
        exchange.onEnd = { end in
            pursuit.release()
            cursor?.received(slot.file, bytes: end.bodyBytes, isComplete: end.isWhole)
            arrived(end)
        }
        pursuit.follow { [weak self] progress in
            adapter.link.sample()
            return self?.isHopeless(progress, quality, instead: own, place.session, adapter, attempts) ?? true
        } ended: { [weak self] end in
            guard let self, exchange.isOpen else { return }
            if settled(end, quality, segment, exchange, slot, adapter) { return }
            cursor?.received(slot.file, isComplete: false)
            arrived(nil)
            if adapted(exchange, place, slot.file, false, after: attempts.next(quality, end)) { return }
            self.own(exchange, place, slot.file, false)
        }
        return true
    }

    /// What brings a segment with its initialization section, retained; nil where there is no room for it.
    private func fetches(for quality: Quality, of asset: Asset) -> (all: [Fetch], segment: Fetch)? {
        var fetches: [Fetch] = []
        for resource in [quality.section, quality.segment] {
            guard let resource else { continue }
            do throws(LibraryError) {
                fetches.append(
                    try library.fetch(
                        resource, in: quality.rendition.folder, of: asset, urgency: .playback,
                        fallback: .untilComplete))
            } catch {
                for fetch in fetches { fetch.release() }
                return nil
            }
        }
        return fetches.last.map { (fetches, $0) }
    }

    /// Answers with what was fetched; false where that was in vain.
    private func settled(
        _ end: Pursuit.End, _ quality: Quality, _ segment: Fetch, _ exchange: Exchange, _ slot: Slot,
        _ adapter: Adapter
    ) -> Bool {
        let chosen = quality.rendition.name.id
        switch end {
        case .arrived:
            if substituted(exchange, slot, of: chosen, broughtBy: segment, ended: nil) {
                adapter.took(chosen)
                return true
            }
            adapter.failed(chosen)
        case .failed(let error):
            let url = quality.segment.url.replacingQuery(nil).text
            sessions.failed(Failure(error, status: 200, about: Subject(slot.place.session, slot.place.asset, url)))
            adapter.failed(chosen)
        case .hopeless: break
        }
        return false
    }

    /// Whether a quality is to be given up: no sooner than half the segment's time has passed, since a new connection
    /// tells little in its beginning.
    private func isHopeless(
        _ progress: Pursuit.Progress, _ quality: Quality, instead own: Quality, _ session: Session, _ adapter: Adapter,
        _ attempts: Attempts
    ) -> Bool {
        let patience = patience(of: adapter, after: attempts)
        if progress.bytes == 0, patience <= 0 { return true }
        guard progress.elapsed >= quality.duration / 2 else { return false }
        let throughput = Double(max(1, progress.bytes)) / progress.elapsed
        return AdaptationRule.isHopeless(
            remaining: progress.remaining ?? max(0, quality.bytes - progress.bytes),
            instead: own.isStored ? 0 : own.bytes, buffer: min(buffer(of: session), patience),
            // Of a link that fell meanwhile the whole of it tells too much, of one that all share its own part too little.
            throughput: min(throughput, adapter.link.rateOfLate ?? throughput))
    }
}

extension Playback.Attempts {
    /// With one more that came to nothing: what came too late may come in time in a lower quality; after a failure what
    /// is stored may do, or the segment's own.
    @LoopActor fileprivate func next(_ quality: Quality, _ end: Pursuit.End) -> Self {
        var next = self
        if case .hopeless = end { next.givenUp = quality.rendition.name.id } else { next.mayFetch = false }
        return next
    }
}
