/// The callers that wait for a moment of a fetch, in the order of their calls. Pure, though it holds closures: each is called once, to
/// resume a task or to answer one request.
struct FetchObservers {
    enum Moment {
        case announced, arrived, ended
        /// No player waits for bytes any more: all have arrived, the last one has left, or the fetch has ended.
        case unawaited
    }

    typealias Observer = (Result<Void, FetchError>) -> Void

    private var announced: [Observer] = []
    private var arrived: [Observer] = []
    private var unawaited: [Observer] = []
    private var ended: [Observer] = []

    mutating func add(at moment: Moment, _ notify: @escaping Observer) {
        switch moment {
        case .announced: announced.append(notify)
        case .arrived: arrived.append(notify)
        case .unawaited: unawaited.append(notify)
        case .ended: ended.append(notify)
        }
    }

    /// Removes those that wait for this moment.
    mutating func take(_ moment: Moment) -> [Observer] {
        var taken: [Observer] = []
        switch moment {
        case .announced: swap(&taken, &announced)
        case .arrived: swap(&taken, &arrived)
        case .unawaited: swap(&taken, &unawaited)
        case .ended: swap(&taken, &ended)
        }
        return taken
    }

    /// Removes all, at the end. Those that wait for an earlier moment are notified of the end, first; those that wait for the last byte
    /// are not.
    mutating func takeAtEnd() -> [Observer] {
        arrived = []
        // Nearly always all others have gone.
        guard announced.isEmpty, unawaited.isEmpty else {
            return take(.announced) + take(.unawaited) + take(.ended)
        }
        return take(.ended)
    }
}
