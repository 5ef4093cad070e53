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
