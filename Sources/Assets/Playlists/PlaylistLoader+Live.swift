import EventLoop
import Fetching
public import HLS
package import HTTPMessage
import Origin

extension PlaylistLoader {
    /// Returns the rendition's playlist for a player's request. If the origin supports delivery directives, it gets the
    /// player's, and the response may be a delta update. Throws also if the origin holds the response longer than three
    /// target durations, after which servers give up (rfc8216bis §6.2.5.2).
    public func source(
        of rendition: Rendition, in asset: Asset, _ directives: DeliveryDirectives
    ) async throws(LibraryError) -> Rendition.Source {
        guard directives != .none else { return try await source(of: rendition, in: asset) }
        let known: Rendition.Source
        if let source = rendition.source {
            known = source
        } else {
            known = try await source(of: rendition, in: asset)
        }
        let directives = directives.understood(by: known.playlist)
        guard directives != .none else { return try await source(of: rendition, in: asset) }

        if directives.skip == nil, directives.areMet(by: known.playlist) {
            return known
        }
        if let answer = rendition.live?.directed.answer(to: directives, now: .now) {
            return answer
        }

        // Players with the same directives share one request.
        let key = Relay(rendition: ObjectIdentifier(rendition), directives: directives)
        let result = await tasks.relays.run(key) {
            await relay(directives, rendition, in: asset)
        }
        return try result.get()
    }

    private func relay(
        _ directives: DeliveryDirectives, _ rendition: Rendition, in asset: Asset
    ) async -> Result<Rendition.Source, LibraryError> {
        do throws(LibraryError) {
            let span = rendition.source?.playlist.interval ?? .zero
            let manner = PlaylistFetcher.Manner(
                deadline: GiveUpRule.deadline(with: .heldBack(targetDuration: span)), retries: .never, isHeldBack: true,
                ignoresAbsence: true)
            let fetched = try await fetchSource(of: rendition, in: asset, directives, manner)

            let (source, order) = rendition.numbered(fetched)
            if !source.isDurable {
                rendition.makeLive().directed.keep(source, for: directives, now: .now)
            }
            if source.playlist.isDeltaUpdate {
                rendition.show(source)
                return .success(source)
            }
            // Responses may arrive out of order, but the playlist must not go back.
            guard source.isDurable || order == .restarted || rendition.isBehind(source.playlist) else {
                return .success(source)
            }
            return .success(try await adopt(source, rendition, in: asset))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the rendition's live playlist as soon as the next reload is due. A player may have loaded it by then.
    public func nextSource(of rendition: Rendition, in asset: Asset) async throws(LibraryError) -> Rendition.Source {
        let live = try await channelRendition(of: rendition, in: asset)
        await waitUntilDue(live?.rendition ?? rendition)
        return try await source(of: rendition, in: asset)
    }

    // MARK: Recordings

    /// The rendition of the channel that a recording's rendition takes its playlists from, so that all recordings and players of
    /// the channel share each load; nil if the recording has ended, if the channel was removed, and for any other asset.
    func channelRendition(
        of rendition: Rendition, in asset: Asset
    ) async throws(LibraryError) -> (asset: Asset, rendition: Rendition)? {
        guard asset.isChannelRecording, !rendition.hasEnded,
            let channel = library.channel(of: asset)
        else { return nil }
        await library.wake(channel)
        // The catalogue has no playlist of a channel that is one.
        if channel.content.entry == nil, !library.isOffline {
            try await loadMissingEntry(of: channel)
        }
        guard let live = channel.content.rendition(rendition.name.id) else { return nil }
        return (channel, live)
    }

    /// Adopts the channel's playlist for the rendition of a recording.
    func copySource(
        of live: (asset: Asset, rendition: Rendition), to rendition: Rendition, in asset: Asset
    ) async throws(LibraryError) -> Rendition.Source {
        let began = library.now()
        var source = try await source(of: live.rendition, in: live.asset)
        source.channelShift = source.shift
        live.rendition.makeLive().add(rendition)
        return try await adopt(source, rendition, in: asset, began: began)
    }

    /// Not a poll: before that time the origin must not be asked (RFC 8216 §6.3.4).
    private func waitUntilDue(_ rendition: Rendition) async {
        let wait = rendition.schedule.wait(now: library.now())
        if wait > .zero {
            try? await LoopActor.pause(for: wait)
        }
    }

    /// Reloads a live playlist as soon as that is due. An error of the origin does not end the playback: players accept
    /// the known playlist as long as its segments may still be available.
    func reload(
        _ rendition: Rendition, _ known: Rendition.Source, in asset: Asset
    ) async throws(LibraryError) -> Rendition.Source {
        // All other callers join this one task.
        await waitUntilDue(rendition)
        let began = library.now()
        let mayBeOld = rendition.mayBeShown(now: began)
        var manner = PlaylistFetcher.Manner.patient
        manner.ignoresAbsence = true
        if mayBeOld {
            manner.deadline = GiveUpRule.deadline(with: .olderPlaylist(targetDuration: known.playlist.interval))
            manner.retries = .once
        }

        do throws(LibraryError) {
            let fetched = try await fetchSource(of: rendition, in: asset, .none, manner)
            rendition.live?.isOverdue = false

            let (source, order) = rendition.numbered(fetched, replaces: !mayBeOld)
            // A cache in between may return an older playlist. Players must not see it. It may be the first after a restart
            // of the origin: until that is certain, the shown names keep their content.
            if order == .older {
                rendition.makeLive().hasSeenOlder = true
                rendition.schedule.record(began: began, targetDuration: known.playlist.interval, hasChanged: false)
                return rendition.source ?? known
            }

            // After a restart that the numbers do not show, the URLs have other content than before.
            if rendition.live?.hasSeenOlder ?? false, order == .newer {
                library.loader.forgetRecent(of: rendition.folder)
            }
            rendition.live?.hasSeenOlder = false
            return try await adopt(source, rendition, in: asset, began: began)
        } catch {
            rendition.schedule.record(began: began, targetDuration: known.playlist.interval, hasChanged: false)
            guard mayBeOld, !error.isFinal else { throw error }
            let live = rendition.makeLive()
            if !live.isOverdue {
                library.report("\(asset.name): the playlist of \(rendition.name.id) cannot be updated: \(error)")
            }
            live.isOverdue = true
            return rendition.source ?? known
        }
    }
}

extension Rendition {
    /// True if the known live playlist can answer a player now: the next reload is neither due nor about to be. A
    /// player that is slightly early waits: it would see no change, and return half a target duration late.
    func isFresh(now: ContinuousClock.Instant) -> Bool {
        guard let source else { return false }
        return schedule.wait(now: now) > source.playlist.interval / 4
    }

    /// True if the known live playlist may be shown while the origin does not answer. Its segments stay available for
    /// its duration (RFC 8216 §6.2.2). After some minutes without a change, an error is better for the player.
    fileprivate func mayBeShown(now: ContinuousClock.Instant) -> Bool {
        guard let source, let latest else { return false }
        let span = GiveUpRule.livePlaylistLife(
            duration: .seconds(source.playlist.duration.seconds), targetDuration: source.playlist.interval)
        return now - max(source.born, latest.born) < span
    }

    /// True if a playlist continues beyond the known one.
    fileprivate func isBehind(_ playlist: MediaPlaylist) -> Bool {
        guard let known = source?.playlist else { return true }
        let end = playlist.endSequenceNumber
        let knownEnd = known.endSequenceNumber
        if end != knownEnd {
            return end > knownEnd
        }
        return playlist.parts.count { $0.mediaSequenceNumber == end }
            > known.parts.count { $0.mediaSequenceNumber == end }
    }
}

extension DeliveryDirectives {
    /// Splits the query of a player's URL into the directives and the origin's own query. Throws `badDirective`.
    public static func split(_ query: String?) throws(LibraryError) -> (DeliveryDirectives, rest: String?) {
        do {
            return try parse(query)
        } catch {
            throw LibraryError(.badDirective, error.message)
        }
    }

    func added(to url: WebURL) -> WebURL { url.adding(parameters) }
}

extension WebURL {
    /// Adds parameters to the query.
    package func adding(_ parameters: [some StringProtocol]) -> WebURL {
        guard !parameters.isEmpty else { return self }
        var query = parameters.joined(separator: "&")
        if let known = self.query, !known.isEmpty {
            query = "\(known)&\(query)"
        }
        return (try? resolving("?\(query)")) ?? self
    }

    /// The URL without the directives that a player has added. A user may have copied it from a player: with them the origin
    /// would answer with a delta update, or only after a segment that is long past or yet to come.
    var withoutDirectives: WebURL {
        guard query?.contains("_HLS_") ?? false else { return self }
        return replacingQuery(DeliveryDirectives.removed(from: query))
    }
}

extension LibraryError {
    /// True if a reload later would not help.
    fileprivate var isFinal: Bool {
        switch code {
        case .originRefused, .refusedURL, .missing, .notStored: true
        default: originStatus == 404
        }
    }
}
