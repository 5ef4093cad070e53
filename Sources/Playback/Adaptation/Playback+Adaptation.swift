import EventLoop
import Fetching
import HTTPMessage
import HTTPServer
import Library
import Playheads
import Substitution

/// Serves segments to players that cannot adapt: in the quality that Weir chooses, under the URL that the player knows.
extension Playback {
    /// State of the earlier attempts for one request.
    struct Attempts {
        /// Start of the first attempt.
        let since = ContinuousClock.now
        /// The rendition that was abandoned because it would have arrived too late; nil if none was.
        var givenUp: String?
        /// True if qualities that are not stored may be chosen.
        var mayFetch = true
    }

    /// Answers for a segment in another quality than its own, now or later. Returns false if its own quality is chosen,
    /// or if there is no choice.
    func adapted(
        _ exchange: Exchange, _ place: RequestedFolder, _ file: String, _ tells: Bool, after earlier: Attempts? = nil
    ) -> Bool {
        // A range request continues in the quality in which the body began.
        guard let adapter = place.record.adapter, !exchange.isAmid, let slot = slot(place, file) else { return false }
        let qualities = slot.substitutes.qualities(of: slot.name)
        guard qualities.count > 1 else { return false }
        let attempts = earlier ?? Attempts()
        let situation = Adapter.Situation(
            buffer: buffer(of: place.session), playerTimeout: playerTimeout(of: adapter, after: attempts),
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

    /// Media ahead of a session's playhead, in seconds.
    func buffer(of session: Session) -> Double {
        library.playheads.catchUp()
        guard let reading = library.playheads.reading(of: session.id), let front = reading.front else { return 0 }
        return max(0, front - reading.position)
    }

    /// Time that the player will still wait, in seconds.
    private func playerTimeout(of adapter: Adapter, after attempts: Attempts) -> Double {
        max(0, ((adapter.playerTimeout ?? playerTimeout) - (ContinuousClock.now - attempts.since)).inSeconds)
    }

    /// Fetches a segment in another quality, and answers with it once it is stored. Returns false if the fetch cannot
    /// start.
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
        // The player may request the next segment before this one is sent.
        slot.composition.advance(to: .joined)
        let arrived = place.record.awaits(slot.file, in: place.folder, segment, isAwaited: cursor != nil)
        cursor?.awaits(slot.file)
        let adaptiveFetch = AdaptiveFetch(fetches)
        exchange.onEnd = { end in
            adaptiveFetch.release()
            cursor?.received(slot.file, bytes: end.bodyBytes, isComplete: end.isWhole)
            arrived(end)
        }
        adaptiveFetch.follow { [weak self] progress in
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

    /// Starts the fetches for a segment and its initialization section, retained. nil if there is no room for them.
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

    /// Answers with the fetched segment. Returns false if the fetch failed or was abandoned.
    private func settled(
        _ end: AdaptiveFetch.End, _ quality: Quality, _ segment: Fetch, _ exchange: Exchange, _ slot: Slot,
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

    /// True if a running fetch must be abandoned. It gets at least half of the segment's duration, because a new
    /// connection is slow at first.
    private func isHopeless(
        _ progress: AdaptiveFetch.Progress, _ quality: Quality, instead own: Quality, _ session: Session,
        _ adapter: Adapter,
        _ attempts: Attempts
    ) -> Bool {
        let playerTimeout = playerTimeout(of: adapter, after: attempts)
        if progress.bytes == 0, playerTimeout <= 0 { return true }
        guard progress.elapsed >= quality.duration / 2 else { return false }
        let throughput = Double(max(1, progress.bytes)) / progress.elapsed
        return AdaptationRule.isHopeless(
            remaining: progress.remaining ?? max(0, quality.bytes - progress.bytes),
            instead: own.isStored ? 0 : own.bytes, buffer: min(buffer(of: session), playerTimeout),
            // If the link slowed down meanwhile, its average is too high. On a shared link, this fetch's own rate is
            // too low.
            throughput: min(throughput, adapter.link.rateOfLate ?? throughput))
    }
}

extension Playback.Attempts {
    /// Returns the state after one more failed attempt. If a fetch was too slow, a lower quality may arrive in time. If
    /// it failed, only a stored quality or the segment's own is used.
    @LoopActor fileprivate func next(_ quality: Quality, _ end: AdaptiveFetch.End) -> Self {
        var next = self
        if case .hopeless = end { next.givenUp = quality.rendition.name.id } else { next.mayFetch = false }
        return next
    }
}
