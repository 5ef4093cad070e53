public import AccessLog
package import Assets
public import EventLoop
package import HTTPMessage
package import HTTPServer
import Playheads

/// The records of all players' sessions. A session begins with the first request after its entry, and ends when it is idle.
@LoopActor public final class SessionRecords {
    /// Settings of the sessions and their logs.
    public struct Configuration: Sendable {
        /// Folder of the logs; nil for no logs.
        public var folder: String?
        /// Number of days for which log files are kept; 0 for no logs.
        public var days = 30
        /// Name of the writing program in the log files.
        public var software = "Weir"
        /// Returns the time of day, in seconds since 1970 in UTC.
        package let date: @Sendable () -> Double

        /// Makes a configuration without logs.
        public init() { date = { WallClock.seconds } }

        package init(date: @escaping @Sendable () -> Double) { self.date = date }
    }

    private struct Entry {
        let at: ContinuousClock.Instant
        let client: String?
    }

    private let library: Library
    private let log: LogWriter
    private let date: @Sendable () -> Double
    /// Name of the writing program in the log files.
    public let software: String
    private let servedBytes = ServedBytes()
    private var records: [String: SessionRecord] = [:]
    /// Called with the id of each session that has ended.
    package var whenEnded: ((String) -> Void)?
    /// Notes where players leave films; nil without a history.
    package var history: ViewingHistory?
    private var ended: [SessionSummary] = []
    /// The last reports to ended sessions, by the player's own playback id.
    private var reports: [(id: String, report: PlayerReport)] = []
    /// Loaded entry playlists without a further request. mpv loads an entry twice and uses only one of them.
    private var entries: [String: Entry] = [:]
    private var sweep: LoopTimer?
    private var departures: LoopTimer?
    private var playheadEvents: Subscription?
    private var libraryEvents: Subscription?
    private var failures: [String: ContinuousClock.Instant] = [:]
    private static let limit = 256
    private static let endedLimit = 64
    private static let sweepPause = Duration.seconds(15)
    private static let idleness = Duration.seconds(60)
    /// A player that has closed all its connections and opens none within this time has ended. Seeks take less.
    private static let absence = Duration.seconds(3)
    /// Time between two copies of the running timelines to the disk: a daemon that is killed loses no more of them.
    private static let keeping = Duration.seconds(60)
    private var kept: ContinuousClock.Instant?
    /// A repeated failure of the same resource is not logged again within this time.
    private static let failureLife = Duration.seconds(10)

    /// - Parameter report: called once with a sentence if the logs cannot be written.
    package init(library: Library, _ configuration: Configuration, report: @escaping @Sendable (String) -> Void) {
        self.library = library
        software = configuration.software
        var folder = LogFolder(path: "", days: 0, software: software)
        if let path = configuration.folder {
            folder = LogFolder(path: path, days: configuration.days, software: software)
        }
        date = configuration.date
        log = LogWriter(to: folder, date: configuration.date, report: report)
        log.recover()
        sweep = LoopTimer { [weak self] in self?.sweepOut() }
        departures = LoopTimer { [weak self] in self?.endAbsent() }
        playheadEvents = library.playheads.events.subscribe { [weak self] event in
            self?.records[event.session]?.record(event)
        }
        libraryEvents = library.events.subscribe { [weak self] event in
            switch event {
            case .removed(let asset): self?.erase(asset)
            case .renamed(let asset, let former): self?.rename(asset, from: former)
            default: break
            }
        }
    }

    /// Records that a player has loaded an entry playlist.
    package func enter(_ session: String, _ exchange: Exchange) {
        // Live entry playlists are reloaded again and again.
        guard records[session] == nil, entries[session] == nil else { return }
        if entries.count >= Self.limit, let oldest = entries.min(by: { $0.value.at < $1.value.at }) {
            entries[oldest.key] = nil
        }
        entries[session] = Entry(at: library.playheads.now(), client: Self.client(exchange.head))
    }

    /// Returns the record of a session that sends a request; makes a new one if the session is unknown.
    /// - Parameters:
    ///   - isOffline: true if all resources come from the store.
    ///   - isAdaptive: true if Weir chooses the quality of the segments.
    package func record(
        of session: String, playing asset: Asset, for exchange: Exchange, isOffline: Bool, isAdaptive: Bool
    ) -> SessionRecord {
        if let known = records[session], known.asset === asset {
            return known
        }
        if let other = records[session] {
            other.close()
            whenEnded?(session)
        }
        let entry = entries.removeValue(forKey: session)
        if records.isEmpty {
            sweep?.schedule(after: Self.sweepPause)
        }
        if records.count >= Self.limit, let quietest = records.values.min(by: { $0.lastEvent < $1.lastEvent }) {
            end(quietest)
        }
        let record = SessionRecord(
            session, of: asset, client: entry?.client ?? Self.client(exchange.head), entered: entry?.at,
            isOffline: isOffline || library.isOffline, isAdaptive: isAdaptive, playheads: library.playheads,
            date: date(), log: log, served: servedBytes)
        records[session] = record
        return record
    }

    /// Returns the User-Agent, without unprintable characters.
    static func client(_ head: RequestHead) -> String? {
        guard let name = head.firstValue(of: .userAgent), !name.isEmpty else { return nil }
        return String(decoding: name.prefix(256).filter { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self)
    }

    /// Writes a request that failed to the error log.
    package func recordFailure(_ failed: FailedRequest) {
        let subject = failed.subject
        let key = "\(subject.session ?? "") \(subject.uri ?? "") \(failed.status)"
        let now = library.playheads.now()
        if let last = failures[key], now - last < Self.failureLife {
            return
        }
        if failures.count >= Self.limit {
            failures = failures.filter { now - $0.value < Self.failureLife }
        }
        guard failures.count < Self.limit else { return }
        failures[key] = now

        var event = ErrorEvent(
            time: date(), uri: subject.uri, status: failed.status, domain: failed.domain, comment: failed.comment)
        event.session = subject.session
        event.asset = subject.asset?.name
        event.guid = subject.session.flatMap { records[$0]?.guid }
        log.write(event)
    }

    /// Applies a player's report of its playback.
    /// - Parameter id: the session's id in its URLs or in the logs, or the player's own playback id (CMCD's `sid`).
    /// - Returns: the updated session; nil if no running session has that id.
    public func apply(_ report: PlayerReport, to id: String) -> SessionSummary? {
        library.playheads.catchUp()
        let record = records[id] ?? records.values.first { $0.guid == id || $0.playerID == id }
        guard let record else { return nil }
        let name = record.playerID
        record.apply(report, since: reports.last { $0.id == name }?.report)
        note(record, isLast: false)
        return record.summary
    }

    /// Applies client data that a player sends apart from its requests. Returns false if no running session has its id.
    package func apply(_ data: CMCD) -> Bool {
        guard let id = data.sessionID, let record = records.values.first(where: { $0.playerID == id }) else {
            return false
        }
        library.playheads.catchUp()
        record.apply(data)
        return true
    }

    /// Records that a session's player has closed its last connection.
    func playerLeft() { departures?.schedule(after: Self.absence) }

    /// Ends the sessions whose players have had no connection for long enough.
    private func endAbsent() {
        library.playheads.catchUp()
        let now = library.playheads.now()
        var next: Duration?
        for record in records.values {
            guard let left = record.left else { continue }
            let rest = Self.absence - (now - left)
            if rest <= .zero {
                end(record)
                library.playheads.end(record.id)
            } else {
                next = min(next ?? rest, rest)
            }
        }
        if let next {
            departures?.schedule(after: max(next, .milliseconds(100)))
        }
    }

    private func sweepOut() {
        endAbsent()
        endIdle()
        keepRunning()
        if !records.isEmpty {
            sweep?.schedule(after: Self.sweepPause)
        }
    }

    private func keepRunning() {
        let now = library.playheads.now()
        if let kept, now - kept < Self.keeping {
            return
        }
        kept = now
        log.keep(records.values.compactMap(\.timeline))
    }

    /// Ends sessions that have been without a request for longer than active players ever are.
    func endIdle() {
        let now = library.playheads.now()
        for record in records.values where now - record.lastEvent > Self.idleness {
            if !record.isConnected, library.playheads.reading(of: record.id) == nil {
                end(record)
            }
        }
    }

    private func note(_ record: SessionRecord, isLast: Bool) {
        guard let position = record.reportedPosition else { return }
        history?.note(position, of: record.asset, isLast: isLast)
    }

    private func end(_ record: SessionRecord) {
        note(record, isLast: true)
        record.close()
        records[record.id] = nil
        whenEnded?(record.id)
        ended.append(record.summary)
        if let timeline = record.timeline {
            log.write(timeline)
        }
        if records.isEmpty {
            log.keep([])
            kept = nil
        }
        if ended.count > Self.endedLimit {
            ended.removeFirst()
        }
        guard let id = record.playerID, let report = record.report else { return }
        reports.append((id, report))
        if reports.count > Self.endedLimit {
            reports.removeFirst()
        }
    }

    /// Ends the sessions of a removed asset, and deletes everything recorded about them.
    private func erase(_ asset: Asset) {
        for record in records.values where record.asset === asset {
            record.close()
            records[record.id] = nil
            whenEnded?(record.id)
        }
        ended.removeAll { $0.asset == asset.name }
        log.erase(assetNamed: asset.name, id: asset.id)
    }

    /// Gives an asset's new name to everything recorded about it.
    private func rename(_ asset: Asset, from former: String) {
        // Their open events are logged under the new name later.
        for index in ended.indices where ended[index].asset == former {
            ended[index].asset = asset.name
        }
        log.rename(assetNamed: former, to: asset.name)
    }

    /// Returns when nothing of removed assets is left in the log files.
    package func completeErasures() async { await log.completeErasures() }

    /// Ends all sessions; returns when the logs are written, or the time is over.
    public func close(within limit: Duration = .seconds(5)) async {
        library.playheads.catchUp()
        for record in records.values.sorted(by: { $0.start < $1.start }) {
            end(record)
        }
        await log.close(within: limit)
    }

    /// Number of running sessions.
    public var count: Int { records.count }

    /// Number of running sessions without those in which nothing has happened for a time.
    public func count(withoutSilentFor span: Duration) -> Int {
        library.playheads.catchUp()
        let now = library.playheads.now()
        return records.values.count { now - $0.lastEvent < span }
    }
    /// Bytes of media sent to players since the start, by source.
    public var served: SourceBytes { servedBytes.bytes }

    /// The running sessions and the most recently ended ones, in order of their start.
    public var summaries: [SessionSummary] {
        library.playheads.catchUp()
        return (ended + records.values.map(\.summary)).sorted { $0.began < $1.began }
    }

    /// The access log, oldest first: the written events, then the open ones as they stand.
    public func accessEvents(_ query: LogQuery) async -> [AccessEvent] {
        // Events that have left the screen are written first.
        for record in records.values {
            _ = record.current
        }
        let written: [AccessEvent] = await log.events(query)
        library.playheads.catchUp()
        let open = records.values.flatMap(\.current).filter { $0.requests > 0 && query.matches($0) }
        return Array((written + open.sorted { $0.began < $1.began }).suffix(query.limit))
    }

    /// The timelines of sessions that received media, the running ones too, in order of their start.
    public func timelines(_ query: LogQuery) async -> [SessionTimeline] {
        let written: [SessionTimeline] = await log.events(query)
        library.playheads.catchUp()
        let running = records.values.compactMap(\.timeline).filter(query.matches)
        // Sessions that end at one moment are written in any order.
        return (written + running).sorted { $0.began < $1.began }.suffix(query.limit)
    }

    /// The timeline of the session with an id or UUID; nil if the log has none.
    public func timeline(of session: String) async -> SessionTimeline? {
        library.playheads.catchUp()
        let record = records[session] ?? records.values.first { $0.guid == session }
        if let record {
            return record.timeline
        }
        let written: [SessionTimeline] = await log.events(LogQuery(session: session, limit: 1))
        return written.last
    }

    /// The error log, oldest first.
    public func errorEvents(_ query: LogQuery) async -> [ErrorEvent] { await log.events(query) }
}
