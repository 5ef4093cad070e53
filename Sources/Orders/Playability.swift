/// Says if an asset plays without its origin, with the reason.
public struct Playability: Codable, Equatable, Sendable {
    /// The short answer.
    public enum Answer: String, Codable, Sendable {
        /// Plays from beginning to end.
        case yes
        /// Plays with cuts.
        case partial
        /// Does not play, or too little of it.
        case no
    }

    /// The short answer.
    public var answer: Answer
    /// The complete or the missing parts. Words for a user, without a full stop.
    public var reason: String
    /// Playable duration in seconds; nil if it is 0 or not known.
    public var duration: Double?

    /// Makes an answer; the duration is rounded to milliseconds.
    public init(_ answer: Answer, _ reason: String, duration: Double? = nil) {
        self.answer = answer
        self.reason = reason
        self.duration = duration.map { ($0 * 1000).rounded() / 1000 }
    }
}
