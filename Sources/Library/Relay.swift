/// Shares requests with delivery directives: the running ones, which others join, and the latest responses.
///
/// A blocking reload depends only on the directives, so players with equal directives get the same response. rfc8216bis
/// allows caches to keep it far longer than this type does.
struct Relay {
    /// A request that the origin may hold for some target durations.
    typealias Request = Task<Result<Rendition.Source, LibraryError>, Never>

    private struct Answer {
        let directives: DeliveryDirectives
        let source: Rendition.Source
        let end: ContinuousClock.Instant
    }

    /// Running requests.
    var requests: [DeliveryDirectives: Request] = [:]
    private var answers: [Answer] = []

    /// Maximum number of responses. More players than this hardly ever have different delays.
    private static let limit = 8

    /// The response to these directives, if it is no older than the last target duration.
    func answer(to directives: DeliveryDirectives, now: ContinuousClock.Instant) -> Rendition.Source? {
        answers.last { $0.directives == directives && now < $0.end }?.source
    }

    /// Keeps a response for requests that follow shortly.
    mutating func keep(_ source: Rendition.Source, for directives: DeliveryDirectives, now: ContinuousClock.Instant) {
        if answers.count == Self.limit { answers.removeFirst() }
        answers.append(Answer(directives: directives, source: source, end: now + source.playlist.interval))
    }
}
