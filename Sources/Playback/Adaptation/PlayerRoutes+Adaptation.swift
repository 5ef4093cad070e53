import Assets
import Fetching
import HTTPMessage
import HTTPServer
import Origin
import Playheads
import Sessions
import Substitution

/// Serves segments to players that cannot adapt: in the quality that Weir chooses, under the URL that the player knows.
extension PlayerRoutes {
    /// Chooses the quality of a segment, if there is a choice, and adds it to the request's facts.
    func chooseQuality(for request: inout SegmentRequest) {
        // A range request continues in the quality in which the body began.
        guard let adapter = request.sessionFolder.served.adapter, !request.isAmid, let segment = request.segment else {
            return
        }
        let all = segment.substitutes.qualities(of: segment.name)
        guard all.count > 1 else { return }
        var adaptation = request.adaptation ?? SegmentRequest.Adaptation()
        // Of a dead host only what is stored can be used. If the segment's own is one, the lowest of the others takes over.
        let qualities = all.filter { quality in
            if quality.isStored {
                return true
            }
            let isOwn = quality.rendition.name.id == request.sessionFolder.folder.id
            return !library.client.isDead(quality.segment.url) && (isOwn || adaptation.mayFetch)
        }
        guard !qualities.isEmpty else { return }
        if request.adaptation == nil, case .segment(let number) = segment.name.role {
            adaptation.isJump = adapter.recordRequest(of: number)
        }
        let situation = Adapter.Situation(
            buffer: buffer(of: request.sessionFolder.session), playerTimeout: playerTimeout(of: adapter, adaptation),
            mayAsk: adaptation.mayFetch && !library.isOffline && library.readOnlyReason == nil,
            ceiling: adaptation.abandoned, isJump: adaptation.isJump, own: request.sessionFolder.folder.id)
        guard let quality = adapter.choose(from: qualities, situation) else { return }
        let chosen = quality.rendition.name.id
        let isOwn = chosen == request.sessionFolder.folder.id
        guard !isOwn else {
            adaptation.choice = nil
            request.adaptation = adaptation
            return adapter.use(chosen)
        }
        adaptation.choice = (quality, qualities[0])
        request.adaptation = adaptation
        request.facts.quality = SegmentFacts.Quality(rendition: chosen, isStored: quality.isStored)
    }

    private func playerTimeout(of adapter: Adapter, _ adaptation: SegmentRequest.Adaptation) -> Double {
        max(0, ((adapter.playerTimeout ?? playerTimeout) - (ContinuousClock.now - adaptation.since)).inSeconds)
    }

    /// Fetches a segment in the chosen quality, and answers once it is stored. Returns false if no fetch can start.
    func fetchChosenQuality(_ request: SegmentRequest) -> Bool {
        guard let adapter = request.sessionFolder.served.adapter, let adaptation = request.adaptation,
            let (quality, lowest) = adaptation.choice, request.sessionFolder.splicing != nil
        else { return false }
        guard let (fetches, segment) = fetches(for: quality, of: request.sessionFolder.asset) else {
            adapter.recordFailure(quality.rendition.name.id)
            return false
        }
        for fetch in fetches {
            adapter.link.follow(fetch)
        }
        let (awaited, adaptiveFetch) = beginWait(for: segment, among: fetches, toAnswer: request)
        adaptiveFetch.follow { [weak self] progress in
            guard let self else { return true }
            adapter.link.sample()
            return isHopeless(progress, of: quality, instead: lowest, for: request, by: adapter)
        } ended: { [weak self] end in
            guard let self, request.exchange.isOpen else { return }
            if isAnswered(request, with: segment, of: quality, endingWith: end, by: adapter) {
                return
            }
            awaited.end(nil)
            serveAgain(request, after: quality, endingWith: end)
        }
        beginReply(to: request, awaited)
        return true
    }

    /// Sends the head before the quality is settled, unless the request is answered already. libavformat opens a segment before it
    /// reads the one before it, and waits for the head meanwhile: the picture after a seek would wait for a segment that comes later.
    func beginReply(to request: SegmentRequest, _ awaited: AwaitedReply) {
        guard request.sessionFolder.served.adapter != nil, KnownPlayer(request.exchange.head).isLibavformat,
            request.isForWhole
        else { return }
        var head = ResponseHead(.ok)
        head.append(shelf.type(of: request.file))
        head.append(.cacheControl, literal: "no-store")
        head.append(CacheStatus.forwarded(.uriMiss, isStored: true))
        request.exchange.begin(head)
        awaited.recordHead(of: request.exchange)
    }

    /// Ties the fetches of another rendition's segment to the request that it will answer: they are released when the player has its
    /// reply, or leaves.
    func beginWait(
        for segment: Fetch, among fetches: [Fetch], toAnswer request: SegmentRequest
    ) -> (reply: AwaitedReply, fetch: AdaptiveFetch) {
        request.awaits(segment)
        // The player may request the next segment before this one is sent.
        request.sessionFolder.splicing?.advance(to: .spliced)
        let reply = AwaitedReply(segment, for: request)
        let fetch = AdaptiveFetch(fetches)
        request.exchange.whenEnded { end in
            fetch.release()
            reply.end(end)
        }
        return (reply, fetch)
    }

    /// Starts the fetches for a segment and its initialization section, retained. nil if there is no room for them.
    func fetches(for quality: Quality, of asset: Asset) -> (all: [Fetch], segment: Fetch)? {
        var fetches: [Fetch] = []
        for resource in [quality.section, quality.segment] {
            guard let resource else { continue }
            do throws(LibraryError) {
                fetches.append(
                    try library.fetch(
                        resource, in: quality.rendition.folder, of: asset, urgency: .playback,
                        fallback: .untilComplete))
            } catch {
                for fetch in fetches {
                    fetch.release(.playback)
                }
                return nil
            }
        }
        return fetches.last.map { (fetches, $0) }
    }

    /// Answers with the fetched segment. Returns false if the fetch failed or was abandoned.
    private func isAnswered(
        _ request: SegmentRequest, with segment: Fetch, of quality: Quality, endingWith end: AdaptiveFetch.End,
        by adapter: Adapter
    ) -> Bool {
        let chosen = quality.rendition.name.id
        switch end {
        case .arrived:
            let file = segment.resource.name.description
            if library.revisions.isSuspect(file, in: quality.rendition.folder, of: request.sessionFolder.asset) {
                serveOnceSettled(request)
                return true
            }
            if sendSubstitute(of: chosen, request, broughtBy: segment) {
                return true
            }
        case .failed(let error):
            let uri = quality.segment.url.replacingQuery(nil).redacted
            let subject = RequestSubject(
                session: request.sessionFolder.session.id, asset: request.sessionFolder.asset, uri: uri)
            sessions.recordFailure(FailedRequest(error, status: 200, about: subject))
        case .hopeless: return false
        }
        adapter.recordFailure(chosen)
        return false
    }

    /// Chooses again after a failed attempt. If a fetch was too slow, a lower quality may arrive in time. If it failed,
    /// only a stored quality or the segment's own is used.
    private func serveAgain(_ request: SegmentRequest, after quality: Quality, endingWith end: AdaptiveFetch.End) {
        var next = request.afresh
        if case .hopeless = end {
            next.adaptation?.abandoned = quality.rendition.name.id
        } else {
            next.adaptation?.mayFetch = false
        }
        chooseQuality(for: &next)
        serve(next)
    }

    /// True if a running fetch must be abandoned: not in the first half of its duration, as new connections are slow.
    private func isHopeless(
        _ progress: AdaptiveFetch.Progress, of quality: Quality, instead lowest: Quality, for request: SegmentRequest,
        by adapter: Adapter
    ) -> Bool {
        var playerTimeout = 0.0
        if request.exchange.isBegun {
            // A player that has the head waits for the first byte as long as for any other.
            playerTimeout = .infinity
        } else if let adaptation = request.adaptation {
            playerTimeout = self.playerTimeout(of: adapter, adaptation)
        }
        if progress.allBytes == 0, playerTimeout <= 0 {
            return true
        }
        guard progress.elapsed >= quality.duration / 2 else { return false }
        let throughput = Double(max(1, progress.bytes)) / progress.elapsed
        // A stored segment needs no transfer.
        let substituteBytes = lowest.isStored ? 0 : lowest.bytes
        return AdaptationRule.isHopeless(
            remaining: progress.remaining ?? max(0, quality.bytes - progress.allBytes),
            instead: substituteBytes,
            buffer: min(buffer(of: request.sessionFolder.session), playerTimeout),
            // After a slowdown the link's average is too high; on a shared link, this fetch's own rate is too low.
            throughput: min(throughput, adapter.link.recentRate ?? throughput))
    }
}
