extension OriginClient {
    /// Limits on requests to origins. The defaults are the product's.
    public struct Configuration: Sendable {
        /// Limit for DNS, TCP and TLS together.
        public var connectLimit = Duration.seconds(5)
        /// From the start of an attempt to its reply's head.
        public var firstByteLimit = Duration.seconds(15)
        /// A body must deliver `stallBytes` in each span of this length.
        public var stallSpan = Duration.seconds(30)
        /// 1 KB/s over 30 s.
        public var stallBytes: Int64 = 30 * 1024
        /// If nothing of a body arrives in this time, and a player waits for it and has nothing else, the body is
        /// continued on another connection: after a change of networks nothing reports that the old connection is dead.
        public var silenceSpan = Duration.seconds(8)
        /// The default of requests without their own policy.
        public var retries = RetryPolicy()
        /// The policy while a player waits for the rest of a body and the origin is away.
        public var retriesWhilePlayerWaits = RetryPolicy.whilePlayerWaits
        /// Most consecutive redirects per attempt.
        public var redirectLimit = 5
        /// Most concurrent requests to one (scheme, host, port).
        public var placesPerHost = 6
        /// Places that playback may take from downloads, and that stay reserved while playback continues; see
        /// `HostQueue`.
        public var placesInReserve = 1
        /// The default User-Agent.
        public var userAgent = "Weir/1.0"
        /// Most decoded bytes of a body that `fetch` collects, unless the request has a lower limit.
        public var playlistLimit: Int64 = 8 * 1024 * 1024
        /// Time limit of `fetch`, unless the request has a deadline.
        public var playlistDeadline = Duration.seconds(30)
        /// The largest allowed ratio of decoded to compressed size.
        public var compressionRatioLimit: Int64 = 100
        /// Consecutive transfers that fail to reach an origin before it is presumed absent.
        public var absenceThreshold = 2
        /// First and longest time for which an origin is presumed absent.
        public var absencePauses = Duration.seconds(5)...Duration.seconds(60)
        /// Time for which an absent origin is probed after its last request.
        public var absenceInterest = Duration.seconds(600)
        /// libcurl's read buffer for media, in bytes. Playlists use libcurl's default of 16 KB.
        public var bufferSize = 512 * 1024
        /// Idle connections kept per pool.
        public var idleConnections = 32

        /// The defaults.
        public init() {}
    }
}
