extension API {
    /// A publication of an asset as it stands: `POST /api/v1/assets/<name>/publication` begins one, or attaches to the one
    /// under way to the same place; `GET` tells how it stands, and `DELETE` gives it up.
    public struct Publication: Job {
        /// The asset's name.
        public var asset: String
        /// Where it is; what is there stays, however it ends.
        public var state: JobState
        /// Where it goes, as it was asked for.
        public var target: String?
        /// How many files there are; 0 before that is known.
        public var totalFiles = 0
        /// The sum of their lengths.
        public var totalBytes = 0
        /// How many of them are there.
        public var files = 0
        /// The sum of their lengths.
        public var bytes = 0
        /// How many of these were sent, as they were not there already.
        public var sentFiles = 0
        /// The sum of their lengths.
        public var sentBytes = 0
        /// How many files of an earlier publication were deleted, since they are no part of this one.
        public var deletedFiles = 0
        /// What kept it from its end.
        public var error: Problem?

        /// A publication.
        public init(asset: String, state: JobState) { (self.asset, self.state) = (asset, state) }
    }

    /// What `POST /api/v1/assets/<name>/publication` takes.
    ///
    /// The keys come from who asks, and are kept in memory until the publication has ended: no answer and no log has them.
    public struct PublicationRequest: Codable, Equatable, Sendable {
        /// Keys for an object store.
        public struct Keys: Codable, Equatable, Sendable {
            /// Names the key.
            public var accessKey: String
            /// The key.
            public var secretKey: String
            /// What belongs to keys that hold for a while.
            public var sessionToken: String?

            /// Keys.
            public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
                (self.accessKey, self.secretKey, self.sessionToken) = (accessKey, secretKey, sessionToken)
            }
        }

        /// `s3://BUCKET/PREFIX`, `rsync://HOST/MODULE/PATH`, `HOST:PATH`, or the absolute path of a folder on the daemon's disk.
        public var target: String
        /// The server of an object store that is not AWS's.
        public var endpoint: String?
        /// The region of the bucket; left out, us-east-1.
        public var region: String?
        /// For an object store.
        public var keys: Keys?

        /// A request.
        public init(target: String, endpoint: String? = nil, region: String? = nil, keys: Keys? = nil) {
            (self.target, self.endpoint, self.region, self.keys) = (target, endpoint, region, keys)
        }
    }
}

extension API.Publication {
    /// What `POST` takes.
    public typealias Request = API.PublicationRequest

    /// See `Job`.
    public static var kind: API.JobKind { .publication }
}
