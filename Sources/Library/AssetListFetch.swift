import Fetching
import HTTPMessage
import Origin
import Playlist

extension PlaylistFetcher {
    /// Maximum size of a list, in bytes.
    private static let listLimit: Int64 = 1 << 20

    /// Fetches the list of an interstitial's assets at `url`. Returns it with its URL after redirects.
    ///
    /// - Parameter access: the rights of the request: header fields and private addresses.
    /// - Throws: `LibraryError` if the response is not a list; says what it is.
    func assetList(at url: WebURL, access: OriginAccess) async throws(LibraryError) -> (AssetList, base: WebURL) {
        var request = OriginRequest(url)
        access.grant(to: &request)
        request.limit = Self.listLimit
        request.deadline = GiveUpRule.deadline(with: .programme)
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
