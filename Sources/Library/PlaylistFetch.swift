import EventLoop
import HTTPMessage
import Origin
import Playlist

/// Playlists from origins: fetched whole, decoded, and parsed.
@LoopActor struct PlaylistFetch {
    let client: OriginClient

    /// The playlist at `url`, and the URL that it came from in the end.
    ///
    /// - Parameters:
    ///   - origin: the URL that the user gave: its host and port may be private.
    ///   - deadline: for the whole.
    ///   - isPatient: whether an origin in trouble is asked again.
    /// - Throws: `LibraryError` that says what came instead of a playlist.
    func playlist(
        at url: WebURL, origin: WebURL, deadline: Duration, isPatient: Bool
    ) async throws(LibraryError) -> (Playlist, WebURL) {
        var request = OriginRequest(url)
        request.namedPeer = OriginRequest.Peer(of: origin)
        request.acceptsCompression = true
        request.limit = Self.limit
        request.deadline = deadline
        request.fields = []
        if !isPatient { request.retries = .never }
        let head: OriginHead
        let body: [UInt8]
        do {
            (head, body) = try await client.fetch(request)
        } catch  where error.code == .notFound {
            throw LibraryError(.badOrigin, "\(error) where a playlist should be", underlying: error)
        } catch {
            throw LibraryError(error)
        }
        do {
            return (try Playlist.parse(body), head.url)
        } catch  where error.code == .notAPlaylist {
            let type = head.mediaType.map { " (\($0.essence))" } ?? ""
            let what = MediaSignature.imposter(in: body) ?? (body.isEmpty ? "an empty body" : "something else")
            throw LibraryError(
                .notPlaylist, "\(head.url.redacted) gave \(what)\(type) where a playlist should be", underlying: error)
        } catch {
            throw LibraryError(error, from: head.url)
        }
    }

    /// The most bytes of a playlist, decoded.
    private static let limit: Int64 = 8 << 20
}
