public import API
public import EventLoop

/// The stream of events of assets and downloads: `GET /api/v1/events`.
///
/// Each event is encoded as JSON once for all readers, and not at all without readers. Readers that arrive at the same
/// time, as browsers do after a restart of the daemon, share one snapshot. A message's id consists of the process's id
/// and the message's number.
@LoopActor public final class EventFeed {
    /// Settings that tests change.
    public struct Configuration: Sendable {
        /// Interval between the comments that keep a quiet stream alive.
        public var heartbeat = Duration.seconds(15)
        /// Maximum number of bytes that wait for a slow client, in addition to the system's socket buffer. A client
        /// that exceeds it is disconnected.
        public var backlog = 256 * 1024
        /// Maximum number of bytes of messages kept for clients that reconnect.
        public var history = 256 * 1024
        /// Time for which readers share a snapshot if no event occurs.
        public var snapshotLife = Duration.seconds(1)

        /// Creates the default settings.
        public init() {}
    }

    private let configuration: Configuration
    private let snapshot: () -> [API.Download]
    private let readiness: () async -> Void
    private var latest: (number: Int, since: ContinuousClock.Instant, message: [UInt8])?
    private let process = String(UInt32.random(in: 0 ... .max), radix: 36)
    private var history: EventHistory
    private var readers: [ObjectIdentifier: EventReader] = [:]
    private var timer: LoopTimer?
    private var isOver = false
    /// Subscriptions to the streams of other rooms.
    var subscriptions: [Subscription] = []

    /// Creates a feed whose events come from `publish`.
    ///
    /// - Parameters:
    ///   - readiness: awaited before a reader starts.
    ///   - snapshot: all downloads that are not complete.
    public init(
        configuration: Configuration = Configuration(), readiness: @escaping () async -> Void = {},
        snapshot: @escaping () -> [API.Download]
    ) {
        self.configuration = configuration
        self.readiness = readiness
        self.snapshot = snapshot
        history = EventHistory(limit: configuration.history)
        timer = LoopTimer { [weak self] in self?.beat() }
    }

    /// Number of readers.
    public var readerCount: Int { readers.count }

    /// Sends an event to all readers. Encodes nothing without readers.
    public func publish(_ event: @autoclosure () -> API.Event) {
        guard !readers.isEmpty else { return history.skip() }
        guard let message = message(event(), number: history.next) else { return }
        history.append(message)
        for reader in readers.values { reader.send(message) }
    }

    /// Ends every stream and starts no more.
    public func end() {
        isOver = true
        for reader in readers.values { reader.end() }
    }

    /// Waits until the first message of a reader can be sent.
    func prepare() async { await readiness() }

    /// Creates the body of a response to one client.
    ///
    /// - Parameter lastEventID: the id of the last message that the client received, from its request.
    func reader(after lastEventID: String?) -> EventReader {
        let reader = EventReader(self, lastEventID: lastEventID, limit: configuration.backlog)
        if isOver { reader.end() }
        return reader
    }

    // MARK: Readers

    /// Adds a reader and returns its first messages.
    func admit(_ reader: EventReader, after lastEventID: String?) -> [[UInt8]] {
        if readers.isEmpty { timer?.schedule(after: configuration.heartbeat) }
        readers[ObjectIdentifier(reader)] = reader
        if let missed = number(of: lastEventID).flatMap(history.messages(after:)) {
            // Something is sent at once, so that the client knows that the stream works.
            return missed.isEmpty ? [EventText.heartbeat] : Array(missed)
        }
        return [snapshotMessage ?? EventText.heartbeat]
    }

    private var snapshotMessage: [UInt8]? {
        if let latest, latest.number == history.last, .now - latest.since < configuration.snapshotLife {
            return latest.message
        }
        let message = message(.snapshot(snapshot()), number: history.last)
        latest = message.map { (history.last, .now, $0) }
        return message
    }

    func forget(_ reader: EventReader) {
        readers[ObjectIdentifier(reader)] = nil
        if readers.isEmpty { timer?.cancel() }
    }

    private func beat() {
        for reader in readers.values { reader.send(EventText.heartbeat) }
        if !readers.isEmpty { timer?.schedule(after: configuration.heartbeat) }
    }

    // MARK: Messages

    private func message(_ event: API.Event, number: Int) -> [UInt8]? {
        // JSON can always encode finite numbers and strings.
        guard let data = try? event.data else { return nil }
        return EventText.message(id: "\(process)-\(number)", name: event.name, data: data)
    }

    /// The number in an id of this process; nil for other ids.
    private func number(of id: String?) -> Int? {
        guard let id, id.hasPrefix(process + "-") else { return nil }
        return Int(id.dropFirst(process.utf8.count + 1))
    }
}
