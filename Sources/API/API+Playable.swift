extension API {
    /// Whether an asset plays without its origin, after its pieces were compared with the disk.
    public struct Playable: Codable, Equatable, Sendable {
        /// The answer in a word.
        public enum Answer: String, Codable, Sendable {
            /// From its beginning to its end.
            case yes
            /// With stretches cut out.
            case part
            /// Not at all, or too little to be called so.
            case no
        }

        /// The answer.
        public var answer: Answer
        /// What it rests on, in words: what is whole, or what is missing.
        public var reason: String
        /// How long that lasts which plays, in seconds; absent where that is nothing, or not known.
        public var duration: Double?

        /// An answer.
        public init(_ answer: Answer, _ reason: String, duration: Double? = nil) {
            (self.answer, self.reason, self.duration) = (answer, reason, duration.map(API.milliseconds))
        }
    }
}
