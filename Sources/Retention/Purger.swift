import Assets
import EventLoop
import Fetching
import Orders
import Playheads
import SafeText
import Store

/// Makes room on a full disk by a `PurgePlan`, and deletes assets one day after they expired.
///
/// Checks the disk after something could not be stored, and every two seconds while a download waits for space, to
/// notice space freed by others.
@LoopActor final class Purger: RoomMaker {
    let limit: PurgePlan.Limit

    private weak var retention: RetentionService?
    private var turn: LoopTimer?
    private var sweep: LoopTimer?
    /// True if the disk was full at the last check and will be checked again.
    private var isFull = false
    private var work: Task<Bool, Never>?
    private var wasRefused = false
    /// The free space after the last refusal, once the refused file was deleted.
    private var leastRoom: Int64?
    /// The cache's size at the last order to evict. Bytes that are still cached at the next check are needed.
    private var cacheSizeAtEviction: Int64?
    private var hasReportedFull = false

    private static let pause = Duration.seconds(2)
    private static let sweepPause = Duration.seconds(600)
    /// Seconds that expired assets stay while there is space, so that a wrong date can be corrected.
    static let grace: Int64 = 86_400

    init(limit: PurgePlan.Limit) {
        self.limit = limit
        turn = LoopTimer { [weak self] in self?.check() }
        sweep = LoopTimer { [weak self] in self?.removeExpiredPeriodically() }
    }

    func start(for retention: RetentionService) {
        self.retention = retention
        guard retention.library.readOnlyReason == nil else { return }
        sweep?.schedule(after: Self.pause)
    }

    // MARK: A full disk

    package func recordDiskFull() {
        wasRefused = true
        leastRoom = nil
        guard !isFull else { return }
        isFull = true
        turn?.schedule(after: .milliseconds(1))
    }

    private func check() {
        guard let retention else { return }
        guard wasRefused || retention.library.isRoomAwaited || retention.cache.isEvictingForDisk else {
            return isFull = false
        }
        wasRefused = false
        Task { @LoopActor in
            _ = await makeRoom()
            if isFull {
                turn?.schedule(after: Self.pause)
            }
        }
    }

    /// Purges by plan until there is space or nothing more may be deleted. Returns true if anything was deleted.
    func makeRoom() async -> Bool {
        if let work {
            return await work.value
        }
        let task = Task { @LoopActor in
            defer { work = nil }
            guard let retention else { return false }
            return await makeRoom(in: retention)
        }
        work = task
        return await task.value
    }

    private func makeRoom(in retention: RetentionService) async -> Bool {
        let library = retention.library
        if library.store.shortage > 0 {
            retention.releaseHeld()
        }
        guard library.store.shortage > 0 else {
            end(in: retention)
            return false
        }
        if hasGrown(library.store.room, in: library) {
            library.events.send(.roomCame)
        }
        library.playheads.catchUp()
        var isStuck = false
        if let size = cacheSizeAtEviction {
            isStuck = retention.cachedBytes >= size && retention.cache.isEvictingForDisk
        }
        let plan = PurgePlan(
            toFree: library.store.shortage, of: retention.purgeCandidates, limit: limit, at: library.date(),
            hasCache: !isStuck)
        var hasMade = false
        for step in plan.steps {
            hasMade = await perform(step, in: retention) || hasMade
        }
        if library.store.shortage == 0 {
            end(in: retention)
        } else if plan.freed < plan.wanted {
            reportFull(in: retention)
        }
        return hasMade
    }

    private func perform(_ step: PurgePlan.Step, in retention: RetentionService) async -> Bool {
        switch step {
        case .playCache(let bytes):
            let before = retention.cachedBytes
            await evict(bytes, in: retention)
            return retention.cachedBytes < before
        case .asset(let id, _, let cause):
            guard let asset = retention.library.asset(id: id), asset.bytes > 0 else { return false }
            await retention.purge(asset, cause)
            return asset.bytes == 0
        }
    }

    private func end(in retention: RetentionService) {
        isFull = false
        hasReportedFull = false
        cacheSizeAtEviction = nil
        leastRoom = nil
        retention.cache.relax()
        if retention.library.isRoomAwaited {
            retention.library.events.send(.roomCame)
        }
    }

    /// True if other programs have freed notable space since the last refusal, roughly a piece or two.
    private func hasGrown(_ room: Int64?, in library: Library) -> Bool {
        guard let room, !wasRefused else { return false }
        guard let before = leastRoom else {
            leastRoom = room
            return false
        }
        guard room > before, room - before >= (library.store.shortage + room) / 4 else { return false }
        leastRoom = room
        return true
    }

    private func evict(_ bytes: Int64, in retention: RetentionService) async {
        if cacheSizeAtEviction == nil {
            let size = Quantity.bytes(Int(bytes))
            retention.library.report("the disk is full: \(size) of pieces cached by playback are evicted")
        }
        cacheSizeAtEviction = retention.cachedBytes
        retention.cache.evict(bytes: bytes)
        await retention.cache.evictionEnd()
    }

    private func reportFull(in retention: RetentionService) {
        guard !hasReportedFull else { return }
        hasReportedFull = true
        retention.cache.relax()
        var sentence = "the disk is full, and nothing more that is stored may be deleted"
        if limit != .important {
            sentence += " (see \"purge\" in the configuration)"
        }
        retention.library.report("\(sentence); streams play through")
    }

    var purgeableBytes: Int64 {
        guard let retention else { return 0 }
        let date = retention.library.date()
        return PurgePlan(toFree: .max, of: retention.purgeCandidates, limit: limit, at: date).freed
    }

    // MARK: Expired assets

    private func removeExpiredPeriodically() {
        Task { @LoopActor in
            await removeExpired()
            sweep?.schedule(after: Self.sweepPause)
        }
    }

    /// Deletes assets and keys that expired more than a day ago.
    func removeExpired() async {
        guard let retention else { return }
        let library = retention.library
        let bound = library.date() - Self.grace
        for asset in library.assets where asset.life.isExpired(at: bound) && asset.bytes > 0 {
            await retention.purge(asset, .expired)
        }
        for asset in library.assets where !asset.keys.unusable.isEmpty {
            library.keys.sweep(asset, before: bound)
        }
    }
}
