import EventLoop
import HTTPMessage
import Origin
import Playlist

/// Loads live playlists at the pace of the players.
extension Library {
    /// Returns the rendition's playlist for a player's request. If the origin supports delivery directives, it gets the
    /// player's, and the response may be a delta update.
    ///
    /// - Throws: `LibraryError`; also if the origin holds the response longer than three target durations, after which
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

    /// Sends a request with delivery directives to the origin.
    private func relay(
        _ directives: DeliveryDirectives, _ rendition: Rendition, in asset: Asset
    ) async -> Result<Rendition.Source, LibraryError> {
        do throws(LibraryError) {
            let span = rendition.source?.playlist.interval ?? .zero
            let manner = PlaylistFetcher.Manner(
                deadline: GiveUpRule.deadline(with: .heldBack(targetDuration: span)), retries: .never, isHeldBack: true,
                ignoresAbsence: true)
            let source = try await fetchSource(of: rendition, in: asset, directives, manner)
            if !source.isDurable { rendition.relay.keep(source, for: directives, now: .now) }
            if source.playlist.isDeltaUpdate {
                rendition.show(source)
                return .success(source)
            }
            // Responses may arrive out of order, but the playlist must not go back.
            guard source.isDurable || rendition.isBehind(source.playlist) else { return .success(source) }
            return .success(try await take(source, rendition, in: asset))
        } catch {
            return .failure(error)
        }
    }

    /// Reloads a live playlist as soon as that is due. An error of the origin does not end the playback: players accept
    /// the known playlist as long as its segments may still be available.
    func reload(
        _ rendition: Rendition, _ known: Rendition.Source, in asset: Asset
    ) async throws(LibraryError) -> Rendition.Source {
        let wait = rendition.schedule.wait(now: .now)
        // Not a poll: before that time the origin must not be asked. All other callers join this one task.
        if wait > .zero { try? await Task.sleep(for: wait) }
        let began = ContinuousClock.now
        let mayBeOld = rendition.mayBeShown(now: began)
        var manner = PlaylistFetcher.Manner.patient
        manner.ignoresAbsence = true
        if mayBeOld {
            manner.deadline = GiveUpRule.deadline(with: .olderPlaylist(targetDuration: known.playlist.interval))
            manner.retries = .once
        }
        do throws(LibraryError) {
            let source = try await fetchSource(of: rendition, in: asset, .none, manner)
            rendition.isOverdue = false
            // A cache in between may return an older playlist. Players must not see it.
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
    /// True if the known live playlist can answer a player now: the next reload is neither due nor about to be. A
    /// player that is slightly early waits for the new playlist. Otherwise it would see no change, and return half a
    /// target duration late.
    func isFresh(now: ContinuousClock.Instant) -> Bool {
        guard let source else { return false }
        return schedule.wait(now: now) > source.playlist.interval / 4
    }

    /// True if the known live playlist may be shown while the origin does not answer.
    func mayBeShown(now: ContinuousClock.Instant) -> Bool {
        guard let source, let latest else { return false }
        let span = GiveUpRule.livePlaylistLife(
            duration: .seconds(source.playlist.duration), targetDuration: source.playlist.interval)
        return now - max(source.born, latest.born) < span
    }

    /// True if a playlist continues beyond the known one.
    func isBehind(_ playlist: MediaPlaylist) -> Bool {
        guard let known = source?.playlist else { return true }
        let (end, knownEnd) = (playlist.endSequenceNumber, known.endSequenceNumber)
        if end != knownEnd { return end > knownEnd }
        return playlist.parts.count { $0.mediaSequenceNumber == end }
            > known.parts.count { $0.mediaSequenceNumber == end }
    }
}

extension LibraryError {
    /// True if another request cannot succeed.
    fileprivate var isFinal: Bool {
        switch code {
        case .originRefused, .refusedURL, .missing, .notStored: true
        default: originStatus == 404
        }
    }
}
