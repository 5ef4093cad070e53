/// Whether something plays without its origin, with the reason.
public struct Playability: Equatable, Sendable {
    /// The answer in a word.
    public enum Answer: String, Sendable {
        /// From its beginning to its end.
        case yes
        /// With stretches cut out.
        case part
        /// Not at all, or too little to be called so.
        case no
    }

    /// The answer.
    public let answer: Answer
    /// What the answer rests on: what is whole, or what is missing. Words for a person, without a full stop.
    public let reason: String
    /// How long that lasts which plays, in seconds; nil where it is nothing, or not known.
    public let seconds: Double?

    /// An answer.
    public init(_ answer: Answer, _ reason: String, seconds: Double? = nil) {
        (self.answer, self.reason, self.seconds) = (answer, reason, seconds)
    }
}

/// What keeps a rendition from being whole.
struct RenditionLack: Equatable {
    /// How many of its segments are not there, and how many it has; nil where its playlist is not known.
    var segments: (missing: Int, count: Int)?
    /// Keys that are not there.
    var keys = 0
    /// Initialization sections that are not there.
    var sections = 0
    /// Keys whose time is over.
    var expiredKeys = 0
    /// Keys that a person has taken back.
    var invalidatedKeys = 0

    /// How much of it is there, from 0 to 1.
    var share: Double {
        guard let segments, segments.count > 0 else { return 0 }
        return 1 - Double(segments.missing) / Double(segments.count)
    }

    /// What is missing of the rendition that is called so, in words.
    ///
    /// - Parameter name: nil where there is no other one.
    func sentences(about name: String?) -> [String] {
        let name = name.map { " of \($0)" } ?? ""
        guard let segments else { return ["the playlist\(name) is not known yet"] }
        var sentences: [String] = []
        if segments.missing > 0 {
            let segment = segments.count == 1 ? "segment" : "segments"
            let isMissing = segments.missing == 1 ? "is missing" : "are missing"
            sentences.append("\(segments.missing) of \(segments.count) \(segment)\(name) \(isMissing)")
        }
        if sections > 0 { sentences.append(Self.sentence("initialization section", sections, name)) }
        if keys > 0 { sentences.append(Self.sentence("key", keys, name)) }
        if expiredKeys > 0 {
            sentences.append(
                expiredKeys == 1 ? "the key\(name) has expired" : "\(expiredKeys) keys\(name) have expired")
        }
        if invalidatedKeys > 0 {
            sentences.append(
                invalidatedKeys == 1
                    ? "the key\(name) was invalidated" : "\(invalidatedKeys) keys\(name) were invalidated")
        }
        return sentences
    }

    private static func sentence(_ what: String, _ count: Int, _ name: String) -> String {
        count == 1 ? "the \(what)\(name) is missing" : "\(count) \(what)s\(name) are missing"
    }

    static func == (left: Self, right: Self) -> Bool {
        left.segments?.missing == right.segments?.missing && left.segments?.count == right.segments?.count
            && left.keys == right.keys && left.sections == right.sections
            && left.expiredKeys == right.expiredKeys && left.invalidatedKeys == right.invalidatedKeys
    }
}
