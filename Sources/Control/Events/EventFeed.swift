package import Assets
package import Downloads
package import EventLoop
import Integrity
import Orders
package import Sharing
import Store
package import WeirAPI

/// The stream of events: `GET /api/v1/events`. Each event is encoded once for all readers. Readers that arrive at the
/// same time, as browsers do after a restart of the daemon, share one snapshot. A message's id consists of the
/// process's id and a number.
@LoopActor package final class EventFeed {
    /// Settings that tests change.
    package struct Configuration: Sendable {
        /// Interval between the comments that keep a quiet stream alive.
        package var heartbeat = Duration.seconds(15)
        /// Maximum bytes that wait for a slow client, beside the system's socket buffer, before it is disconnected.
        package var backlog = 256 * 1024
        /// Maximum number of bytes of messages kept for clients that reconnect.
        package var history = 256 * 1024
        /// Time for which readers share a snapshot if no event occurs.
        package var snapshotLife = Duration.seconds(1)

        package init() {}
    }

    private let configuration: Configuration
    private let snapshot: () -> [API.Download]
    private let readiness: () async -> Void
    private var latest: (number: Int, since: ContinuousClock.Instant, message: [UInt8])?
    private let process = String(UInt32.random(in: 0 ... .max), radix: 36)
    private var history: EventHistory
    private var readers: [ObjectIdentifier: EventReader] = [:]
    /// Credentials that were revoked. They never become valid again.
    private var ended: Set<Credential> = []
    private var timer: LoopTimer?
    private var isOver = false
    var subscriptions: [Subscription] = []

    /// Creates a feed whose events come from `publish`. `readiness` is awaited before a reader starts; `snapshot`
    /// returns all downloads that are not complete.
    package init(
        configuration: Configuration = Configuration(), readiness: @escaping () async -> Void = {},
        snapshot: @escaping () -> [API.Download]
    ) {
        self.configuration = configuration
        self.readiness = readiness
        self.snapshot = snapshot
        history = EventHistory(limit: configuration.history)
        timer = LoopTimer { [weak self] in self?.beat() }
    }

    package var readerCount: Int { readers.count }

    /// Sends an event to all readers. Encodes nothing without readers.
    package func publish(_ event: @autoclosure () -> API.Event) {
        guard !readers.isEmpty else { return history.skip() }
        let event = event()
        let number = history.next
        guard let message = message(event, number: number) else { return }
        let others = readers.values.filter { !$0.credential.isPhone }
        if others.count < readers.count, let forPhones = event.forPhone.flatMap({ self.message($0, number: number) }) {
            for reader in readers.values where reader.credential.isPhone {
                reader.send(forPhones)
            }
        }
        history.append(message)
        for reader in others {
            reader.send(message)
        }
    }

    package func end() {
        isOver = true
        for reader in readers.values {
            reader.end()
        }
    }

    /// Ends the streams that were opened with a credential.
    func end(_ credential: Credential) {
        ended.insert(credential)
        for reader in readers.values where reader.credential == credential {
            reader.end()
        }
    }

    /// Waits until the first message of a reader can be sent.
    func prepare() async { await readiness() }

    /// Creates the body of a response to a client that has received the messages up to `lastEventID`.
    func reader(after lastEventID: String?, of credential: Credential = .token) -> EventReader {
        let reader = EventReader(self, of: credential, lastEventID: lastEventID, limit: configuration.backlog)
        if isOver || ended.contains(credential) {
            reader.end()
        }
        return reader
    }

    // MARK: Readers

    func admit(_ reader: EventReader, after lastEventID: String?) -> [[UInt8]] {
        if readers.isEmpty {
            timer?.schedule(after: configuration.heartbeat)
        }
        readers[ObjectIdentifier(reader)] = reader
        if ended.contains(reader.credential) {
            return []
        }
        if reader.credential.isPhone {
            guard let snapshot = API.Event.snapshot(snapshot()).forPhone,
                let message = message(snapshot, number: history.last)
            else { return [EventText.heartbeat] }
            return [message]
        }
        if let missed = number(of: lastEventID).flatMap(history.messages(after:)) {
            // Something is sent at once, so that the client knows that the stream works.
            guard !missed.isEmpty else { return [EventText.heartbeat] }
            return Array(missed)
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
        if readers.isEmpty {
            timer?.cancel()
        }
    }

    private func beat() {
        for reader in readers.values {
            reader.send(EventText.heartbeat)
        }
        if !readers.isEmpty {
            timer?.schedule(after: configuration.heartbeat)
        }
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

    /// Creates the feed of a library, which outlives it.
    package convenience init(
        _ downloader: Downloader, of library: Library, configuration: Configuration = Configuration()
    ) {
        self.init(configuration: configuration) {
            await library.summaries?.check()
        } snapshot: {
            downloader.downloads.filter { !library.isComplete($0) }.map { API.Download($0) }
        }
        follow(library)
        subscriptions.append(downloader.changes.subscribe { [weak self] in self?.publish($0.download, $0.event) })
        subscriptions.append(
            downloader.integrity.jobs.changes.subscribe { [weak self] job in
                self?.publish(.verification(API.Verification(job)))
            })
    }

    private func publish(_ download: Download, _ event: DownloadEvent) {
        let id = download.asset.id
        let name = download.asset.name
        switch event {
        case .state:
            publish(.download(.state, API.Download(download)))
            if download.state == .complete {
                publish(.download(.complete, API.Download(download)))
            }
            if download.state == .failed {
                publish(.download(.error, API.Download(download)))
            }
        case .progress: publish(.download(.progress, API.Download(download)))
        case .renditionComplete(let rendition):
            publish(.renditionComplete(.init(id: id, asset: name, rendition: rendition)))
        case .selectionResolved(let selection):
            publish(.selectionResolved(API.Event.Selection(selection, of: download.asset)))
        case .selectionComplete(let selection):
            publish(.selectionComplete(API.Event.Selection(selection, of: download.asset)))
        case .selectionsFurther:
            publish(
                .selectionsFurther(
                    .init(id: id, asset: name, unselected: AssetShapes(download.asset).tracks(besides: download.ids))))
        case .removed: publish(.removed(.init(id: id, asset: name)))
        }
    }

    /// Also publishes changes of the library's assets, keys and mode. Call it once.
    func follow(_ library: Library) {
        subscriptions.append(library.events.subscribe { [weak self] in self?.publish($0) })
    }

    private func publish(_ event: LibraryEvent) {
        switch event {
        case .assetChanged(let asset):
            // A revision has the name of the asset that it revises.
            if !asset.isRevision {
                publish(.changed(.init(id: asset.id, asset: asset.name)))
            }
        case .contentChanged(let asset): publish(.contentChanged(.init(id: asset.id, asset: asset.name)))
        case .modeChanged(let mode): publish(.mode(API.Mode(mode)))
        case .purged(let asset, let purge):
            publish(.purged(.init(asset: asset.name, id: asset.id, purge: purge)))
        case .keysChanged(let asset, let change, let numbers):
            var expiration: Int?
            if change == .expiring {
                let dates = numbers.compactMap { asset.keys.life(of: $0).expiration(by: asset.keys.terms) }
                expiration = dates.min().map(Int.init)
            }
            publish(
                .keys(.init(asset: asset.name, id: asset.id, change: change, keys: numbers, expiration: expiration)))
        default: break
        }
    }

    package func follow(_ mover: Mover) {
        subscriptions.append(mover.jobs.changes.subscribe { [weak self] move in self?.publish(.move(API.Move(move))) })
    }
}
