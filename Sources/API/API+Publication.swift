extension API {
    /// A publication of an asset as it stands: `POST /api/v1/assets/<name>/publication` begins one, or attaches to the one
    /// under way to the same place; `GET` tells how it stands, and `DELETE` gives it up.
    public struct Publication: Job {
        /// The asset's name.
        public var asset: String
        /// State of the publication; published files stay, however it ends.
        public var state: JobState
        /// The requested target.
        public var target: String?
        /// Number of files; 0 before it is known.
        public var totalFiles = 0
        /// The sum of their lengths.
        public var totalBytes = 0
        /// Number of files that are at the target.
        public var files = 0
        /// The sum of their lengths.
        public var bytes = 0
        /// Number of files that were sent because the target lacked them.
        public var sentFiles = 0
        /// The sum of their lengths.
        public var sentBytes = 0
        /// Number of deleted files of an earlier publication that are not part of this one.
        public var deletedFiles = 0
        /// Error that ended the publication.
        public var error: Problem?

        /// A publication.
        public init(asset: String, state: JobState) { (self.asset, self.state) = (asset, state) }
    }

    /// Body of `POST /api/v1/assets/<name>/publication`.
    ///
    /// The client sends the keys. They stay in memory until the publication has ended, and are in no response and no
    /// log.
    public struct PublicationRequest: Codable, Equatable, Sendable {
        /// Keys for an object store.
        public struct Keys: Codable, Equatable, Sendable {
            /// Names the key.
            public var accessKey: String
            /// The key.
            public var secretKey: String
            /// The session token of temporary keys.
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
    /// Body of `POST`.
    public typealias Request = API.PublicationRequest

    /// See `Job`.
    public static var kind: API.JobKind { .publication }
}
