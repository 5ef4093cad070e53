import EventLoop
import HTTPMessage
import Origin
import Playlist

/// The playlists behind a URL. Nothing but playlists is asked for.
@LoopActor final class OriginCheckSource: CheckSource {
    typealias Place = WebURL

    nonisolated let entry: WebURL
    private lazy var client = OriginClient()

    /// A source that asks nothing yet; `entry` is the user's own URL, whose host may be private.
    nonisolated init(entry: WebURL) { self.entry = entry }

    func read(_ place: WebURL) async -> CheckReading<WebURL> {
        var request = OriginRequest(place)
        request.namedPeer = OriginRequest.Peer(of: entry)
        request.acceptsCompression = true
        // Whoever checks wants to know of a failure, not to be spared it.
        request.retries = .never
        do throws(OriginError) {
            let (head, body) = try await client.fetch(request)
            return CheckReading(bytes: body, base: head.url, findings: TransferFinding.all(of: head, asked: place))
        } catch {
            return CheckReading(
                base: place, findings: [TransferFinding.failure(error, asked: place)],
                failure: error.code == .tooLarge
                    ? LibraryError(.notPlaylist, "\(error)", underlying: error) : Self.failure(error))
        }
    }

    /// Only the entry was asked for by name: that it is missing is the origin's answer.
    private static func failure(_ error: OriginError) -> LibraryError {
        error.code == .notFound ? LibraryError(.badOrigin, "\(error)", underlying: error) : LibraryError(error)
    }

    nonisolated func target(of uri: String, from base: WebURL) -> CheckTarget<WebURL> {
        (try? base.resolving(uri)).map { .place($0) } ?? .nowhere
    }

    nonisolated func url(of uri: String, from base: WebURL) -> String? { try? base.resolving(uri).text }
    nonisolated func url(_ place: WebURL) -> String { place.text }
    nonisolated func name(_ place: WebURL) -> String { place.redacted }
    nonisolated func query(_ place: WebURL) -> String? { place.query }
}
