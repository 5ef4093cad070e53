/// What players asked of an origin by directives: requests under way, which others join, and the last answers.
///
/// The directives are all that a blocking reload depends on, so players that ask alike get the same answer; rfc8216bis
/// lets caches keep it far longer than is done here.
struct Relay {
    /// A request that the origin may hold back for some target durations.
    typealias Request = Task<Result<Rendition.Source, LibraryError>, Never>

    private struct Answer {
        let directives: DeliveryDirectives
        let source: Rendition.Source
        let end: ContinuousClock.Instant
    }

    /// Requests under way.
    var requests: [DeliveryDirectives: Request] = [:]
    private var answers: [Answer] = []

    /// More players than this hardly ever lag behind each other differently.
    private static let limit = 8

    /// The answer to these directives, if it came within the last target duration.
    func answer(to directives: DeliveryDirectives, now: ContinuousClock.Instant) -> Rendition.Source? {
        answers.last { $0.directives == directives && now < $0.end }?.source
    }

    /// Keeps an answer for those that come a little later.
    mutating func keep(_ source: Rendition.Source, for directives: DeliveryDirectives, now: ContinuousClock.Instant) {
        if answers.count == Self.limit { answers.removeFirst() }
        answers.append(Answer(directives: directives, source: source, end: now + source.playlist.interval))
    }
}
