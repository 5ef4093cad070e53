extension API {
    /// The way to the page for a browser: `GET /api/v1/page`. It is good as long as the daemon runs.
    public struct PageLink: Codable, Equatable, Sendable {
        /// A path of the daemon, with a key in it.
        public var path: String

        /// A way.
        public init(path: String) { self.path = path }
    }

    /// How much is stored, and may be: `GET /api/v1/storage`.
    public struct StorageUse: Codable, Equatable, Sendable {
        /// The bytes that may still be kept before the part of the disk is touched that stays free; absent where the disk
        /// does not tell, or takes nothing.
        public var room: Int?
        /// What is there because it flowed.
        public var playCache: PlayCache

        /// Figures.
        public init(room: Int?, playCache: PlayCache) {
            self.room = room
            self.playCache = playCache
        }
    }
}
