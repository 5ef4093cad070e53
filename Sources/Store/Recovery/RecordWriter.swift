/// Writes the records of assets on a thread of its own, soon after their rows have changed. The changes of one second
/// are written together. The first change of an asset in a process writes all of its rows, from the catalogue; the later ones
/// are appended. A record is removed before the rows of its asset, so that a removed asset cannot come back.
final class RecordWriter: Sendable {
    /// Reads an asset's rows; returns nil for an asset that is not in the catalogue.
    typealias Source = @Sendable (String) throws -> AssetRows?

    /// The rows of one asset that are to be written.
    private struct Work {
        /// True if all rows are to be written: `changes` may lack some.
        var isWhole = false
        var changes: [AssetChange] = []
    }

    private struct State {
        var scheduled: [String: Work] = [:]
        /// Time at which `scheduled` is written.
        var due = ContinuousClock.now
        /// Assets whose records are written when nothing else is to be, last first.
        var backlog: [String] = []
        var present: [String: [Int]]
        /// The ends of the records that this process has written.
        var ends: [String: RecordEnd] = [:]
        /// The asset whose record is being written; nil if it was removed meanwhile.
        var current: String?
        var waiting: [CheckedContinuation<Void, Never>] = []
        var hasFailed = false

        mutating func schedule(_ change: AssetChange) {
            guard ends[change.asset] != nil else { return scheduleWhole(change.asset) }
            scheduled[change.asset, default: Work()].changes.append(change)
        }

        mutating func scheduleWhole(_ id: String) { scheduled[id, default: Work()].isWhole = true }
    }

    private static let pause = Duration.seconds(1)
    private static let longPause = Duration.seconds(30)
    /// Number of records of the backlog that share one sync of the folder.
    private static let backlogCount = 16
    private let worker: WorkerThread<State>
    private let folder: RecordFolder

    /// Starts the thread, which runs until `stop()`.
    ///
    /// - Parameters:
    ///   - present: the revisions of the records in the folder.
    ///   - backlog: assets whose records are written when nothing else is to be.
    ///   - report: called for a record that cannot be written; the write is tried again.
    /// - Throws: `StoreError` if the system has no memory or no thread for it.
    init(
        _ folder: RecordFolder, present: [String: [Int]] = [:], backlog: [String] = [],
        report: @escaping @Sendable (String) -> Void = { _ in }, source: @escaping Source
    ) throws(StoreError) {
        self.folder = folder
        let job = Job(folder: folder, report: report, source: source)
        worker = try WorkerThread("records", State(backlog: backlog.reversed(), present: present)) {
            state, isStopping in
            Self.next(&state, isStopping: isStopping, job)
        }
    }

    /// Writes these changes soon. From any thread, as all methods.
    func schedule(_ changes: [AssetChange]) {
        guard !changes.isEmpty else { return }
        schedule { state in
            for change in changes {
                state.schedule(change)
            }
        }
    }

    /// Writes the whole record of an asset soon.
    func scheduleWhole(_ id: String) { schedule { $0.scheduleWhole(id) } }

    private func schedule(_ add: (inout State) -> Void) {
        worker.withLock { state in
            if state.scheduled.isEmpty {
                state.due = .now + Self.pause
            }
            add(&state)
        }
        worker.signal()
    }

    /// Removes an asset's record for good. Call it before its rows are deleted in the transaction; `scheduleWhole` if they stay.
    func remove(_ id: String) throws(StoreError) { try Self.remove(id, from: folder, worker) }

    /// Writes everything scheduled, but not the backlog. Returns after failures too.
    func flush() async {
        await withCheckedContinuation { continuation in
            worker.withLock { $0.waiting.append(continuation) }
            worker.signal()
        }
    }

    /// Writes everything scheduled, and ends the thread. The backlog is left to the next process.
    func stop() { worker.stop() }

    private static func remove(
        _ id: String, from folder: RecordFolder, _ worker: WorkerThread<State>
    ) throws(StoreError) {
        // With the lock held: the thread renames a record to its final name with the lock held too.
        let wasThere = try worker.withLock { state throws(StoreError) in
            if state.current == id {
                state.current = nil
            }
            for revision in state.present[id] ?? [] {
                try folder.remove(id, revision)
            }
            state.ends[id] = nil
            return state.present.removeValue(forKey: id) != nil
        }
        if wasThere {
            try folder.sync()
        }
    }

    private static func next(
        _ state: inout State, isStopping: Bool, _ job: Job
    ) -> WorkerThread<State>.Step {
        let left = state.due - .now
        let isDue = isStopping || !state.waiting.isEmpty || (!state.scheduled.isEmpty && left <= .zero)
        if isDue, !(isStopping && state.scheduled.isEmpty && state.waiting.isEmpty) {
            let scheduled = state.scheduled
            let waiting = state.waiting
            state.scheduled = [:]
            state.waiting = []
            return .perform { worker in
                job.write(scheduled, worker)
                for continuation in waiting {
                    continuation.resume()
                }
            }
        }
        if isStopping {
            return .end
        }
        if !state.backlog.isEmpty, !state.hasFailed {
            let ids = Array(state.backlog.suffix(backlogCount))
            state.backlog.removeLast(ids.count)
            let works = Dictionary(ids.map { ($0, Work(isWhole: true)) }) { first, _ in first }
            return .perform { worker in job.write(works, worker) }
        }
        guard !state.scheduled.isEmpty else { return .wait(milliseconds: nil) }
        return .wait(milliseconds: Int32(left / .milliseconds(1)) + 1)
    }

    private struct Job: Sendable {
        let folder: RecordFolder
        let report: @Sendable (String) -> Void
        let source: Source

        func write(_ works: [String: Work], _ worker: WorkerThread<State>) {
            var written: [String] = []
            var failed: [String: StoreError] = [:]
            for (id, work) in works {
                do throws(StoreError) {
                    if try write(work, of: id, worker) {
                        written.append(id)
                    }
                } catch {
                    failed[id] = error
                }
            }
            do throws(StoreError) {
                if !written.isEmpty {
                    try folder.sync()
                }
                for id in written {
                    try removeOlder(id, worker)
                }
            } catch {
                for id in written {
                    failed[id] = error
                }
            }
            if failed.isEmpty {
                worker.withLock { $0.hasFailed = false }
            } else {
                retry(failed, worker)
            }
        }

        /// - Returns: true if the folder has a new name now.
        private func write(_ work: Work, of id: String, _ worker: WorkerThread<State>) throws(StoreError) -> Bool {
            let end = worker.withLock { state in
                state.current = id
                return state.ends[id]
            }
            guard !work.isWhole, let end, let lines = try end.lines(of: work.changes) else {
                return try writeWhole(id, worker)
            }
            guard !lines.text.isEmpty else { return false }
            return try append(lines, to: end, of: id, worker)
        }

        private func writeWhole(_ id: String, _ worker: WorkerThread<State>) throws(StoreError) -> Bool {
            guard let rows = try rows(of: id) else {
                try RecordWriter.remove(id, from: folder, worker)
                return false
            }
            guard worker.withLock({ $0.present[id]?.first != rows.revision }) else { return false }
            let length = try folder.prepare(rows)
            return try worker.withLock { state throws(StoreError) in
                guard state.current == id else {
                    folder.discard(id, rows.revision)
                    return false
                }
                try folder.publish(id, rows.revision)
                state.present[id, default: []].insert(rows.revision, at: 0)
                state.ends[id] = RecordEnd(revision: rows.revision, length: length)
                return true
            }
        }

        private func append(
            _ lines: RecordEnd.Lines, to end: RecordEnd, of id: String, _ worker: WorkerThread<State>
        ) throws(StoreError) -> Bool {
            do throws(StoreError) {
                try folder.append(lines.text, to: id, end.revision, length: end.length)
            } catch {
                // Removed meanwhile?
                guard worker.withLock({ $0.current == id }) else { return false }
                throw error
            }
            return try worker.withLock { state throws(StoreError) in
                guard state.current == id else { return false }
                try folder.advance(id, from: end.revision, to: lines.revision)
                state.present[id]?[0] = lines.revision
                state.ends[id] = end.after(lines)
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

        private func removeOlder(_ id: String, _ worker: WorkerThread<State>) throws(StoreError) {
            let older = worker.withLock { Array($0.present[id]?.dropFirst() ?? []) }
            for revision in older {
                try folder.remove(id, revision)
            }
            worker.withLock { state in
                state.present[id]?.removeAll { older.contains($0) }
            }
        }

        private func retry(_ failed: [String: StoreError], _ worker: WorkerThread<State>) {
            let isStopping = worker.isStopping
            let isFirst = worker.withLock { state in
                defer { state.hasFailed = true }
                guard !isStopping else { return true }
                for id in failed.keys {
                    state.ends[id] = nil
                    state.scheduleWhole(id)
                }
                state.due = .now + RecordWriter.longPause
                return !state.hasFailed
            }
            if isFirst, let error = failed.first?.value {
                report("records of assets cannot be written; Weir tries again in 30 seconds: \(error)")
            }
        }
    }
}
