import Assets
import EventLoop
import Fetching
import HLS
import HTTPServer
import Origin
import Substitution

/// Fetches segments of other renditions instead of those that only dead hosts have.
extension PlayerRoutes {
    /// Marks the segments, by index, instead of which another rendition's can be fetched. Where nothing stored shows if they can,
    /// a segment of each is fetched first: these are among the next that the player needs.
    /// - Parameter dead: true for each segment that is sought; those that are found become false.
    func coverByStandIns(_ dead: inout [Bool], of rendition: Rendition, in asset: Asset) async {
        guard asset.renditions.count > 1 else { return }
        let sought = dead
        let preparation = Task { @LoopActor in await prepareStandIns(for: sought, of: rendition, in: asset) }
        // A player waits for the playlist.
        guard let lost = await preparation.value(within: GiveUpRule.originSilence) else { return }
        var slice = LoopSlice()
        await substitutions.substitutes(of: rendition, in: asset)?
            .coverFetchable(&dead, isReachable: lost.isReachable, &slice)
    }

    /// The segments of other renditions that are lost, too.
    private struct LostSegments {
        var known: [ObjectIdentifier: [Bool]] = [:]

        func isReachable(_ rendition: Rendition, _ segment: Segment) -> Bool {
            guard let lost = known[ObjectIdentifier(rendition)] else { return true }
            return !lost.indices.contains(segment.index) || !lost[segment.index]
        }
    }

    private func prepareStandIns(for dead: [Bool], of rendition: Rendition, in asset: Asset) async -> LostSegments {
        await substitutions.loadNeighbours(of: rendition, in: asset, library)
        var lost = LostSegments()
        for other in asset.renditions where other !== rendition {
            lost.known[ObjectIdentifier(other)] = await library.deadSegments(of: other, in: asset)
        }
        for _ in 0..<Self.mostTrials {
            guard let substitutes = substitutions.substitutes(of: rendition, in: asset) else { break }
            var left = dead
            var slice = LoopSlice()
            await substitutes.coverFetchable(&left, isReachable: lost.isReachable, &slice)
            guard let trial = substitutes.trial(for: left, isReachable: lost.isReachable) else { break }
            await fetch(trial, of: asset)
        }
        return lost
    }

    private static let mostTrials = 2

    /// Returns once the pieces are stored, or cannot be.
    private func fetch(_ trial: SegmentSubstitutes.Trial, of asset: Asset) async {
        if trial.pieces.contains(where: { library.revisions.mustCheck(beforeFetching: $0.resource.name, into: asset) })
        {
            await library.revisions.checkBeforeFetching(into: asset)
        }
        var fetches: [Fetch] = []
        // Another request may have brought one meanwhile.
        for (folder, resource) in trial.pieces where !folder.contains(resource.name.description) {
            let fetch = try? library.fetch(
                resource, in: folder, of: asset, urgency: .playback, fallback: .untilComplete)
            if let fetch {
                fetches.append(fetch)
            }
        }
        for fetch in fetches {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                fetch.whenEnded { _ in continuation.resume() }
            }
            fetch.release(.playback)
        }
    }

    /// Finds another rendition's segment to fetch instead of one whose host is dead; nil if there is none.
    func standIn(for request: SegmentRequest) -> Quality? {
        guard let url = request.resource?.url, library.client.isDead(url), let segment = request.segment else {
            return nil
        }
        // Keeps the host being probed, so that its return is noticed.
        _ = library.client.isPresumedAbsent(url)
        return segment.substitutes.standIns(for: segment.name).first { quality in
            quality.isStored || !library.client.isDead(quality.segment.url)
        }
    }

    /// Answers a request whose fetch has failed. Sound that the origin does not have may be had from another group of the same
    /// language: a hole in the sound ends playback in most players.
    func serve(failed request: SegmentRequest) {
        guard request.standIn == nil, isMissingSound(request) else { return serve(request) }
        Task { @LoopActor in
            var next = request
            next.standIn = await soundInstead(of: request)
            next.facts.missing?.hasStandIn = next.standIn != nil
            if request.exchange.isOpen {
                serve(next)
            }
        }
    }

    /// True for a segment of sound apart from pictures, if the origin says that it has none, and nothing stored can stand in.
    private func isMissingSound(_ request: SegmentRequest) -> Bool {
        guard let status = request.error?.originStatus, [404, 410].contains(status), request.facts.quality == nil,
            let missing = request.facts.missing, !missing.hasSubstitute,
            let rendition = request.sessionFolder.rendition, !rendition.isLive
        else { return false }
        let media = request.sessionFolder.asset.multivariant?.media ?? []
        return media.contains { $0.type == .audio && $0.renditionIndex == rendition.index }
    }

    private func soundInstead(of request: SegmentRequest) async -> Quality? {
        let asset = request.sessionFolder.asset
        guard let name = request.name, case .segment(let number) = name.role,
            let rendition = request.sessionFolder.rendition, let source = rendition.source,
            let segment = source.segment(number)
        else { return nil }
        var sought = [Bool](repeating: false, count: source.playlist.segments.count)
        sought[segment.index] = true
        await coverByStandIns(&sought, of: rendition, in: asset)
        guard !sought[segment.index], let substitutes = request.segment?.substitutes else { return nil }
        return substitutes.standIns(for: name).first { $0.isStored || !library.client.isDead($0.segment.url) }
    }

    /// Fetches another rendition's segment, and answers with it once it is stored. Returns false if no fetch can start.
    func fetchStandIn(_ request: SegmentRequest) -> Bool {
        let sessionFolder = request.sessionFolder
        guard let quality = request.standIn, sessionFolder.splicing != nil,
            let (fetches, segment) = fetches(for: quality, of: sessionFolder.asset)
        else { return false }
        let (awaited, standIn) = beginWait(for: segment, among: fetches, toAnswer: request)
        standIn.follow(isHopeless: { _ in false }) { [weak self] end in
            guard let self, request.exchange.isOpen else { return }
            if isAnswered(request, with: segment, of: quality, endingWith: end) {
                return
            }
            awaited.end(nil)
            var next = request
            next.facts.missing?.hasStandIn = false
            serve(next)
        }
        return true
    }

    /// Answers with the fetched segment. Returns false if it cannot stand in.
    private func isAnswered(
        _ request: SegmentRequest, with segment: Fetch, of quality: Quality, endingWith end: AdaptiveFetch.End
    ) -> Bool {
        guard case .arrived = end else { return false }
        let file = segment.resource.name.description
        let folder = quality.rendition.folder
        if library.revisions.isSuspect(file, in: folder, of: request.sessionFolder.asset) {
            serveOnceSettled(request)
            return true
        }
        return sendSubstitute(of: quality.rendition.name.id, request, broughtBy: segment)
    }
}
