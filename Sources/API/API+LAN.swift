extension API {
    /// Where others on the network find the daemon: `GET /api/v1/lan`.
    public struct LAN: Codable, Equatable, Sendable {
        /// What stands before a name or an origin's URL, the token for media included; without a slash at its end.
        public var url: String

        /// A place.
        public init(url: String) { self.url = url }
    }
}

extension APIClient {
    /// Where others on the network find the daemon; `.noLAN` where they do not.
    public func lan() async throws(APIError) -> API.LAN { try await call("GET", "/lan") }
}
