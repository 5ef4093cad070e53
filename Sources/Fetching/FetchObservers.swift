/// The callers that wait for a moment of a fetch, in the order of their calls. Pure, though it holds closures: each is called once, to
/// resume a task or to answer one request.
struct FetchObservers {
    enum Moment {
        case announced, arrived, ended
        /// No player waits for bytes any more: all have arrived, the last one has left, or the fetch has ended.
        case unawaited
    }

    typealias Observer = (Result<Void, FetchError>) -> Void

    private var waiting: [(moment: Moment, notify: Observer)] = []

    mutating func add(at moment: Moment, _ notify: @escaping Observer) { waiting.append((moment, notify)) }

    /// Removes those that wait for this moment.
    mutating func take(_ moment: Moment) -> [Observer] {
        guard waiting.contains(where: { $0.moment == moment }) else { return [] }
        // Loops instead of closures: this is called several times for each segment.
        var taken: [Observer] = []
        var left: [(moment: Moment, notify: Observer)] = []
        for observer in waiting {
            if observer.moment == moment {
                taken.append(observer.notify)
            } else {
                left.append(observer)
            }
        }
        waiting = left
        return taken
    }

    /// Removes all, at the end. Those that wait for an earlier moment are notified of the end, first; those that wait for the last byte
    /// are not.
    mutating func takeAtEnd() -> [Observer] {
        let all = waiting
        waiting = []
        var taken: [Observer] = []
        for moment in [Moment.announced, .unawaited, .ended] {
            for observer in all where observer.moment == moment {
                taken.append(observer.notify)
            }
        }
        return taken
    }
}
