/// Chooses the downloads that run: up to a maximum number, important ones first, then in the order of requests.
///
/// Pure and stateless: evaluated after every change. A running download is never stopped for another one.
struct DownloadQueue {
    /// The properties of a download that the order depends on.
    struct Entry: Equatable {
        var id: String
        var priority: DownloadTask.Priority
        /// True if it waits for its turn.
        var isQueued: Bool
        /// True if it uses one of the places.
        var isRunning: Bool
    }

    /// Maximum number of running downloads.
    let places: Int

    /// Returns the ids of the downloads to start, in order.
    ///
    /// - Parameter entries: all downloads, in the order of requests.
    func next(of entries: [Entry]) -> [String] {
        let free = places - entries.count(where: \.isRunning)
        guard free > 0 else { return [] }
        let queued = entries.filter(\.isQueued)
        let ordered = queued.filter { $0.priority == .important } + queued.filter { $0.priority == .normal }
        return ordered.prefix(free).map(\.id)
    }
}
