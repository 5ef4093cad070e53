extension OriginClient {
    /// Limits on requests to origins. The defaults are the product's.
    public struct Configuration: Sendable {
        /// When to give up.
        public var giveUpRule = GiveUpRule()
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
        /// The largest allowed ratio of decoded to compressed size.
        public var compressionRatioLimit: Int64 = 100
        /// libcurl's read buffer for media, in bytes. Playlists use libcurl's default of 16 KB.
        public var bufferSize = 512 * 1024
        /// Idle connections kept per pool.
        public var idleConnections = 32

        /// The defaults.
        public init() {}
    }
}
