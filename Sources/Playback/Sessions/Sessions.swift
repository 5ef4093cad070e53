public import AccessLog
public import EventLoop
import HTTPMessage
import HTTPServer
import Library
import Playheads

/// The sessions of all players: one for each entry playlist that was loaded and of which something was asked for, until
/// it ends by idleness.
@LoopActor public final class Sessions {
    /// The logs' place.
    public struct Configuration: Sendable {
        /// The folder of the logs; nil for none.
        public var folder: String?
        /// How many days' files are kept; 0 for no log.
        public var days = 30
        /// How the files call who writes them.
        public var software = "Weir"
        /// The time of day, in seconds since 1970 in UTC.
        public var date: @Sendable () -> Double = { WallClock.seconds }

        /// No logs.
        public init() {}
    }

    /// An entry playlist that was loaded.
    private struct Entry {
        let at: ContinuousClock.Instant
        let client: String?
    }

    private let library: Library
    private let log: LogWriter
    private let clock: SessionClock
    /// Who writes the logs, as it stands in them.
    public let software: String
    private let servedBytes = ServedBytes()
    private var records: [String: SessionRecord] = [:]
    private var ended: [SessionSummary] = []
    /// The last reports to those, by the player's name for its playback.
    private var reports: [(id: String, report: PlayerReport)] = []
    /// The sessions of which nothing was asked for yet: mpv loads an entry twice, and leaves one of them at that.
    private var entries: [String: Entry] = [:]
    private var sweep: LoopTimer?
    private var playheadEvents: Subscription?
    private var failures: [String: ContinuousClock.Instant] = [:]

    private static let limit = 256
    private static let endedLimit = 64
    private static let sweepPause = Duration.seconds(15)
    private static let idleness = Duration.seconds(60)
    /// So long the same failure of the same piece is not told again.
    private static let failureLife = Duration.seconds(10)

    /// - Parameter report: told of trouble with the logs, once, in a sentence.
    init(library: Library, _ configuration: Configuration, report: @escaping @Sendable (String) -> Void) {
        self.library = library
        software = configuration.software
        let days = configuration.folder == nil ? 0 : configuration.days
        let folder = LogFolder(path: configuration.folder ?? "", days: days, software: software)
        clock = SessionClock(library.playheads, wall: configuration.date)
        log = LogWriter(to: folder, date: configuration.date, report: report)
        sweep = LoopTimer { [weak self] in self?.sweepOut() }
        playheadEvents = library.playheads.events.subscribe { [weak self] event in
            self?.records[event.session]?.saw(event)
        }
    }

    // MARK: What playback tells

    /// A player has loaded an entry playlist.
    func enter(_ session: Session, _ exchange: Exchange) {
        // Live entries are loaded again and again.
        guard records[session.id] == nil, entries[session.id] == nil else { return }
        if entries.count >= Self.limit, let oldest = entries.min(by: { $0.value.at < $1.value.at }) {
            entries[oldest.key] = nil
        }
        entries[session.id] = Entry(at: clock.instant, client: Self.client(exchange.head))
    }

    /// The record of a session of which something is asked for: a new one, where it is not known.
    func record(of session: Session, _ asset: Asset, _ exchange: Exchange) -> SessionRecord {
        if let known = records[session.id], known.asset === asset { return known }
        records[session.id]?.close()
        let entry = entries.removeValue(forKey: session.id)
        if records.isEmpty { sweep?.schedule(after: Self.sweepPause) }
        if records.count >= Self.limit, let quietest = records.values.min(by: { $0.lastEvent < $1.lastEvent }) {
            end(quietest)
        }
        let record = SessionRecord(
            session.id, of: asset, client: entry?.client ?? Self.client(exchange.head), entered: entry?.at,
            isOffline: session.mode == .offline || library.isOffline, isAdaptive: session.mode == .adaptive,
            clock: clock,
            log: log, served: servedBytes)
        records[session.id] = record
        return record
    }

    /// What the player calls itself, as far as that can be printed.
    private static func client(_ head: RequestHead) -> String? {
        guard let name = head.firstValue(of: .userAgent), !name.isEmpty else { return nil }
        return String(decoding: name.prefix(256).filter { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self)
    }

    /// Something that a player asked for and did not get.
    func failed(_ failure: Failure) {
        let subject = failure.subject
        let key = "\(subject.session?.id ?? "") \(subject.uri ?? "") \(failure.status)"
        let now = clock.instant
        if let last = failures[key], now - last < Self.failureLife { return }
        if failures.count >= Self.limit { failures = failures.filter { now - $0.value < Self.failureLife } }
        guard failures.count < Self.limit else { return }
        failures[key] = now
        var event = ErrorEvent(
            time: clock.date, uri: subject.uri, status: failure.status, domain: failure.domain,
            comment: failure.comment)
        event.session = subject.session?.id
        event.asset = subject.asset?.name
        event.guid = subject.session.flatMap { records[$0.id]?.guid }
        log.write(event)
    }

    /// Takes what a player reports of its playback.
    ///
    /// - Parameter id: of the session, as it stands in its URLs or in the logs, or the player's own name for the playback
    ///   (CMCD's `sid`).
    /// - Returns: the session as it then stands; nil where none goes on that is called so.
    public func take(_ report: PlayerReport, of id: String) -> SessionSummary? {
        library.playheads.catchUp()
        let record = records[id] ?? records.values.first { $0.guid == id || $0.playerID == id }
        guard let record else { return nil }
        let name = record.playerID
        record.takes(report, since: reports.last { $0.id == name }?.report)
        return record.summary
    }

    // MARK: Ends

    private func sweepOut() {
        endIdle()
        if !records.isEmpty { sweep?.schedule(after: Self.sweepPause) }
    }

    /// Ends the sessions of which nobody has asked for anything as long as players do who are there.
    func endIdle() {
        let now = clock.instant
        for record in records.values where now - record.lastEvent > Self.idleness {
            if library.playheads.reading(of: record.id) == nil { end(record) }
        }
    }

    private func end(_ record: SessionRecord) {
        record.close()
        records[record.id] = nil
        ended.append(record.summary)
        if ended.count > Self.endedLimit { ended.removeFirst() }
        guard let id = record.playerID, let report = record.report else { return }
        reports.append((id, report))
        if reports.count > Self.endedLimit { reports.removeFirst() }
    }

    /// Ends all sessions; returns when the logs are written.
    public func close() async {
        library.playheads.catchUp()
        for record in records.values { end(record) }
        await log.flush()
    }

    // MARK: What others ask

    /// How many go on.
    public var count: Int { records.count }

    /// The bytes of media that players were sent since the start, by where they came from.
    public var served: SourceBytes { servedBytes.bytes }

    /// The sessions that go on, and the last ones that ended, in the order in which they began.
    public var summaries: [SessionSummary] {
        library.playheads.catchUp()
        return (ended + records.values.map(\.summary)).sorted { $0.began < $1.began }
    }

    /// The access log: what was written, and what is open as it stands; oldest first.
    public func accessEvents(_ query: LogQuery) async -> [AccessEvent] {
        // What has left the screen by now is written first.
        for record in records.values { _ = record.current }
        let written: [AccessEvent] = await log.events(query)
        library.playheads.catchUp()
        let open = records.values.flatMap(\.current).filter { $0.requests > 0 && query.matches($0) }
        return Array((written + open.sorted { $0.began < $1.began }).suffix(query.limit))
    }

    /// The error log, oldest first.
    public func errorEvents(_ query: LogQuery) async -> [ErrorEvent] { await log.events(query) }
}
