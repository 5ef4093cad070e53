import HLS

/// The latest responses to requests with delivery directives: a blocking reload depends on these alone.
struct DirectedResponses {
    private struct Answer {
        let directives: DeliveryDirectives
        let source: Rendition.Source
        let end: ContinuousClock.Instant
    }

    private var answers: [Answer] = []
    /// Maximum number of responses. More players than this hardly ever have different delays.
    private static let limit = 8

    /// The response to these directives, if it is no older than the last target duration.
    func answer(to directives: DeliveryDirectives, now: ContinuousClock.Instant) -> Rendition.Source? {
        answers.last { $0.directives == directives && now < $0.end }?.source
    }

    mutating func keep(_ source: Rendition.Source, for directives: DeliveryDirectives, now: ContinuousClock.Instant) {
        if answers.count == Self.limit {
            answers.removeFirst()
        }
        answers.append(Answer(directives: directives, source: source, end: now + source.playlist.interval))
    }
}
