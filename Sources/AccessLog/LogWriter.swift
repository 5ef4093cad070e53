public import EventLoop

/// The way from the loop to the log's files: events wait here while earlier ones are written, so that they keep their
/// order and no request waits for a disk.
@LoopActor public final class LogWriter {
    private let files: LogFiles
    private let date: @Sendable () -> Double
    private var access: [AccessEvent] = []
    private var errors: [ErrorEvent] = []
    private var writing: Task<Void, Never>?
    /// So many may wait for a disk that hangs; further ones are lost.
    private static let limit = 4096

    /// - Parameters:
    ///   - date: the time of day, in seconds since 1970 in UTC.
    ///   - report: receives one sentence when nothing can be written.
    public init(
        to folder: LogFolder, date: @escaping @Sendable () -> Double, report: @escaping @Sendable (String) -> Void
    ) {
        files = LogFiles(folder, report: report)
        self.date = date
    }

    /// Writes an event in a moment.
    public func write(_ event: AccessEvent) {
        var event = event
        event.logged = date()
        if access.count < Self.limit { access.append(event) }
        begin()
    }

    /// Writes an event in a moment.
    public func write(_ event: ErrorEvent) {
        if errors.count < Self.limit { errors.append(event) }
        begin()
    }

    private func begin() {
        guard writing == nil else { return }
        writing = Task { @LoopActor in
            while !access.isEmpty || !errors.isEmpty {
                let (ended, failed) = (access, errors)
                (access, errors) = ([], [])
                let now = date()
                await files.append(ended, at: now)
                await files.append(failed, at: now)
            }
            writing = nil
        }
    }

    /// Returns when everything is written.
    public func flush() async { await writing?.value }

    /// The written events that a query takes, oldest first.
    public func events<Event: LogEvent>(_ query: LogQuery) async -> [Event] {
        await flush()
        return await files.events(query)
    }
}
