import Orders

/// Chooses the downloads to run: important ones first, then in the order of requests. It stops none for another.
struct DownloadQueue {
    struct Entry: Equatable {
        var id: String
        var priority: Priority
        var state: JobState
    }

    let slots: Int

    /// - Parameter entries: all downloads, in the order of requests.
    func next(of entries: [Entry]) -> [String] {
        let free = slots - entries.count { $0.state == .running }
        guard free > 0 else { return [] }
        let queued = entries.filter { $0.state == .queued }
        let ordered = queued.filter { $0.priority == .important } + queued.filter { $0.priority == .default }
        return ordered.prefix(free).map(\.id)
    }
}
