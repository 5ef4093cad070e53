import Synchronization

/// Writes the records of assets soon after their rows were changed, on a thread of its own.
///
/// What comes within a second is written once. A record is written from what the catalogue says at that time, so that
/// there is one source; it goes before the rows of its asset go, so that what was removed never comes back.
final class RecordKeeper: Sendable {
    /// Tells an asset's rows; nil for one that is not in the catalogue.
    typealias Source = @Sendable (String) throws -> AssetRows?

    private let desk: Desk
    private let thread: StoreThread

    /// Starts the thread, which goes on until `stop()`.
    ///
    /// - Parameters:
    ///   - present: the revisions of the records that there are.
    ///   - backlog: assets whose records are to be written when nothing else is to be done.
    ///   - report: told of a record that cannot be written; it is tried again.
    /// - Throws: `StoreError` when the system gives no eventfd or no thread.
    init(
        _ folder: RecordFolder, present: [String: [Int]] = [:], backlog: [String] = [],
        report: @escaping @Sendable (String) -> Void = { _ in }, source: @escaping Source
    ) throws(StoreError) {
        let desk = try Desk(folder, present, backlog: backlog, report: report, source: source)
        thread = try StoreThread("records") { desk.run() }
        self.desk = desk
    }

    /// Writes the records of these assets soon. From any thread, as all of these.
    func note(_ ids: some Collection<String>) { desk.note(ids) }

    /// Removes the record of an asset, for good when this returns; to be called before its rows go, in the transaction in
    /// which they do. Where they stay after all, `note` it.
    func remove(_ id: String) throws(StoreError) { try desk.remove(id) }

    /// Writes at once what is to be written, the backlog aside.
    ///
    /// - Parameter ended: called on the keeper's thread, also where it failed.
    func flush(ended: @escaping @Sendable () -> Void) { desk.flush(ended) }

    /// Ends the thread once all is written that was noted, and waits for that. The backlog is the next process's.
    func stop() {
        desk.stop()
        thread.join()
    }
}

/// What the thread has before it.
private final class Desk: Sendable {
    private struct State {
        var noted: Set<String> = []
        /// When those that are noted are to be written.
        var due = ContinuousClock.now
        /// Last first.
        var backlog: [String] = []
        /// The revisions of the records that lie in the folder, the latest first.
        var present: [String: [Int]] = [:]
        /// The asset whose record is being written, unless it was removed meanwhile.
        var written: String?
        var waiting: [@Sendable () -> Void] = []
        var isStopped = false
        var hasFailed = false
    }

    private enum Turn {
        case write([String], waiting: [@Sendable () -> Void])
        case wait(milliseconds: Int32?)
        case end
    }

    /// How long what is noted waits for more.
    private static let pause = Duration.seconds(1)
    /// How long what has failed waits.
    private static let longPause = Duration.seconds(30)
    /// So many records of the backlog share one sync of the folder.
    private static let backlogCount = 16

    private let state: Mutex<State>
    private let bell: Bell
    private let folder: RecordFolder
    private let report: @Sendable (String) -> Void
    private let source: RecordKeeper.Source

    init(
        _ folder: RecordFolder, _ present: [String: [Int]], backlog: [String],
        report: @escaping @Sendable (String) -> Void, source: @escaping RecordKeeper.Source
    ) throws(StoreError) {
        (self.folder, self.report, self.source) = (folder, report, source)
        state = Mutex(State(backlog: backlog.reversed(), present: present))
        bell = try Bell()
    }

    func note(_ ids: some Collection<String>) {
        guard !ids.isEmpty else { return }
        state.withLock { state in
            if state.noted.isEmpty { state.due = .now + Self.pause }
            state.noted.formUnion(ids)
        }
        bell.ring()
    }

    func flush(_ ended: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting.append(ended) }
        bell.ring()
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        bell.ring()
    }

    func remove(_ id: String) throws(StoreError) {
        // With the lock held, since the thread puts a record into its place with it held.
        let wasThere = try state.withLock { state throws(StoreError) in
            if state.written == id { state.written = nil }
            for revision in state.present[id] ?? [] { try folder.remove(id, revision) }
            return state.present.removeValue(forKey: id) != nil
        }
        if wasThere { try folder.sync() }
    }

    // MARK: The thread

    /// Writes what comes until it is stopped.
    func run() {
        while true {
            switch state.withLock({ next(&$0) }) {
            case .write(let ids, let waiting):
                write(ids)
                for ended in waiting { ended() }
            case .wait(let milliseconds): bell.wait(milliseconds: milliseconds)
            case .end: return
            }
        }
    }

    private func next(_ state: inout State) -> Turn {
        let left = state.due - .now
        let isDue = state.isStopped || !state.waiting.isEmpty || (!state.noted.isEmpty && left <= .zero)
        if isDue, !(state.isStopped && state.noted.isEmpty && state.waiting.isEmpty) {
            defer { (state.noted, state.waiting) = ([], []) }
            return .write(Array(state.noted), waiting: state.waiting)
        }
        if state.isStopped { return .end }
        if !state.backlog.isEmpty, !state.hasFailed {
            let ids = state.backlog.suffix(Self.backlogCount)
            state.backlog.removeLast(ids.count)
            return .write(Array(ids), waiting: [])
        }
        return .wait(milliseconds: state.noted.isEmpty ? nil : Int32(left / .milliseconds(1)) + 1)
    }

    private func write(_ ids: [String]) {
        var written: [String] = []
        do throws(StoreError) {
            for id in ids where try write(id) { written.append(id) }
            if !written.isEmpty { try folder.sync() }
            for id in written { try removeFormer(id) }
            state.withLock { $0.hasFailed = false }
        } catch {
            retry(ids, error)
        }
    }

    /// Writes the record of an asset.
    ///
    /// - Returns: whether there is a new one now.
    private func write(_ id: String) throws(StoreError) -> Bool {
        state.withLock { $0.written = id }
        guard let rows = try rows(of: id) else {
            try remove(id)
            return false
        }
        guard state.withLock({ $0.present[id]?.first != rows.revision }) else { return false }
        try folder.prepare(rows)
        return try state.withLock { state throws(StoreError) in
            guard state.written == id else {
                folder.discard(id, rows.revision)
                return false
            }
            try folder.publish(id, rows.revision)
            state.present[id, default: []].insert(rows.revision, at: 0)
            return true
        }
    }

    private func rows(of id: String) throws(StoreError) -> AssetRows? {
        do {
            return try source(id)
        } catch {
            throw StoreError(.catalogue, path: id, detail: "\(error)")
        }
    }

    private func removeFormer(_ id: String) throws(StoreError) {
        let former = state.withLock { Array($0.present[id]?.dropFirst() ?? []) }
        for revision in former { try folder.remove(id, revision) }
        state.withLock { state in
            state.present[id]?.removeAll { former.contains($0) }
        }
    }

    private func retry(_ ids: [String], _ error: StoreError) {
        let isFirst = state.withLock { state in
            defer { state.hasFailed = true }
            guard !state.isStopped else { return true }
            state.noted.formUnion(ids)
            state.due = .now + Self.longPause
            return !state.hasFailed
        }
        if isFirst { report("what the catalogue says is not written a second time, and that is tried again: \(error)") }
    }
}
