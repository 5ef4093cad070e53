extension API {
    /// Totals of the store and its disk: `GET /api/v1/store`.
    public struct Store: Codable, Equatable, Sendable {
        /// The store's disk.
        public struct Disk: Codable, Equatable, Sendable {
            /// Size of the disk in bytes.
            public var totalBytes: Int
            /// Free bytes.
            public var freeBytes: Int
            /// Bytes of the reserve, which stay free for other programs.
            public var reservedBytes: Int
            /// Bytes that may still be stored: `freeBytes` minus `reservedBytes`, at least 0.
            public var roomBytes: Int

            /// Creates a disk.
            public init(totalBytes: Int, freeBytes: Int, reservedBytes: Int) {
                (self.totalBytes, self.freeBytes, self.reservedBytes) = (totalBytes, freeBytes, reservedBytes)
                roomBytes = max(0, freeBytes - reservedBytes)
            }
        }

        /// The store's folder.
        public var path: String
        /// The reason why the store is read-only, as a sentence; absent if it can be written.
        public var problem: String?
        /// Number of assets.
        public var assets: Int
        /// Stored bytes of all assets.
        public var bytes: Int
        /// The part of `bytes` that was cached by playback, with the limit above which the least recently used pieces
        /// are evicted. The rest is pinned.
        public var playCache: PlayCache
        /// The disk; absent if it does not report its size.
        public var disk: Disk?
        /// The assets that may be purged when the disk is full, beside cached pieces: `expired`, `default` or
        /// `important`, each including the ones before it.
        public var purge: String

        /// Creates an empty store.
        public init(path: String, playCache: PlayCache, purge: String) {
            (self.path, self.playCache, self.purge) = (path, playCache, purge)
            (assets, bytes) = (0, 0)
        }
    }
}
