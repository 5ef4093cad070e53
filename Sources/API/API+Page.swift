extension API {
    /// The way to the page for a browser: `GET /api/v1/page`. It is good as long as the daemon runs.
    public struct PageLink: Codable, Equatable, Sendable {
        /// A path of the daemon, with a key in it.
        public var path: String

        /// A way.
        public init(path: String) { self.path = path }
    }
}
