extension API {
    /// The state of a verification of an asset. `POST /api/v1/assets/<name>/verification` starts one, or attaches to
    /// the running one; `GET` returns its state, and `DELETE` cancels it.
    public struct Verification: Job {
        /// Consecutive missing pieces.
        public struct Hole: Codable, Equatable, Sendable {
            /// The range of media time; absent for keys and initialization sections.
            public var time: Download.TimeRange?
            /// File name of the first piece.
            public var first: String
            /// File name of the last piece.
            public var last: String
            /// Number of pieces.
            public var count: Int
            /// True if a download has selected them.
            public var isWanted: Bool

            /// Creates a hole.
            public init(time: Download.TimeRange?, first: String, last: String, count: Int, isWanted: Bool) {
                (self.time, self.first, self.last) = (time, first, last)
                (self.count, self.isWanted) = (count, isWanted)
            }
        }

        /// A damaged piece.
        public struct Mismatch: Codable, Equatable, Sendable {
            /// The piece's file.
            public var file: String
            /// The range of media time; absent if it is not known, and for keys and initialization sections.
            public var time: Download.TimeRange?
            /// `length`: the file is shorter or longer than stored; `bytes`: its SHA-256 differs; `unreadable`: the
            /// disk reports an error.
            public var fault: String
            /// True if the piece was repaired.
            public var isMended: Bool

            /// Creates a damaged piece.
            public init(file: String, time: Download.TimeRange?, fault: String, isMended: Bool) {
                (self.file, self.time, self.fault, self.isMended) = (file, time, fault, isMended)
            }
        }

        /// A rendition, or the asset's keys or session data.
        public struct Part: Codable, Equatable, Sendable {
            /// The id in the store.
            public var id: String
            /// Number of undamaged pieces.
            public var pieces: Int
            /// Bytes of these pieces.
            public var bytes: Int
            /// Stored ranges of media time.
            public var whole: [Download.TimeRange]
            /// Missing pieces, without the damaged ones.
            public var holes: [Hole]
            /// Damaged pieces.
            public var mismatches: [Mismatch]
            /// Number of missing pieces that a download has selected, plus damaged pieces that were not repaired.
            public var remaining: Int

            /// Creates a part without holes or damage.
            public init(id: String, pieces: Int, bytes: Int, whole: [Download.TimeRange]) {
                (self.id, self.pieces, self.bytes, self.whole) = (id, pieces, bytes, whole)
                (holes, mismatches, remaining) = ([], [], 0)
            }
        }

        /// The asset's name.
        public var asset: String
        /// State of the verification.
        public var state: JobState
        /// True if missing pieces are fetched.
        public var isRepair = false
        /// Bytes read so far.
        public var bytes = 0
        /// Total bytes to read.
        public var totalBytes = 0
        /// Number of missing or damaged pieces when everything had been read.
        public var found = 0
        /// Number of these that were not repaired.
        public var remaining = 0
        /// Time of the last complete verification, in seconds since 1970; absent if there was none.
        public var verified: Int?
        /// The findings; absent before everything was read.
        public var parts: [Part]?
        /// Error that ended the verification.
        public var error: Download.Failure?

        /// Creates a verification.
        public init(asset: String, state: JobState) { (self.asset, self.state) = (asset, state) }
    }

    /// The body of `POST /api/v1/assets/<name>/verification`. Optional.
    public struct VerificationRequest: Codable, Equatable, Sendable {
        /// True to fetch missing pieces that a download has selected, and damaged pieces.
        public var repair: Bool?

        /// Creates a request.
        public init(repair: Bool? = nil) { self.repair = repair }
    }
}

extension API.Verification {
    /// Body of `POST`.
    public typealias Request = API.VerificationRequest

    /// See `Job`.
    public static var kind: API.JobKind { .verification }
    /// A verification without repair.
    public static var requestWithoutBody: API.VerificationRequest? { .init() }
}
