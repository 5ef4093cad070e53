import EventLoop
import HTTPMessage
import Origin
import Playlist

/// Reads playlists from an origin.
@LoopActor final class OriginCheckSource: CheckSource {
    typealias Place = WebURL

    nonisolated let entry: WebURL
    private lazy var client = OriginClient()

    /// - Parameter entry: the user's own URL; its host may be private.
    nonisolated init(entry: WebURL) { self.entry = entry }

    func read(_ place: WebURL) async -> CheckReading<WebURL> {
        var request = OriginRequest(place)
        request.namedPeer = OriginRequest.Peer(of: entry)
        request.acceptsCompression = true
        // A check reports failures; a retry would hide them.
        request.retries = .never
        do throws(OriginError) {
            let (head, body) = try await client.fetch(request)
            return CheckReading(bytes: body, base: head.url, findings: TransferFinding.all(of: head, asked: place))
        } catch {
            return CheckReading(
                base: place, findings: [TransferFinding.failure(error, asked: place)],
                failure: error.code == .tooLarge
                    ? PlaylistCheckError(.tooLarge, "\(error)", underlying: error) : Self.failure(error))
        }
    }

    private static func failure(_ error: OriginError) -> PlaylistCheckError {
        PlaylistCheckError(error.code == .notFound ? .notFound : .origin, "\(error)", underlying: error)
    }

    nonisolated func target(of uri: String, from base: WebURL) -> CheckTarget<WebURL> {
        (try? base.resolving(uri)).map { .place($0) } ?? .invalid
    }

    nonisolated func url(of uri: String, from base: WebURL) -> String? { try? base.resolving(uri).text }
    nonisolated func url(_ place: WebURL) -> String { place.text }
    nonisolated func name(_ place: WebURL) -> String { place.redacted }
    nonisolated func query(_ place: WebURL) -> String? { place.query }
}
