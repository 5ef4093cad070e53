extension API {
    /// How origins are asked: `GET /api/v1/mode` gives it, `PUT` changes it until the daemon ends.
    public struct Mode: Codable, Equatable, Sendable {
        /// The ways.
        public enum Name: String, Codable, CaseIterable, Sendable {
            /// What is missing comes from the origin, as long as it can be reached.
            case auto
            /// No connection is opened, and no name server is asked.
            case offline
            /// As `auto`, but where something is stored whole, only that is listed.
            case local
        }

        /// The way.
        public var mode: Name

        /// A way.
        public init(_ mode: Name) { self.mode = mode }
    }
}

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

extension API {
    /// The way to the page for a browser: `GET /api/v1/page`. It is good as long as the daemon runs.
    public struct PageLink: Codable, Equatable, Sendable {
        /// A path of the daemon, with a key in it.
        public var path: String

        /// A way.
        public init(path: String) { self.path = path }
    }
}
