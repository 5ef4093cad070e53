extension API {
    /// A verification of an asset as it stands: `POST /api/v1/assets/<name>/verification` begins one, or attaches to the one
    /// under way; `GET` tells how it stands, and `DELETE` gives it up.
    public struct Verification: Job {
        /// Consecutive missing pieces.
        public struct Hole: Codable, Equatable, Sendable {
            /// Their range of media time; absent for keys and initialization sections.
            public var time: Download.TimeRange?
            /// File name of the first piece.
            public var first: String
            /// File name of the last piece.
            public var last: String
            /// Number of pieces.
            public var count: Int
            /// True if a download has selected them.
            public var isWanted: Bool

            /// A hole.
            public init(time: Download.TimeRange?, first: String, last: String, count: Int, isWanted: Bool) {
                (self.time, self.first, self.last) = (time, first, last)
                (self.count, self.isWanted) = (count, isWanted)
            }
        }

        /// A damaged piece.
        public struct Mismatch: Codable, Equatable, Sendable {
            /// Its file.
            public var file: String
            /// Its range of media time; absent if it is not known, and for keys and initialization sections.
            public var time: Download.TimeRange?
            /// `length`: it was cut, or longer; `bytes`: its SHA-256 was another one; `unreadable`: the disk gave an error.
            public var fault: String
            /// True if the piece was repaired.
            public var isMended: Bool

            /// A mismatch.
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
            /// The sum of their lengths.
            public var bytes: Int
            /// The stretches of media time that are there.
            public var whole: [Download.TimeRange]
            /// Missing pieces, without the damaged ones.
            public var holes: [Hole]
            /// Damaged pieces.
            public var mismatches: [Mismatch]
            /// Number of missing pieces that a download has selected, plus damaged pieces that were not repaired.
            public var remaining: Int

            /// A part of which nothing is missing.
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
        /// The bytes that were read.
        public var bytes = 0
        /// The bytes that there were to read.
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

        /// A verification.
        public init(asset: String, state: JobState) { (self.asset, self.state) = (asset, state) }
    }

    /// Body of `POST /api/v1/assets/<name>/verification`; may be left out.
    public struct VerificationRequest: Codable, Equatable, Sendable {
        /// True to fetch missing pieces that a download has selected, and damaged pieces.
        public var repair: Bool?

        /// A request.
        public init(repair: Bool? = nil) { self.repair = repair }
    }
}

extension API.Verification {
    /// Body of `POST`.
    public typealias Request = API.VerificationRequest

    /// See `Job`.
    public static var kind: API.JobKind { .verification }
    /// One that fetches nothing.
    public static var requestWithoutBody: API.VerificationRequest? { .init() }
}
