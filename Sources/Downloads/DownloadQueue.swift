import Orders

/// Chooses the downloads to run: important ones first, then in the order of requests. It stops none for another. A recording
/// runs at once beside all of them, because what it misses never comes again.
struct DownloadQueue {
    struct Entry: Equatable {
        var id: String
        var priority: Priority
        var state: JobState
        var isRecording = false
    }

    let slots: Int

    /// - Parameter entries: all downloads, in the order of requests.
    func next(of entries: [Entry]) -> [String] {
        let recordings = entries.filter { $0.isRecording && $0.state == .queued }
        let others = entries.filter { !$0.isRecording }
        let free = max(0, slots - others.count { $0.state == .running })
        let queued = others.filter { $0.state == .queued }
        let ordered = queued.filter { $0.priority == .important } + queued.filter { $0.priority == .default }
        return (recordings + ordered.prefix(free)).map(\.id)
    }
}
