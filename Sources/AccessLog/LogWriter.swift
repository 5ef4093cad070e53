package import EventLoop

/// Writes events to the log files in their order, without making a request wait for a disk.
@LoopActor package final class LogWriter {
    private let files: LogFiles
    private let date: @Sendable () -> Double
    private var waiting = LogBatch()
    private var writing: Task<Void, Never>?
    /// Waits for the time to delete the bytes of removed assets; nil if nothing was removed.
    private var erasing: Task<Void, Never>?
    /// Maximum number of events that wait for a disk that hangs; further events are lost.
    private static let limit = 4096
    /// As `limit`, for sessions, which are larger.
    private static let sessionLimit = 64

    /// - Parameters:
    ///   - date: seconds since 1970 in UTC.
    ///   - report: receives one sentence when nothing can be written.
    package init(
        to folder: LogFolder, date: @escaping @Sendable () -> Double, report: @escaping @Sendable (String) -> Void
    ) {
        files = LogFiles(folder, report: report)
        self.date = date
    }

    /// Logs an event, dated now.
    package func write(_ event: AccessEvent) {
        var event = event
        event.logged = date()
        if waiting.access.count < Self.limit {
            waiting.access.append(event)
        }
        begin()
    }

    package func write(_ event: ErrorEvent) {
        if waiting.errors.count < Self.limit {
            waiting.errors.append(event)
        }
        begin()
    }

    package func write(_ timeline: SessionTimeline) {
        if waiting.sessions.count < Self.sessionLimit {
            waiting.sessions.append(timeline)
        }
        begin()
    }

    /// Keeps the timelines of all running sessions, so that they are logged even if the daemon is killed.
    package func keep(_ timelines: [SessionTimeline]) {
        waiting.running = timelines.suffix(Self.sessionLimit)
        begin()
    }

    /// Logs the sessions that a killed daemon has left. To be called before the first session.
    package func recover() {
        waiting.recovers = true
        begin()
        // The daemon before may not have had the time to delete all.
        scheduleErasing()
    }

    /// Stops showing the events so far of a removed asset. Their bytes are deleted within `erasureTime`.
    package func erase(assetNamed name: String, id: String) {
        waiting.erasures.append((name, id))
        begin()
        scheduleErasing()
    }

    /// Gives the events so far of an asset its new name.
    package func rename(assetNamed former: String, to name: String) {
        waiting.renames.append((former, name))
        begin()
    }

    /// Returns when the bytes of all removed assets are deleted from the files.
    package func completeErasures() async {
        await flush()
        await files.completeErasures()
    }

    /// Writes what waits, and deletes the bytes of removed assets, but takes no longer than `limit`: the next start continues.
    package func close(within limit: Duration) async {
        erasing?.cancel()
        let work = Task { @LoopActor in await completeErasures() }
        _ = await work.value(within: limit)
    }

    /// The time until the bytes of a removed asset are deleted: those of several removals are deleted together.
    private static let erasureTime = Duration.seconds(30)

    private func scheduleErasing() {
        guard erasing == nil else { return }
        erasing = Task { @LoopActor in
            try? await LoopActor.pause(for: Self.erasureTime)
            erasing = nil
            if !Task.isCancelled {
                await completeErasures()
            }
        }
    }

    /// Starts to write, unless that is under way.
    private func begin() {
        guard writing == nil else { return }
        writing = Task { @LoopActor in
            while !waiting.isEmpty {
                // More may come while the disk works.
                let batch = waiting
                waiting = LogBatch()
                await files.write(batch, at: date())
            }
            writing = nil
        }
    }

    /// Returns when every queued event is written.
    package func flush() async { await writing?.value }

    package func events<Event: LogEvent>(_ query: LogQuery) async -> [Event] {
        await flush()
        return await files.events(query)
    }
}
