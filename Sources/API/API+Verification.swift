extension API {
    /// A verification of an asset as it stands: `POST /api/v1/assets/<name>/verification` begins one, or attaches to the one
    /// under way; `GET` tells how it stands, and `DELETE` gives it up.
    public struct Verification: Job {
        /// Pieces that are missing, one behind the other.
        public struct Hole: Codable, Equatable, Sendable {
            /// When they would play; absent for keys and initialization sections.
            public var time: Download.TimeRange?
            /// The file of the first.
            public var first: String
            /// The file of the last.
            public var last: String
            /// How many they are.
            public var count: Int
            /// Whether a download wants them.
            public var isWanted: Bool

            /// A hole.
            public init(time: Download.TimeRange?, first: String, last: String, count: Int, isWanted: Bool) {
                (self.time, self.first, self.last) = (time, first, last)
                (self.count, self.isWanted) = (count, isWanted)
            }
        }

        /// A piece that was not what had come.
        public struct Mismatch: Codable, Equatable, Sendable {
            /// Its file.
            public var file: String
            /// When it plays; absent where that is not known, and for keys and initialization sections.
            public var time: Download.TimeRange?
            /// `length`: it was cut, or longer; `bytes`: its SHA-256 was another one; `unreadable`: the disk gave an error.
            public var fault: String
            /// Whether it is there again.
            public var isMended: Bool

            /// A mismatch.
            public init(file: String, time: Download.TimeRange?, fault: String, isMended: Bool) {
                (self.file, self.time, self.fault, self.isMended) = (file, time, fault, isMended)
            }
        }

        /// A rendition, or the asset's keys or session data.
        public struct Part: Codable, Equatable, Sendable {
            /// What the store calls it.
            public var id: String
            /// How many pieces are there, and right.
            public var pieces: Int
            /// The sum of their lengths.
            public var bytes: Int
            /// The stretches of media time that are there.
            public var whole: [Download.TimeRange]
            /// What is missing; what was wrong aside.
            public var holes: [Hole]
            /// What was wrong.
            public var mismatches: [Mismatch]
            /// How many pieces are missing that a download wants, or were wrong and are not there again.
            public var remaining: Int

            /// A part of which nothing is missing.
            public init(id: String, pieces: Int, bytes: Int, whole: [Download.TimeRange]) {
                (self.id, self.pieces, self.bytes, self.whole) = (id, pieces, bytes, whole)
                (holes, mismatches, remaining) = ([], [], 0)
            }
        }

        /// The asset's name.
        public var asset: String
        /// Where it is.
        public var state: JobState
        /// Whether what is missing is fetched.
        public var isRepair = false
        /// The bytes that were read.
        public var bytes = 0
        /// The bytes that there were to read.
        public var totalBytes = 0
        /// How many pieces a download lacked, or were wrong, when all was read.
        public var found = 0
        /// How many of them are not there again.
        public var remaining = 0
        /// When all of the asset was last verified, in seconds since 1970; absent if it never was.
        public var verified: Int?
        /// What was found; absent before everything was read.
        public var parts: [Part]?
        /// What kept it from its end.
        public var error: Download.Failure?

        /// A verification.
        public init(asset: String, state: JobState) { (self.asset, self.state) = (asset, state) }
    }

    /// What `POST /api/v1/assets/<name>/verification` takes; no body for none of it.
    public struct VerificationRequest: Codable, Equatable, Sendable {
        /// Whether what a download wants is fetched where it is missing, and what else was wrong.
        public var repair: Bool?

        /// A request.
        public init(repair: Bool? = nil) { self.repair = repair }
    }
}

extension API.Verification {
    /// What `POST` takes.
    public typealias Request = API.VerificationRequest

    /// See `Job`.
    public static var kind: API.JobKind { .verification }
    /// One that fetches nothing.
    public static var requestWithoutBody: API.VerificationRequest? { .init() }
}
