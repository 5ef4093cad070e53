import API
import EventLoop
import HTTPMessage

extension ControlRoutes {
    /// Answers a request about the keys of an asset, or of all of them where there is no name.
    func keys(_ request: ControlRequest, of name: String?) async throws(APIError) -> ControlResponse {
        guard let keys else { throw APIError(.noSuchRoute, "the API has no \(request.path)") }
        guard let name else {
            let order: API.KeyOrder = try Self.body(request)
            guard order == API.KeyOrder(.invalidate) else {
                throw APIError(.badRequest, "of all assets' keys there is only: {\"action\": \"invalidate\"}")
            }
            return try ok(try await keys.invalidateAllKeys())
        }
        guard request.method == .post else { return try ok(try await keys.keys(ofAsset: name)) }
        return try ok(try await keys.order(try Self.body(request), ofAsset: name))
    }
}
