import API
import Foundation

extension APIClient {
    /// Asks for a download, and says what it waits for if that takes longer than a moment: an origin may be slow, and the handler of a
    /// web page may need ten seconds to find the stream.
    func start(_ request: API.DownloadRequest) async throws(APIError) -> API.Download {
        let notice = Task {
            try await Task.sleep(for: .seconds(3))
            Output.error("waiting for \(Self.party(of: request.source))\n")
        }
        defer { notice.cancel() }
        return try await download(request)
    }

    /// The host, without the rest of the URL, which may hold a secret.
    private static func party(of source: String) -> String {
        let host = PlayerURL.isURL(source) ? URLComponents(string: source)?.host : nil
        return host.flatMap { $0.isEmpty ? nil : $0 } ?? "the origin of \(PlayerURL.isURL(source) ? "the URL" : source)"
    }
}
