import Foundation
import WeirAPI

extension APIClient {
    /// Asks for a download, and says what it waits for if that takes longer than a moment: an origin may be slow, and the handler of a
    /// web page may need ten seconds to find the stream.
    func start(_ request: API.DownloadRequest) async throws(APIError) -> API.Download {
        let notice = Task {
            try await Task.sleep(for: Self.moment)
            Output.error("waiting for \(Self.origin(of: request.source))\n")
        }
        defer { notice.cancel() }
        return try await call(Endpoints.addDownload, body: request)
    }

    /// A reply within this time ends the wait before the notice.
    private static let moment = Duration.seconds(3)

    /// In words. Of a URL only the host: the rest may hold a secret.
    private static func origin(of source: String) -> String {
        guard PlayerURL.isURL(source) else { return "the origin of \(source)" }
        return URLComponents(string: source)?.host ?? "the origin"
    }
}
