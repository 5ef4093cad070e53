/// Which downloads run: at most so many at a time, important ones first, then in the order in which they were asked for.
///
/// Pure: it is asked after every change, and remembers nothing. One that runs is never stopped for another's sake.
struct DownloadQueue {
    /// One download, as far as the order depends on it.
    struct Entry: Equatable {
        var id: String
        var priority: DownloadTask.Priority
        var created: Int64
        /// Whether it waits for its turn.
        var isQueued: Bool
        /// Whether it takes a place.
        var isRunning: Bool
    }

    /// The most that run at a time.
    let places: Int

    /// The ids of those that begin now, first come first.
    func next(of entries: [Entry]) -> [String] {
        let free = places - entries.count(where: \.isRunning)
        guard free > 0 else { return [] }
        return entries.enumerated().filter(\.element.isQueued).sorted { left, right in
            let (first, second) = (left.element, right.element)
            if first.priority != second.priority { return first.priority == .important }
            return (first.created, left.offset) < (second.created, right.offset)
        }.prefix(free).map(\.element.id)
    }
}
