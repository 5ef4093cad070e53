import API
import EventLoop
import HTTPMessage

extension ControlRoutes {
    /// Answers a request about the link conditioner that was started last with this daemon's state directory.
    func link(_ request: ControlRequest) async throws(APIError) -> ControlResponse {
        guard let conditioner else { throw APIError(.noSuchRoute, "the API has no \(request.path)") }
        guard request.method == .patch else { return try ok(try await conditioner().state()) }
        let change: LinkChange = try Self.body(request)
        return try ok(try await conditioner().change(change))
    }
}
