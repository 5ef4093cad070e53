public import EventLoop

/// What happens to assets and downloads, for whoever listens: `GET /api/v1/events`.
///
/// An event is written as JSON once, however many listen, and not at all when nobody does; so is the snapshot that those
/// begin with who come at the same time, as browsers do to a daemon that was started anew. A message's id is that of this
/// process and its number.
@LoopActor public final class EventFeed {
    /// What a test may set.
    public struct Configuration: Sendable {
        /// The time between two comments that keep a quiet stream alive.
        public var heartbeat = Duration.seconds(15)
        /// The most bytes that wait for a client which does not read; with more it is cut off. Beside what the system
        /// holds.
        public var backlog = 256 * 1024
        /// The most bytes of messages that are kept for a client that comes back.
        public var history = 256 * 1024
        /// So long a snapshot is good for others, if nothing happens.
        public var snapshotLife = Duration.seconds(1)

        /// The defaults.
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
    /// To the events of the library.
    var subscription: Subscription?

    /// A feed that is told what to send by `publish`.
    ///
    /// - Parameters:
    ///   - readiness: waited for before a reader begins.
    ///   - snapshot: all downloads that are not complete, as they stand.
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

    /// How many listen.
    public var readerCount: Int { readers.count }

    /// Sends an event to everybody, if there is anybody.
    public func publish(_ event: @autoclosure () -> API.Event) {
        guard !readers.isEmpty else { return history.skip() }
        guard let message = message(event(), number: history.next) else { return }
        history.append(message)
        for reader in readers.values { reader.send(message) }
    }

    /// Ends every stream, and begins no other.
    public func end() {
        isOver = true
        for reader in readers.values { reader.end() }
    }

    /// Waits until a reader's first message can be told.
    func prepare() async { await readiness() }

    /// A body for a reply to one client.
    ///
    /// - Parameter lastEventID: the id of the last message that it had before, as it says.
    func reader(after lastEventID: String?) -> EventReader {
        let reader = EventReader(self, lastEventID: lastEventID, limit: configuration.backlog)
        if isOver { reader.end() }
        return reader
    }

    // MARK: The readers' side

    /// Takes a reader in: what it begins with.
    func admit(_ reader: EventReader, after lastEventID: String?) -> [[UInt8]] {
        if readers.isEmpty { timer?.schedule(after: configuration.heartbeat) }
        readers[ObjectIdentifier(reader)] = reader
        if let missed = number(of: lastEventID).flatMap(history.messages(after:)) {
            // Something comes at once, so that a client knows that it is listened to.
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
        // Finite numbers and strings are always JSON.
        guard let data = try? event.data else { return nil }
        return EventText.message(id: "\(process)-\(number)", name: event.name, data: data)
    }

    /// The number of a message of this process.
    private func number(of id: String?) -> Int? {
        guard let id, id.hasPrefix(process + "-") else { return nil }
        return Int(id.dropFirst(process.utf8.count + 1))
    }
}
