extension API.Download {
    /// What a download waits for.
    public enum Need: String, Codable, Sendable {
        /// An origin that can be reached, and answers.
        case network
        /// Room on the disk.
        case space
        /// A key that the origin refuses to give.
        case key
        /// The disk on which the asset lies.
        case disk
    }

    /// Which of several downloads begins first.
    public enum Priority: String, Codable, Sendable, CaseIterable {
        /// In the order in which they were asked for.
        case `default`
        /// Before those.
        case important
    }

    /// How far one rendition of a download is.
    public struct Part: Codable, Equatable, Sendable {
        /// What the store calls the rendition.
        public var id: String
        /// `video`, `audio` or `subtitles`; what a variant names by itself is `video`, sound alone included.
        public var kind: String
        /// The media time that is stored of what is wanted, in order. A gap of the origin's (EXT-X-GAP) counts as
        /// stored.
        public var loaded: [TimeRange]
        /// The media time that is wanted, in order.
        public var expected: [TimeRange]
        /// The bytes that are stored.
        public var bytes: Int
        /// The bytes that it will have: an estimate until it is complete.
        public var totalBytes: Int
        /// How far it is, from 0 to 1, by bytes: an estimate, but that 1 is all of it and nothing less.
        public var fraction: Double
        /// Its share of the whole for a reader who adds up selections rather than bytes, in sums of 1: 70 for video, 20
        /// for audio and 10 for subtitles, spread evenly over the renditions of a kind.
        public var weight: Double
        /// Whether everything that is wanted of it is stored.
        public var isComplete: Bool

        /// A rendition of which nothing is stored.
        public init(id: String, kind: String) {
            self.id = id
            self.kind = kind
            (loaded, expected) = ([], [])
            (bytes, totalBytes) = (0, 0)
            (fraction, weight) = (0, 0)
            isComplete = false
        }
    }
}
