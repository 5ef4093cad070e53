/// Says if an asset plays without its origin, with the reason.
public struct Playability: Equatable, Sendable {
    /// The short answer.
    public enum Answer: String, Sendable {
        /// Plays from beginning to end.
        case yes
        /// Plays with cuts.
        case part
        /// Does not play, or too little of it.
        case no
    }

    /// The short answer.
    public let answer: Answer
    /// The reason: the complete or the missing parts. Words for a user, without a full stop.
    public let reason: String
    /// Playable duration in seconds; nil if nothing plays, or the duration is unknown.
    public let seconds: Double?

    /// Creates an answer.
    public init(_ answer: Answer, _ reason: String, seconds: Double? = nil) {
        (self.answer, self.reason, self.seconds) = (answer, reason, seconds)
    }
}

/// Counts the missing resources of a rendition.
struct RenditionLack: Equatable {
    /// The number of missing segments, and of all segments; nil if the playlist is unknown.
    var segments: (missing: Int, count: Int)?
    /// Missing keys.
    var keys = 0
    /// Missing initialization sections.
    var sections = 0
    /// Expired keys.
    var expiredKeys = 0
    /// Revoked keys.
    var invalidatedKeys = 0

    /// The stored share, from 0 to 1.
    var share: Double {
        guard let segments, segments.count > 0 else { return 0 }
        return 1 - Double(segments.missing) / Double(segments.count)
    }

    /// Describes the missing resources of a rendition.
    ///
    /// - Parameter name: the rendition's name; nil if the asset has only one.
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
