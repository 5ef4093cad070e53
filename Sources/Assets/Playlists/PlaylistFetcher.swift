package import EventLoop
package import Fetching
package import HLS
package import HTTPMessage
package import Origin

/// Fetches playlists from origins, decodes and parses them.
@LoopActor package struct PlaylistFetcher {
    let client: OriginClient

    package struct Answer {
        package let playlist: Playlist
        /// The URL after redirects.
        package let base: WebURL
        /// The time when the origin made it, from the response (RFC 9111 §5.1).
        let born: ContinuousClock.Instant
        /// The facts that a handler gave with the URL; nil without a handler.
        var terms: HandlerTerms?
    }

    package struct Manner {
        /// Nil for `GiveUpRule.playlistDeadline`.
        var deadline: Duration?
        /// The retries after an error of the origin; nil for those of media.
        var retries: RetryPolicy?
        /// True if the origin may hold the response until there is a change (rfc8216bis §6.2.5.2).
        var isHeldBack = false
        /// True if the origin is asked even if it was unreachable a moment ago, because the caller keeps to a schedule.
        var ignoresAbsence = false
        /// For a caller that waits, without an alternative to the origin.
        package static let patient = Manner()
    }

    /// Returns the playlist at `url`; throws an error that says what it is instead. `imports` are the variables of the
    /// multivariant playlist that names it.
    package func playlist(
        at url: WebURL, access: OriginAccess, imports: [String: String]? = nil, _ manner: Manner
    ) async throws(LibraryError) -> Answer {
        var request = request(url, access)
        request.deadline = manner.deadline
        request.retries = manner.retries
        request.toleratesSilence = manner.isHeldBack
        request.ignoresAbsence = manner.ignoresAbsence
        let (head, body) = try await fetchPlaylist(request)
        if await Self.isList(body, for: access) {
            var failure = LibraryError(
                .notPlaylist, "\(head.url.redacted) is a list of channels, and not the playlist of one stream")
            failure.foreign = .channels
            failure.channelList = FetchedChannelList(
                asked: url, url: head.url, isNamed: access.namesPeer, text: body)
            throw failure
        }
        guard let parsed = await Self.parse(body, imports, query: head.url.query, for: access) else {
            throw LibraryError(.missing, "the asset of \(head.url.redacted) was removed")
        }
        do {
            let playlist = try parsed.get()
            return Answer(playlist: playlist, base: head.url, born: .now - Self.age(head), terms: head.terms)
        } catch  where error.code == .notAPlaylist {
            if PlaylistText.mayBegin(body) {
                var failure = LibraryError(
                    .notPlaylist, "\(head.url.redacted) gave a playlist that names nothing to play", underlying: error)
                failure.foreign = .nothing
                throw failure
            }
            let format = ForeignFormat(body: body, of: head)
            // Only for a URL of the user: no page may name another page.
            if format == .page, request.isUsers, client.handlers?.adopt(page: url) == true {
                return try await playlist(at: url, access: access, imports: imports, manner)
            }
            var found = Self.name(of: body, in: format)
            if let type = head.mediaType {
                found += " (\(type.essence))"
            }
            var failure = LibraryError(
                .notPlaylist, "\(head.url.redacted) gave \(found) where a playlist should be", underlying: error)
            failure.foreign = format
            throw failure
        } catch {
            throw LibraryError(error, from: head.url)
        }
    }

    /// True for a channel list; a large text is looked at on a worker.
    private static func isList(_ body: [UInt8], for owner: AnyObject) async -> Bool {
        let answer = await PureWork.shared.run(size: body.count, for: owner) { ChannelList.isList(body) }
        return answer ?? false
    }

    /// Parses a playlist, a large one on a worker. Returns nil if the asset is removed meanwhile.
    static func parse(
        _ body: [UInt8], _ imports: [String: String]?, query: String?, for owner: AnyObject
    ) async -> Result<Playlist, PlaylistError>? {
        await PureWork.shared.run(size: body.count, for: owner) {
            do throws(PlaylistError) {
                return .success(try Playlist.parse(body, variables: VariableSources(imports: imports, query: query)))
            } catch {
                return .failure(error)
            }
        }
    }

    func request(_ url: WebURL, _ access: OriginAccess) -> OriginRequest {
        var request = OriginRequest(url)
        access.grant(to: &request)
        request.acceptsCompression = true
        request.limit = Self.limit
        return request
    }

    /// Fetches the text of a playlist; of anything else the beginning. One that is too large is a film in one file if its URL says so.
    private func fetchPlaylist(_ request: OriginRequest) async throws(LibraryError) -> (OriginHead, [UInt8]) {
        do throws(LibraryError) {
            return try await fetch(request, wanted: "a playlist", beginningAs: PlaylistText.mayBegin)
        } catch {
            guard let origin = error.underlying as? OriginError, origin.code == .tooLarge,
                let format = ForeignFormat(url: request.url.text)
            else { throw error }
            var failure = LibraryError(
                .notPlaylist, "\(request.url.redacted) gave \(format.name) where a playlist should be",
                underlying: error)
            failure.foreign = format
            throw failure
        }
    }

    /// Fetches a small text; `wanted` names the expected content in messages. See `OriginClient.fetch(_:beginningAs:)`.
    package func fetch(
        _ request: OriginRequest, wanted: String,
        beginningAs isExpected: @escaping @Sendable ([UInt8]) -> Bool = { _ in true }
    ) async throws(LibraryError) -> (OriginHead, [UInt8]) {
        do {
            return try await client.fetch(request, beginningAs: isExpected)
        } catch  where error.code == .notFound {
            throw LibraryError(.badOrigin, "\(error) where \(wanted) should be", underlying: error)
        } catch {
            throw LibraryError(error)
        }
    }

    /// The name of a body that is no playlist, for a message.
    private static func name(of body: [UInt8], in format: ForeignFormat?) -> String {
        if let name = format?.name ?? MediaSignature.imposter(in: body) {
            return name
        }
        return body.isEmpty ? "an empty body" : "something else"
    }

    private static func age(_ head: OriginHead) -> Duration {
        guard let text = head[FieldName("Age")], let seconds = Int32(text) else { return .zero }
        return .seconds(max(0, seconds))
    }

    private static let limit = Int64(PlaylistLimits.standard.bytes)
}
