extension API {
    /// The network mode: `GET /api/v1/mode` returns it, `PUT` changes it until the daemon ends.
    public struct Mode: Codable, Equatable, Sendable {
        /// The modes.
        public enum Name: String, Codable, CaseIterable, Sendable {
            /// Missing resources are fetched from the origin while it can be reached.
            case auto
            /// No connection is opened, and no name is resolved.
            case offline
            /// As `auto`, but the playlists list only complete renditions if there are any.
            case local
        }

        /// The mode.
        public var mode: Name

        /// Creates a mode.
        public init(_ mode: Name) { self.mode = mode }
    }
}

extension API {
    /// The daemon's address on the network: `GET /api/v1/lan`.
    public struct LAN: Codable, Equatable, Sendable {
        /// The URL in front of a name or an origin URL. Includes the token for media; has no slash at its end.
        public var url: String

        /// Creates an address.
        public init(url: String) { self.url = url }
    }
}

extension APIClient {
    /// The daemon's address on the network. Throws `.noLAN` if it is not reachable from the network.
    public func lan() async throws(APIError) -> API.LAN { try await call("GET", "/lan") }
}

extension API {
    /// The link to the page for browsers: `GET /api/v1/page`. Valid while the daemon runs.
    public struct PageLink: Codable, Equatable, Sendable {
        /// The path on the daemon, including the key.
        public var path: String

        /// Creates a link.
        public init(path: String) { self.path = path }
    }
}
