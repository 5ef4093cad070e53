extension API {
    /// What is stored altogether, and how much room there is for more: `GET /api/v1/store`.
    public struct Store: Codable, Equatable, Sendable {
        /// The disk that the store lies on.
        public struct Disk: Codable, Equatable, Sendable {
            /// Its size in bytes.
            public var totalBytes: Int
            /// What may still be written on it.
            public var freeBytes: Int
            /// What of that is left to others: below it nothing more is kept.
            public var reservedBytes: Int
            /// What may still be kept: `freeBytes` without `reservedBytes`, and never less than 0.
            public var roomBytes: Int

            /// A disk.
            public init(totalBytes: Int, freeBytes: Int, reservedBytes: Int) {
                (self.totalBytes, self.freeBytes, self.reservedBytes) = (totalBytes, freeBytes, reservedBytes)
                roomBytes = max(0, freeBytes - reservedBytes)
            }
        }

        /// The store's folder.
        public var path: String
        /// Why nothing can be kept in it, in a sentence; absent where that is not so.
        public var problem: String?
        /// How many assets the library knows.
        public var assets: Int
        /// The bytes that are stored of all of them.
        public var bytes: Int
        /// How many of `bytes` are there because they flowed, with the limit above which the longest unused make way; the
        /// others are kept.
        public var playCache: PlayCache
        /// The disk; absent where it does not tell.
        public var disk: Disk?
        /// What makes way where the disk is full, beside what flowed: `expired`, `default` or `important`, each with those
        /// before it.
        public var purge: String

        /// A store with nothing in it.
        public init(path: String, playCache: PlayCache, purge: String) {
            (self.path, self.playCache, self.purge) = (path, playCache, purge)
            (assets, bytes) = (0, 0)
        }
    }
}
