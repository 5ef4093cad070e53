import Fetching
import HTTPMessage
import Origin
import Playlist

extension PlaylistFetcher {
    /// So long a player waits for a list: it plays on without one.
    private static let listDeadline = Duration.seconds(8)
    /// The most bytes of a list.
    private static let listLimit: Int64 = 1 << 20

    /// The list of an interstitial's assets at `url`, and the URL that it came from in the end.
    ///
    /// - Parameter access: what the request may have.
    /// - Throws: `LibraryError` that says what came instead of a list.
    func assetList(at url: WebURL, access: OriginAccess) async throws(LibraryError) -> (AssetList, base: WebURL) {
        var request = OriginRequest(url)
        access.grant(to: &request)
        request.limit = Self.listLimit
        request.deadline = Self.listDeadline
        let (head, body) = try await fetch(request, wanted: "a list of assets")
        do {
            return (try AssetList(body), head.url)
        } catch {
            throw LibraryError(.notPlaylist, Self.sentence(error, head, body), underlying: error)
        }
    }

    private static func sentence(_ error: PlaylistError, _ head: OriginHead, _ body: [UInt8]) -> String {
        let imposter = MediaSignature.imposter(in: body)
        guard let what = body.isEmpty ? "an empty body" : imposter, what != "JSON" else {
            return "\(head.url.redacted) is no list of assets that can be used: \(error)"
        }
        let type = head.mediaType.map { " (\($0.essence))" } ?? ""
        return "\(head.url.redacted) gave \(what)\(type) where a list of assets should be"
    }
}
