/// Which downloads run: at most so many at a time, important ones first, then in the order in which they were asked
/// for.
///
/// Pure: it is asked after every change, and remembers nothing. One that runs is never stopped for another's sake.
struct DownloadQueue {
    /// One download, as far as the order depends on it.
    struct Entry: Equatable {
        var id: String
        var priority: DownloadTask.Priority
        /// Whether it waits for its turn.
        var isQueued: Bool
        /// Whether it takes a place.
        var isRunning: Bool
    }

    /// The most that run at a time.
    let places: Int

    /// The ids of those that begin now, the first first.
    ///
    /// - Parameter entries: all downloads, in the order in which they were asked for.
    func next(of entries: [Entry]) -> [String] {
        let free = places - entries.count(where: \.isRunning)
        guard free > 0 else { return [] }
        let queued = entries.filter(\.isQueued)
        let ordered = queued.filter { $0.priority == .important } + queued.filter { $0.priority == .normal }
        return ordered.prefix(free).map(\.id)
    }
}
