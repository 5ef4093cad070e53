import EventLoop
import HTTPMessage

extension ControlRoutes {
    /// Answers a request about the keys of an asset, or of all of them where there is no name.
    func keys(_ request: ControlRequest, of name: String?) async throws(ControlError) -> ControlResponse {
        guard let keys else { throw ControlError(.noSuchRoute, "the API has no \(request.path)") }
        guard let name else {
            let order: API.KeyOrder = try Self.body(request)
            guard order == API.KeyOrder(.invalidate) else {
                throw ControlError(.badRequest, "of all assets' keys there is only: {\"action\": \"invalidate\"}")
            }
            return try ok(try await keys.invalidateAllKeys())
        }
        guard request.method == .post else { return try ok(try await keys.keys(ofAsset: name)) }
        return try ok(try await keys.order(try Self.body(request), ofAsset: name))
    }
}

extension ControlClient {
    /// The keys of an asset, without the keys.
    public func keys(ofAsset name: String) async throws(ControlError) -> API.KeyList {
        try await call("GET", Self.route(keysOf: name))
    }

    /// Renews keys of an asset, takes them back, or gives them a date.
    public func order(_ order: API.KeyOrder, ofAsset name: String) async throws(ControlError) -> API.KeyList {
        try await call("POST", Self.route(keysOf: name), body: try API.encode(order), isLong: order.action == .renew)
    }

    /// Takes back every key of every asset.
    public func invalidateAllKeys() async throws(ControlError) -> [API.KeyList] {
        let lists: API.KeyLists = try await call("POST", "/keys", body: try API.encode(API.KeyOrder(.invalidate)))
        return lists.assets
    }

    private static func route(keysOf name: String) -> String { "/assets/\(PercentEncoding.encode(name))/keys" }
}
