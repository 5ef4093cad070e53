package import Assets
package import Downloads
package import EventLoop
import Fetching
package import FoundationEssentials
import Orders
import Playheads
import Store

/// The planned recordings: begins each at its time, and keeps them in a file.
///
/// It looks at the wall clock at least every half minute, so that a clock that is set, a zone that changes and a machine that wakes
/// are noticed. A recording that begins is noted after it has begun: a process that is killed in between begins it once more.
@LoopActor package final class RecordingSchedules {
    /// All plans, by name.
    package private(set) var all: [PlannedRecording] = []
    /// The zone of the times; it may change while the process runs.
    package let zone: () -> TimeZone

    /// Delivers the time of the recording that begins next, whenever it may be another.
    package let next = EventStream<NextRecording>()

    private let library: Library
    private let downloader: Downloader
    private let recorder: ChannelRecorder
    /// Writes the file, on another thread; the error as a sentence.
    private let save: @Sendable (String) -> String?
    /// The latest write, in progress or done.
    private var writing: Task<String?, Never>?
    /// True if the file has something else than plans: nothing is written over it.
    private var isUnreadable = false
    private let report: @Sendable (String) -> Void
    private var timer: LoopTimer?
    /// The recordings that are just beginning, by the names of their plans.
    private var beginning: [String: Task<Void, Never>] = [:]
    /// Why the recordings that are due do not begin yet, by the names of their plans.
    private var failures: [String: String] = [:]
    private var isOpen = true

    /// - Parameters:
    ///   - stored: the text of the file; nil if there is none.
    ///   - save: writes the file so that it survives a loss of power, and returns nil or an error as a sentence. It is called on another
    ///     thread, in the order of the changes.
    package init(
        _ library: Library, _ downloader: Downloader, zone: @escaping () -> TimeZone = { .current }, stored: String?,
        save: @escaping @Sendable (String) -> String?, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.library = library
        self.downloader = downloader
        self.zone = zone
        self.save = save
        self.report = report
        recorder = ChannelRecorder(library, downloader, zone: zone)
        if let stored {
            do {
                all = try JSONDecoder().decode([PlannedRecording].self, from: Data(stored.utf8))
            } catch {
                isUnreadable = true
                report("the planned recordings cannot be read, and none begins: \(error)")
            }
        }
        timer = LoopTimer { [weak self] in self?.look() }
    }

    /// Begins to look at the clock.
    package func start() { look() }

    package func stop() {
        isOpen = false
        timer?.cancel()
    }

    /// True if a recording is to begin: the process must not end.
    package var isWaiting: Bool { all.contains { next(of: $0) != nil } }

    package subscript(_ name: String) -> PlannedRecording? { all.first { $0.name == name } }

    /// The recording that begins next, or that waits for its channel.
    package func next(of plan: PlannedRecording) -> Schedule.Occurrence? {
        let now = plan.schedule.plan(at: library.date(), in: zone(), handled: plan.handled)
        return now.due ?? now.next
    }

    /// A name for a plan that neither a plan nor an asset has: `news-2015`.
    package func freeName(for channel: Asset, _ schedule: Schedule) -> String {
        let time = "\(schedule.time)".filter { $0 != ":" }
        return AssetNaming.unique("\(channel.name.prefix(30))-\(time)") { self[$0] != nil || library.isTaken($0) }
    }

    /// Adds a plan, or replaces the one of its name. Returns an error as a sentence; then nothing has changed.
    package func put(_ plan: PlannedRecording) async -> String? {
        let failure = await replace(plan.name, with: plan)
        if failure == nil {
            look()
        }
        return failure
    }

    /// Forgets a plan; its recordings stay, and one in progress goes on. Returns an error as a sentence; then nothing has changed.
    package func cancel(_ name: String) async -> String? {
        let failure = await replace(name, with: nil)
        announceNext()
        return failure
    }

    private func replace(_ name: String, with plan: PlannedRecording?) async -> String? {
        let former = self[name]
        set(name, to: plan)
        let failure = await write().value
        if failure != nil {
            set(name, to: former)
        }
        return failure
    }

    private func set(_ name: String, to plan: PlannedRecording?) {
        all.removeAll { $0.name == name }
        guard let plan else { return }
        all.append(plan)
        all.sort { $0.name < $1.name }
    }

    // MARK: Time

    /// Does what is due. The timer calls it, and a test that moves the clock.
    package func look() {
        guard isOpen else { return }
        defer { announceNext() }
        guard !all.isEmpty else { return }
        let now = library.date()
        var pause = Self.longestPause
        for plan in all {
            let due = plan.schedule.plan(at: now, in: zone(), handled: plan.handled)
            if let missed = due.missed.last {
                note(due.missed, of: plan.name)
                change(plan.name) { $0.handled = missed.day }
            }
            if let occurrence = due.due {
                begin(plan.name, occurrence, at: now)
                pause = min(pause, Self.retryPause)
            } else if let next = due.next {
                pause = min(pause, max(1, next.begin - now))
            } else if beginning[plan.name] == nil {
                finish(plan)
            }
        }
        timer?.schedule(after: .seconds(pause))
    }

    private func announceNext() {
        let now = library.date()
        let begins = all.compactMap { plan in plan.schedule.plan(at: now, in: zone(), handled: plan.handled).next?.begin
        }
        next.send(NextRecording(begin: begins.min()))
    }

    private static let longestPause: Int64 = 30
    /// Between two attempts to begin, while a channel does not answer.
    private static let retryPause: Int64 = 10

    private func note(_ missed: [Schedule.Occurrence], of name: String) {
        guard let last = missed.last else { return }
        let reason = failures.removeValue(forKey: name) ?? "Weir did not run"
        let days = missed.count > 1 ? "\(missed.count) recordings were" : "the recording of \(last.day) was"
        let sentence = "\(days) missed: \(reason)"
        report("\(name): \(sentence)")
        change(name) { $0.problem = sentence }
    }

    private func begin(_ name: String, _ occurrence: Schedule.Occurrence, at now: Int64) {
        guard beginning[name] == nil, let plan = self[name] else { return }
        guard let channel = library.asset(id: plan.channel) else {
            report("\(name): its channel was removed, and nothing more is recorded")
            return forget(name)
        }
        beginning[name] = Task { @LoopActor in
            let hasBegun = await begin(plan, in: channel, occurrence, at: now)
            beginning[name] = nil
            if hasBegun {
                look()
            } else {
                timer?.schedule(after: .seconds(Self.retryPause))
            }
        }
    }

    /// Returns false if the channel gives nothing yet.
    private func begin(
        _ plan: PlannedRecording, in channel: Asset, _ occurrence: Schedule.Occurrence, at now: Int64
    ) async -> Bool {
        let name = plan.name
        var order = plan.order
        order.recordSeconds = occurrence.end.map { max(1, $0 - now) }
        do throws(Downloader.Refusal) {
            let download = try await recorder.record(channel, order, title: title(of: plan, occurrence))
            failures[name] = nil
            change(name) { plan in
                plan.handled = occurrence.day
                plan.recordings.append(download.asset.id)
                plan.problem = nil
                let minutes = (now - occurrence.begin) / 60
                if minutes > 0 {
                    plan.problem = "the recording of \(occurrence.day) began \(minutes) min late"
                }
            }
            await removeOld(name)
            return true
        } catch {
            guard failures[name] != "\(error)" else { return false }
            failures[name] = "\(error)"
            report("\(name): the recording does not begin yet: \(error)")
            change(name) { $0.problem = "\(error)" }
            return false
        }
    }

    /// The title that the user gave, with the day where there are several.
    private func title(of plan: PlannedRecording, _ occurrence: Schedule.Occurrence) -> String? {
        guard let title = plan.title, plan.schedule.days != nil else { return plan.title }
        return "\(title) \(occurrence.day)"
    }

    /// Forgets a plan of which nothing is left to do. One that was missed stays, so that it is seen.
    private func finish(_ plan: PlannedRecording) {
        guard plan.problem == nil || !plan.recordings.isEmpty else { return }
        forget(plan.name)
    }

    // MARK: Retention

    /// Removes recordings beyond those that are kept. One that was not watched, is important, or is played or recorded, stays.
    private func removeOld(_ name: String) async {
        guard let plan = self[name], let keep = plan.keep else { return }
        let assets = plan.recordings.compactMap { library.asset(id: $0) }
        let candidates = assets.map { asset in
            let isActive = downloader.isFetched(asset) || library.playheads.isPlayed(asset.id)
            let isImportant = asset.life.policy.priority == .important
            return RecordingRetention.Candidate(
                id: asset.id, begin: asset.created,
                mayGo: asset.life.lastPlayed != nil && !isImportant && !isActive)
        }
        for candidate in keep.removable(of: candidates, at: library.date()) {
            guard let asset = library.asset(id: candidate.id) else { continue }
            downloader.forget(asset)
            do throws(LibraryError) {
                _ = try await library.remove(asset)
                report("\(asset.name) was removed: \(name) keeps \(keep)")
            } catch {
                report("\(asset.name): \(error)")
            }
        }
        change(name) { plan in plan.recordings.removeAll { library.asset(id: $0) == nil } }
    }

    // MARK: The file

    private func change(_ name: String, _ body: (inout PlannedRecording) -> Void) {
        guard let index = all.firstIndex(where: { $0.name == name }) else { return }
        body(&all[index])
        note()
    }

    private func forget(_ name: String) {
        set(name, to: nil)
        note()
    }

    private func note() {
        let write = write()
        Task { @LoopActor in
            if let failure = await write.value {
                report("the planned recordings are not noted: \(failure)")
            }
        }
    }

    /// Begins to write all plans, after all earlier writes. The result is an error as a sentence.
    private func write() -> Task<String?, Never> {
        let before = writing
        let text = text()
        let save = save
        let write = Task { @LoopActor () -> String? in
            _ = await before?.value
            guard !isUnreadable else { return "the file of planned recordings has something else; move it away" }
            guard let text else { return "they cannot be written" }
            do throws(StoreError) {
                return try await DiskWork.run { () throws(StoreError) in save(text) }
            } catch {
                return "\(error)"
            }
        }
        writing = write
        return write
    }

    /// All plans as the file has them; nil if they cannot be written so.
    private func text() -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(all) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// Waits until the recordings that are beginning are noted, and the latest change is written.
    package func close() async {
        for recording in beginning.values {
            await recording.value
        }
        _ = await writing?.value
    }
}
