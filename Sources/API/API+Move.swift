extension API {
    /// The moving of an asset to another disk as it stands: `POST /api/v1/assets/<name>/move` begins one, or attaches to
    /// the one to that place which is under way; `GET` tells how it stands, and `DELETE` gives it up.
    public struct Move: Job {
        /// The asset's name.
        public var asset: String
        /// State of the move; unless it is `done`, the asset is still at its former place.
        public var state: JobState
        /// The folder that it goes to; absent for the store's own.
        public var path: String?
        /// The bytes that were copied.
        public var bytes = 0
        /// The bytes that there were to copy.
        public var totalBytes = 0
        /// Number of damaged pieces, which were not moved; absent for none.
        public var leftOut: Int?
        /// Error that ended the move.
        public var error: Download.Failure?

        /// A move.
        public init(asset: String, state: JobState) { (self.asset, self.state) = (asset, state) }
    }

    /// Body of `POST /api/v1/assets/<name>/move`.
    public struct MoveRequest: Codable, Equatable, Sendable {
        /// A folder on the daemon's disk, made if it is not there; absolute. Left out, the store's own.
        public var path: String?

        /// A request.
        public init(path: String? = nil) { self.path = path }
    }

    /// The volume of an asset that was moved to another disk.
    public struct Place: Codable, Equatable, Sendable {
        /// The folder.
        public var path: String
        /// True if the folder can be reached.
        public var isThere: Bool

        /// A place.
        public init(path: String, isThere: Bool) { (self.path, self.isThere) = (path, isThere) }
    }
}

extension API.Move {
    /// Body of `POST`.
    public typealias Request = API.MoveRequest

    /// See `Job`.
    public static var kind: API.JobKind { .move }
}
