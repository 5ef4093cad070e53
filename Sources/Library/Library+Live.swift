import EventLoop
import HTTPMessage
import Origin
import Playlist

/// Live playlists, asked for as players want them.
extension Library {
    /// The rendition's playlist, as a player asks for it: when the origin understands its directives, they go to it,
    /// and the answer may be a delta update.
    ///
    /// - Throws: `LibraryError` also when the origin holds the answer back beyond three target durations, at which
    ///   servers give up (rfc8216bis §6.2.5.2).
    public func playlist(
        of rendition: Rendition, in asset: Asset, _ directives: DeliveryDirectives
    ) async throws(LibraryError) -> Rendition.Source {
        guard directives != .none else { return try await source(of: rendition, in: asset) }
        let known = if let source = rendition.source { source } else { try await source(of: rendition, in: asset) }
        let directives = directives.understood(by: known.playlist)
        guard directives != .none else { return try await source(of: rendition, in: asset) }
        if directives.skip == nil, directives.areMet(by: known.playlist) { return known }
        if let answer = rendition.relay.answer(to: directives, now: .now) { return answer }
        if let request = rendition.relay.requests[directives] { return try await request.value.get() }
        let request = Task { @LoopActor in await self.relay(directives, rendition, in: asset) }
        rendition.relay.requests[directives] = request
        defer { rendition.relay.requests[directives] = nil }
        return try await request.value.get()
    }

    /// Asks the origin with directives.
    private func relay(
        _ directives: DeliveryDirectives, _ rendition: Rendition, in asset: Asset
    ) async -> Result<Rendition.Source, LibraryError> {
        do throws(LibraryError) {
            let span = rendition.source?.playlist.interval ?? .zero
            let manner = PlaylistFetcher.Manner(
                deadline: span * 3 + Self.grace, retries: .never, isHeldBack: true, ignoresAbsence: true)
            let source = try await fetchSource(of: rendition, in: asset, directives, manner)
            if !source.isDurable { rendition.relay.keep(source, for: directives, now: .now) }
            if source.playlist.isDeltaUpdate {
                rendition.show(source)
                return .success(source)
            }
            // Requests may overtake each other, but the playlist does not go back.
            guard source.isDurable || rendition.isBehind(source.playlist) else { return .success(source) }
            return .success(try await take(source, rendition, in: asset))
        } catch {
            return .failure(error)
        }
    }

    /// For the way to the origin and back, beyond what it may hold back.
    private static let grace = Duration.seconds(5)

    /// Asks for a live playlist again, as soon as it is due. An origin in trouble does not end the playback: the
    /// playlist that is known is an answer that players understand, for as long as what it names may still be there.
    func reload(
        _ rendition: Rendition, _ known: Rendition.Source, in asset: Asset
    ) async throws(LibraryError) -> Rendition.Source {
        let wait = rendition.schedule.wait(now: .now)
        // Not a poll: before that the origin must not be asked. All who want the playlist meanwhile join this one task.
        if wait > .zero { try? await Task.sleep(for: wait) }
        let began = ContinuousClock.now
        let mayBeOld = rendition.mayBeShown(now: began)
        var manner = PlaylistFetcher.Manner.patient
        manner.ignoresAbsence = true
        if mayBeOld { (manner.deadline, manner.retries) = (max(known.playlist.interval, .seconds(2)), .once) }
        do throws(LibraryError) {
            let source = try await fetchSource(of: rendition, in: asset, .none, manner)
            rendition.isOverdue = false
            // A cache on the way may give an older text: players are not led back.
            if mayBeOld, !source.isDurable, source.playlist.relation(to: known.playlist) == .stale {
                rendition.schedule.note(began: began, targetDuration: known.playlist.interval, hasChanged: false)
                return rendition.source ?? known
            }
            return try await take(source, rendition, in: asset, began: began)
        } catch {
            rendition.schedule.note(began: began, targetDuration: known.playlist.interval, hasChanged: false)
            guard mayBeOld, !error.isFinal else { throw error }
            if !rendition.isOverdue { report("\(asset.name): \(rendition.name.id) stays as it is, since \(error)") }
            rendition.isOverdue = true
            return rendition.source ?? known
        }
    }
}

extension Rendition {
    /// Whether the live playlist that is known answers a player now: it is not due yet, and will not be in a moment. A
    /// player that comes almost in time waits for the new one; else it would see nothing new, and come again half a
    /// target duration late.
    func isFresh(now: ContinuousClock.Instant) -> Bool {
        guard let source else { return false }
        return schedule.wait(now: now) > source.playlist.interval / 4
    }

    /// Whether the live playlist that is known may be shown although the origin does not answer: its segments are there
    /// for as long again as it is (RFC 8216 §6.2.2), but a player that still sees nothing new after some minutes is
    /// better told.
    func mayBeShown(now: ContinuousClock.Instant) -> Bool {
        guard let source, let latest else { return false }
        let span = min(max(.seconds(source.playlist.duration), source.playlist.interval * 3), .seconds(300))
        return now - max(source.born, latest.born) < span
    }

    /// Whether a playlist goes on beyond the one that is known.
    func isBehind(_ playlist: MediaPlaylist) -> Bool {
        guard let known = source?.playlist else { return true }
        let (end, knownEnd) = (playlist.endSequenceNumber, known.endSequenceNumber)
        if end != knownEnd { return end > knownEnd }
        return playlist.parts.count { $0.mediaSequenceNumber == end }
            > known.parts.count { $0.mediaSequenceNumber == end }
    }
}

extension LibraryError {
    /// Whether asking again is of no use.
    fileprivate var isFinal: Bool {
        switch code {
        case .originRefused, .refusedURL, .missing, .notStored: true
        default: originStatus == 404
        }
    }
}

extension RetryPolicy {
    /// One more try: where something else can take the place of an answer.
    fileprivate static var once: RetryPolicy {
        var policy = RetryPolicy()
        policy.attempts = 1
        return policy
    }
}
