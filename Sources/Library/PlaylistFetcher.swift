import EventLoop
import Fetching
import HTTPMessage
import Origin
import Playlist

/// Playlists from origins: fetched whole, decoded, and parsed.
@LoopActor struct PlaylistFetcher {
    let client: OriginClient

    /// What came.
    struct Answer {
        let playlist: Playlist
        /// The URL that it came from in the end.
        let base: WebURL
        /// When the origin made it, as far as it told.
        let born: ContinuousClock.Instant
    }

    /// How the origin is asked.
    struct Manner {
        /// For the whole.
        var deadline: Duration
        /// What to do about an origin in trouble; nil for what is done for media.
        var retries: RetryPolicy?
        /// Whether the origin may hold the answer back until there is something new (rfc8216bis §6.2.5.2).
        var isHeldBack = false
        /// Whether it is asked although others could not reach it a moment ago: who asks keeps to a schedule.
        var ignoresAbsence = false

        /// For somebody who waits, where nothing can take the origin's place.
        static let patient = Manner(deadline: .seconds(30))
    }

    /// The playlist at `url`.
    ///
    /// - Parameters:
    ///   - access: what the request may have.
    ///   - imports: the variables of the multivariant playlist that led there; nil where none did.
    /// - Throws: `LibraryError` that says what came instead of a playlist.
    func playlist(
        at url: WebURL, access: OriginAccess, imports: [String: String]? = nil, _ manner: Manner
    ) async throws(LibraryError) -> Answer {
        var request = request(url, access)
        request.deadline = manner.deadline
        request.retries = manner.retries
        request.toleratesSilence = manner.isHeldBack
        request.ignoresAbsence = manner.ignoresAbsence
        let (head, body) = try await fetch(request, wanted: "a playlist")
        do {
            let variables = VariableSources(imports: imports, query: head.url.query)
            let playlist = try Playlist.parse(body, variables: variables)
            return Answer(playlist: playlist, base: head.url, born: .now - Self.age(head))
        } catch  where error.code == .notAPlaylist {
            let type = head.mediaType.map { " (\($0.essence))" } ?? ""
            let what = MediaSignature.imposter(in: body) ?? (body.isEmpty ? "an empty body" : "something else")
            throw LibraryError(
                .notPlaylist, "\(head.url.redacted) gave \(what)\(type) where a playlist should be", underlying: error)
        } catch {
            throw LibraryError(error, from: head.url)
        }
    }

    /// What a playlist is asked for with.
    func request(_ url: WebURL, _ access: OriginAccess) -> OriginRequest {
        var request = OriginRequest(url)
        access.grant(to: &request)
        request.acceptsCompression = true
        request.limit = Self.limit
        return request
    }

    /// Fetches a small text; `wanted` says what it should be, for a message.
    func fetch(_ request: OriginRequest, wanted: String) async throws(LibraryError) -> (OriginHead, [UInt8]) {
        do {
            return try await client.fetch(request)
        } catch  where error.code == .notFound {
            throw LibraryError(.badOrigin, "\(error) where \(wanted) should be", underlying: error)
        } catch {
            throw LibraryError(error)
        }
    }

    /// How long caches on the way have had it.
    private static func age(_ head: OriginHead) -> Duration {
        let seconds = head[FieldName("Age")].flatMap { Int32($0) } ?? 0
        return .seconds(max(0, seconds))
    }

    /// The most bytes of a playlist, decoded.
    private static let limit: Int64 = 8 << 20
}
