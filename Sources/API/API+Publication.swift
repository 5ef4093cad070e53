extension API {
    /// The state of a publication of an asset. `POST /api/v1/assets/<name>/publication` starts one, or attaches to a
    /// running one with the same target; `GET` returns its state, and `DELETE` cancels it.
    public struct Publication: Job {
        /// The asset's name.
        public var asset: String
        /// State of the publication; published files stay, however it ends.
        public var state: JobState
        /// The requested target.
        public var target: String?
        /// Number of files; 0 before it is known.
        public var totalFiles = 0
        /// Total bytes of the files.
        public var totalBytes = 0
        /// Number of files that are at the target.
        public var files = 0
        /// Bytes of these files.
        public var bytes = 0
        /// Number of files that were sent because the target lacked them.
        public var sentFiles = 0
        /// Bytes of these files.
        public var sentBytes = 0
        /// Number of deleted files of an earlier publication that are not part of this one.
        public var deletedFiles = 0
        /// Error that ended the publication.
        public var error: Problem?

        /// Creates a publication.
        public init(asset: String, state: JobState) { (self.asset, self.state) = (asset, state) }
    }

    /// Body of `POST /api/v1/assets/<name>/publication`.
    ///
    /// The client sends the keys. They stay in memory until the publication has ended, and are in no response and no
    /// log.
    public struct PublicationRequest: Codable, Equatable, Sendable {
        /// Keys for an object store.
        public struct Keys: Codable, Equatable, Sendable {
            /// The id of the key.
            public var accessKey: String
            /// The secret key.
            public var secretKey: String
            /// The session token of temporary keys.
            public var sessionToken: String?

            /// Creates keys.
            public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
                (self.accessKey, self.secretKey, self.sessionToken) = (accessKey, secretKey, sessionToken)
            }
        }

        /// The target: `s3://BUCKET/PREFIX`, `rsync://HOST/MODULE/PATH`, `HOST:PATH`, or the absolute path of a folder
        /// on the daemon's disk.
        public var target: String
        /// The URL of an object store other than AWS.
        public var endpoint: String?
        /// The region of the bucket; if absent, us-east-1.
        public var region: String?
        /// The keys of an object store.
        public var keys: Keys?

        /// Creates a request.
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
