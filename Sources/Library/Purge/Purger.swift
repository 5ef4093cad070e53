import EventLoop
import Fetching
import Store

/// Makes room on a full disk, by a `PurgePlan`, and takes away what has expired when that is a day ago.
///
/// It looks when something could not be kept, and as long as somebody waits for room, every two seconds: then it also
/// notices room that others have made.
@LoopActor final class Purger: RoomMaker {
    /// How far it goes.
    let limit: PurgePlan.Limit

    private weak var library: Library?
    private var turn: LoopTimer?
    private var sweep: LoopTimer?
    /// Whether the disk was full when it was last looked at, and is looked at again.
    private var isFull = false
    /// The purging that is under way, which others join.
    private var work: Task<Bool, Never>?
    /// Whether something could not be kept since the last look.
    private var wasRefused = false
    /// The room after the last refusal, once what it left behind was gone.
    private var leastRoom: Int64?
    /// What was in the play cache when it was last told to make way: what has not gone by the next look does not go.
    private var cacheThen: Int64?
    /// Whether it was told that nothing more may go.
    private var hasGivenUp = false

    private static let pause = Duration.seconds(2)
    private static let sweepPause = Duration.seconds(600)
    /// So many seconds what has expired stays where there is room: an hour set wrong can still be set right.
    static let grace: Int64 = 86_400

    init(limit: PurgePlan.Limit) {
        self.limit = limit
        turn = LoopTimer { [weak self] in self?.look() }
        sweep = LoopTimer { [weak self] in self?.sweepLater() }
    }

    /// Begins to look at what has expired.
    func start(for library: Library) {
        self.library = library
        guard library.readOnlyReason == nil else { return }
        sweep?.schedule(after: Self.pause)
    }

    // MARK: A full disk

    /// See `RoomMaker`.
    package func noteFull() {
        (wasRefused, leastRoom) = (true, nil)
        guard !isFull else { return }
        isFull = true
        turn?.schedule(after: .milliseconds(1))
    }

    private func look() {
        guard let library else { return }
        guard wasRefused || library.isRoomAwaited || library.playCache.isMakingWay else { return isFull = false }
        wasRefused = false
        Task { @LoopActor in
            _ = await makeRoom()
            if isFull { turn?.schedule(after: Self.pause) }
        }
    }

    /// Purges by plan, so that there is room, or nothing more may go.
    ///
    /// - Returns: whether anything has gone.
    func makeRoom() async -> Bool {
        if let work { return await work.value }
        let task = Task { @LoopActor in
            defer { work = nil }
            guard let library else { return false }
            return await makeRoom(in: library)
        }
        work = task
        return await task.value
    }

    private func makeRoom(in library: Library) async -> Bool {
        guard library.store.shortage > 0 else {
            end(in: library)
            return false
        }
        if hasGrown(library.store.room) { library.events.send(.roomCame) }
        library.audience.catchUp()
        let isStuck = cacheThen.map { library.cachedBytes >= $0 && library.playCache.isMakingWay } ?? false
        let plan = PurgePlan(
            toFree: library.store.shortage, of: library.purgeCandidates, limit: limit, at: library.date(),
            hasCache: !isStuck)
        var hasMade = false
        for step in plan.steps { hasMade = await take(step, in: library) || hasMade }
        if library.store.shortage == 0 {
            end(in: library)
        } else if plan.freed < plan.wanted {
            giveUp(in: library)
        }
        return hasMade
    }

    /// - Returns: whether anything has gone.
    private func take(_ step: PurgePlan.Step, in library: Library) async -> Bool {
        switch step {
        case .playCache(let bytes):
            let before = library.cachedBytes
            await makeWay(bytes, in: library)
            return library.cachedBytes < before
        case .asset(let id, _, let cause):
            guard let asset = library.asset(id: id), asset.bytes > 0 else { return false }
            await library.purge(asset, cause)
            return asset.bytes == 0
        }
    }

    private func end(in library: Library) {
        (isFull, hasGivenUp, cacheThen, leastRoom) = (false, false, nil, nil)
        library.playCache.relax()
        if library.isRoomAwaited { library.events.send(.roomCame) }
    }

    /// Whether others have made room since the last refusal; not much less than a piece or two.
    private func hasGrown(_ room: Int64?) -> Bool {
        guard let room, let library, !wasRefused else { return false }
        guard let before = leastRoom else {
            leastRoom = room
            return false
        }
        guard room > before, room - before >= (library.store.shortage + room) / 4 else { return false }
        leastRoom = room
        return true
    }

    private func makeWay(_ bytes: Int64, in library: Library) async {
        if cacheThen == nil {
            library.report("the disk is full: what was kept since it was played makes way, \(bytes >> 20) MB of it")
        }
        cacheThen = library.cachedBytes
        library.playCache.makeWay(bytes)
        await library.playCache.madeWay()
    }

    private func giveUp(in library: Library) {
        guard !hasGivenUp else { return }
        hasGivenUp = true
        library.playCache.relax()
        let more = limit == .important ? "" : " (see \"purge\" in the configuration)"
        library.report("the disk is full, and nothing more is stored that may make way\(more); streams play through")
    }

    /// What would be free if all went that may.
    var purgeableBytes: Int64 {
        guard let library else { return 0 }
        return PurgePlan(toFree: .max, of: library.purgeCandidates, limit: limit, at: library.date()).freed
    }

    // MARK: What has expired

    private func sweepLater() {
        Task { @LoopActor in
            await sweepOut()
            sweep?.schedule(after: Self.sweepPause)
        }
    }

    /// Takes away what expired a day ago.
    func sweepOut() async {
        guard let library else { return }
        let bound = library.date() - Self.grace
        for asset in library.assets where asset.life.isExpired(at: bound) && asset.bytes > 0 {
            await library.purge(asset, .expired)
        }
        for asset in library.assets where !asset.keys.unusable.isEmpty {
            library.sweepKeys(of: asset, before: bound)
        }
    }
}
