extension API {
    /// The state of a move of an asset to another disk. `POST /api/v1/assets/<name>/move` starts one, or attaches to a
    /// running one with the same target; `GET` returns its state, and `DELETE` cancels it.
    public struct Move: Job {
        /// The asset's name.
        public var asset: String
        /// State of the move; unless it is `done`, the asset is still at its former place.
        public var state: JobState
        /// The target folder; absent for the store's own.
        public var path: String?
        /// Copied bytes.
        public var bytes = 0
        /// Total bytes to copy.
        public var totalBytes = 0
        /// Number of damaged pieces, which were not moved; absent if there are none.
        public var leftOut: Int?
        /// Error that ended the move.
        public var error: Download.Failure?

        /// Creates a move.
        public init(asset: String, state: JobState) { (self.asset, self.state) = (asset, state) }
    }

    /// Body of `POST /api/v1/assets/<name>/move`.
    public struct MoveRequest: Codable, Equatable, Sendable {
        /// The absolute path of a folder on the daemon's disk, created if it does not exist. If absent, the store's own
        /// folder.
        public var path: String?

        /// Creates a request.
        public init(path: String? = nil) { self.path = path }
    }

    /// The volume of an asset that was moved to another disk.
    public struct Place: Codable, Equatable, Sendable {
        /// The folder.
        public var path: String
        /// True if the folder can be reached.
        public var isThere: Bool

        /// Creates a volume's state.
        public init(path: String, isThere: Bool) { (self.path, self.isThere) = (path, isThere) }
    }
}

extension API.Move {
    /// Body of `POST`.
    public typealias Request = API.MoveRequest

    /// See `Job`.
    public static var kind: API.JobKind { .move }
}
