extension OriginClient {
    /// The limits of what is done to origins, and for how long they are waited for. The defaults are the product's.
    public struct Configuration: Sendable {
        /// For the name, the connection and TLS together.
        public var connectLimit = Duration.seconds(5)
        /// From the beginning of a try until the head of its reply.
        public var firstByteLimit = Duration.seconds(15)
        /// A body must bring `stallBytes` in each such span.
        public var stallSpan = Duration.seconds(30)
        /// 1 KB/s over the span of 30 s.
        public var stallBytes: Int64 = 30 * 1024
        /// A body that a player waits for who has nothing else is asked for anew from where it is, on another connection,
        /// if nothing of it comes for so long: after a change of networks nobody says that the old connection is dead.
        public var silenceSpan = Duration.seconds(8)
        /// What a request without a policy of its own does after failures.
        public var retries = RetryPolicy()
        /// The same while a player waits for the rest of a body, and the origin is away.
        public var retriesBehindAReply = RetryPolicy.behindAReply
        /// In a row, for one try.
        public var redirectLimit = 5
        /// Requests at once to one (scheme, host, port).
        public var placesPerHost = 6
        /// Places of these that playback takes from downloads, and that are kept for it while it goes on: see
        /// `HostQueue`.
        public var placesInReserve = 1
        /// Sent where a request has no User-Agent of its own.
        public var userAgent = "Weir/1.0"
        /// Decoded bytes of what `fetch` collects, where the request has no lower limit.
        public var playlistLimit: Int64 = 8 * 1024 * 1024
        /// Time for what `fetch` collects, where the request has no deadline.
        public var playlistDeadline = Duration.seconds(30)
        /// How many times larger a compressed body may become.
        public var compressionRatioLimit: Int64 = 100
        /// Transfers in a row that cannot reach an origin before it is presumed absent.
        public var absenceThreshold = 2
        /// How long it is, at first and at most.
        public var absencePauses = Duration.seconds(5)...Duration.seconds(60)
        /// For how long after somebody wanted something of an absent origin it is probed for nobody in particular.
        public var absenceInterest = Duration.seconds(600)
        /// What libcurl reads at once. Media comes fast; playlists are read with libcurl's own 16 KB.
        public var bufferSize = 512 * 1024
        /// Connections kept for later requests, per pool.
        public var idleConnections = 32

        /// The defaults.
        public init() {}
    }
}
