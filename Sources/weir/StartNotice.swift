import API
import Foundation

extension APIClient {
    /// Asks for a download, and says what it waits for if that takes longer than a moment: an origin may be slow, and the handler of a
    /// web page may need ten seconds to find the stream.
    func start(_ request: API.DownloadRequest) async throws(APIError) -> API.Download {
        let notice = Task {
            try await Task.sleep(for: .seconds(3))
            Output.error("waiting for \(Self.host(of: request.source))\n")
        }
        defer { notice.cancel() }
        return try await download(request)
    }

    /// The host of a URL, without the rest, which may hold a secret; the name of an asset is named.
    private static func host(of source: String) -> String {
        guard PlayerURL.isURL(source) else { return "the origin of \(source)" }
        return URLComponents(string: source)?.host ?? "the origin"
    }
}
