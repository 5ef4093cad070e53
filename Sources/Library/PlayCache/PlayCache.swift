import EventLoop
import Fetching
import Glibc
import Playheads
import Store

/// The pieces that are kept because they flowed: which there are, in the order in which they were last used, and which make
/// way when they are more than the limit.
///
/// A piece is in the play cache unless it is pinned, so a download copies nothing of what it finds: its pieces leave the
/// cache in place. When a piece was last used is known in memory, and stands on disk as its file's access time, noted once
/// in an hour of use: no other record of it could tell of a piece that is not there, or outlive its bundle. A process that
/// is killed loses an hour's order at most.
@LoopActor final class PlayCache: PieceObserver {
    /// A cached piece. In the queue as long as `accounts` has its slot.
    struct Piece {
        let folder: PieceFolder
        let file: String
    }

    /// The cached pieces of one folder.
    private struct Account {
        /// The pieces' places in the queue, by file name.
        var slots: [String: RecencyQueue<Piece>.Slot] = [:]
        /// The sum of their lengths.
        var bytes: Int64 = 0
    }

    private(set) var queue = RecencyQueue<Piece>()
    /// By folder. A folder with an account is alive: the queue holds it.
    private var accounts: [ObjectIdentifier: Account] = [:]
    private var rounds = EvictionRounds()
    private(set) var arrivals = Arrivals()
    private var pins: [String: Pins] = [:]
    private weak var library: Library?
    private var timer: LoopTimer?
    /// What an earlier process left, and nobody has looked into yet.
    private var uncounted: [Asset] = []
    private var isCounting = false
    /// Folders of which it is of interest whether segments are in them, and nobody knows.
    var unread: [PieceFolder] = []
    /// Whether the timer's next turn looks at everything anew.
    private var isRetry = false
    private var hasFailed = false
    /// Who waits for what makes way.
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// So long one piece's uses are noted on disk once.
    private static let noteSpan: Int64 = 3600
    /// When it is tried again to get below the limit, where what is needed is more than that.
    private static let retryPause = Duration.seconds(5)
    /// Not at once: descriptors come first.
    private static let turnPause = Duration.milliseconds(1)

    /// - Parameter limit: the bytes that may stay; nil for any number.
    init(limit: Int64?) {
        self.limit = limit
        rounds.limit = limit
        timer = LoopTimer { [weak self] in self?.turn() }
    }

    /// The bytes that may stay; nil for any number.
    let limit: Int64?

    /// Counts what an earlier process left, asset by asset, and lets go of what is too much. Assets of which it is known
    /// that none of their pieces merely flowed sleep on.
    func start(for library: Library) {
        self.library = library
        guard library.readOnlyReason == nil else { return }
        isCounting = true
        library.summaries.whenChecked { [weak self, weak library] in
            guard let self, let library else { return }
            uncounted = library.assets.flatMap { [$0] + ($0.revision.map { [$0] } ?? []) }
                .filter { library.summaries[$0].map { $0.cachedBytes > 0 } ?? true }
            timer?.schedule(after: Self.turnPause)
        }
    }

    // MARK: What folders tell

    /// See `PieceObserver`.
    package func folder(_ folder: PieceFolder, gained file: String, size: Int64) {
        drop(file, of: folder)
        guard let asset = asset(of: folder), !isPinned(file, in: folder, of: asset) else { return }
        enter(file, size, in: folder, lastUse: Self.now)
        rounds.noteArrival()
        schedule()
    }

    /// See `PieceObserver`.
    package func folder(_ folder: PieceFolder, lost file: String) { drop(file, of: folder) }

    /// See `PieceObserver`.
    package func folder(_ folder: PieceFolder, used file: String) {
        guard let slot = accounts[ObjectIdentifier(folder)]?.slots[file] else { return }
        let now = Self.now
        if now / Self.noteSpan != queue.lastUse(of: slot) / Self.noteSpan { folder.recordUse(of: file, at: now) }
        queue.use(slot, at: now)
    }

    /// See `PieceObserver`.
    package func folder(_ folder: PieceFolder, lists entries: [String: Directory.Entry]) {
        guard let asset = asset(of: folder) else { return }
        for file in cachedFiles(of: folder) where entries[file] == nil { drop(file, of: folder) }
        for (file, entry) in entries { sort(file, entry.size, in: folder, of: asset, lastUse: entry.lastUse) }
    }

    /// All that is known of an asset's pieces is considered anew: other ones are pinned.
    private func reconsider(_ asset: Asset) {
        let now = Self.now
        for folder in asset.folders {
            for (file, size) in folder.known ?? [:] { sort(file, size, in: folder, of: asset, lastUse: now) }
        }
        rounds.begin(queue.count)
        schedule()
    }

    /// Puts a piece where it belongs.
    private func sort(_ file: String, _ size: Int64, in folder: PieceFolder, of asset: Asset, lastUse: Int64) {
        if isPinned(file, in: folder, of: asset) {
            drop(file, of: folder)
        } else if accounts[ObjectIdentifier(folder)]?.slots[file] == nil {
            enter(file, size, in: folder, lastUse: lastUse)
        }
    }

    private func enter(_ file: String, _ size: Int64, in folder: PieceFolder, lastUse: Int64) {
        let slot = queue.append(Piece(folder: folder, file: file), size: size, lastUse: lastUse)
        accounts[ObjectIdentifier(folder), default: Account()].slots[file] = slot
        accounts[ObjectIdentifier(folder)]?.bytes += size
    }

    private func drop(_ file: String, of folder: PieceFolder) {
        guard let slot = accounts[ObjectIdentifier(folder)]?.slots[file] else { return }
        let size = queue.size(of: slot)
        close(file, size, of: folder)
        queue.remove(slot)
    }

    /// Takes a piece out of its folder's account.
    private func close(_ file: String, _ size: Int64, of folder: PieceFolder) {
        let id = ObjectIdentifier(folder)
        accounts[id]?.slots[file] = nil
        accounts[id]?.bytes -= size
        if accounts[id]?.slots.isEmpty ?? false { accounts[id] = nil }
    }

    private func cachedFiles(of folder: PieceFolder) -> [String] {
        accounts[ObjectIdentifier(folder)].map { Array($0.slots.keys) } ?? []
    }

    /// See `PieceObserver`.
    package func evictableBytes(in folder: PieceFolder) -> Int64 { accounts[ObjectIdentifier(folder)]?.bytes ?? 0 }

    // MARK: What others tell

    /// From now on this is kept of an asset, and nothing else.
    func pin(_ wanted: Pins, of asset: Asset) {
        guard pins[asset.id] ?? .nothing != wanted, library?.asset(id: asset.id) === asset else { return }
        pins[asset.id] = wanted == .nothing ? nil : wanted
        library?.summaries.note(asset)
        reconsider(asset)
    }

    /// What is kept of an asset because it is wanted.
    func pins(of asset: Asset) -> Pins { pins[asset.id] ?? .nothing }

    /// An asset is known from now on.
    func take(_ asset: Asset) {
        asset.bundle.observer = self
        if !asset.isAsleep, asset.folders.contains(where: { $0.known != nil }) { reconsider(asset) }
    }

    /// An asset is removed.
    func forget(_ asset: Asset) {
        pins[asset.id] = nil
        guard !asset.isAsleep else { return }
        for folder in asset.folders {
            for file in cachedFiles(of: folder) { drop(file, of: folder) }
        }
    }

    /// A session was given a playlist of an asset.
    func expect(_ session: String, at asset: Asset, isOffline: Bool) {
        arrivals.note(session, of: asset.id, isOffline: isOffline, at: .now)
    }

    /// Lets so many bytes go for a disk that is full, whatever the limit, as far as nobody needs them. Once they are gone
    /// the limit counts as before.
    func makeWay(_ bytes: Int64) {
        queue.sort()
        rounds.limit = max(0, queue.size - bytes)
        rounds.begin(queue.count)
        schedule()
    }

    /// Waits until what makes way has gone, or all has been looked at: what is left then is needed.
    func madeWay() async {
        guard isMakingWay, rounds.isOver(queue), library?.readOnlyReason == nil else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func resumeWaiting() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// Whether it lets go of more than its limit asks for.
    var isMakingWay: Bool { rounds.limit != limit }

    /// Lets go of no more than the limit asks for.
    func relax() {
        rounds.limit = limit
        resumeWaiting()
    }

    // MARK: What is pinned

    private func asset(of folder: PieceFolder) -> Asset? { library?.asset(id: folder.asset) }

    private func isPinned(_ file: String, in folder: PieceFolder, of asset: Asset) -> Bool {
        guard let name = PieceName(file) else { return true }
        let rendition = asset.rendition(in: folder)
        if rendition?.isOfRecording ?? asset.renditions.contains(where: \.isOfRecording) { return true }
        guard let pins = pins[asset.id] else { return false }
        return pins.hold(name.role, of: folder.id, rendition?.span(of: name))
    }

    // MARK: Turns

    private func schedule() {
        guard rounds.isOver(queue), !isCounting, library?.readOnlyReason == nil else { return }
        isRetry = false
        timer?.schedule(after: Self.turnPause)
    }

    private func turn() {
        guard let library, !isCounting || !count() else { return }
        if isRetry { rounds.begin(queue.count) }
        isRetry = false
        library.playheads.catchUp()
        var known: [ObjectIdentifier: NeedWindows] = [:]
        // Before the rounds are changed, which is when they must not be looked at.
        let isMakingWay = isMakingWay
        let (evicted, hasMore) = rounds.turn(over: &queue) { piece in
            guard let asset = asset(of: piece.folder) else { return false }
            // What lies on another disk frees nothing on a full one.
            if asset.bundle.isHeld || (isMakingWay && !asset.isHome) { return true }
            let id = ObjectIdentifier(asset)
            let needs = known[id] ?? needs(of: asset, library.playheads)
            known[id] = needs
            return isNeeded(piece, needs, of: asset)
        }
        for (piece, size) in evicted { close(piece.file, size, of: piece.folder) }
        for (piece, _) in evicted { evict(piece, library) }
        guard rounds.isOver(queue) else { return relax() }
        let hasNews = !evicted.isEmpty || !unread.isEmpty
        for folder in unread { _ = folder.sizes }
        unread = []
        // What they needed may go as well now.
        if hasNews { rounds.noteArrival() }
        isRetry = !hasMore && !hasNews
        if isRetry { resumeWaiting() }
        timer?.schedule(after: isRetry ? Self.retryPause : Self.turnPause)
    }

    /// Looks into one more asset; false when none is left.
    private func count() -> Bool {
        if let asset = uncounted.popLast() {
            if !asset.isRemoved { for folder in asset.folders { _ = folder.sizes } }
            timer?.schedule(after: Self.turnPause)
            return true
        }
        isCounting = false
        queue.sort()
        rounds.begin(queue.count)
        if rounds.isOver(queue), !isMakingWay, let limit {
            library?.report(
                "what was kept since it was played takes \(queue.size >> 20) MB; the longest unused of it makes way, "
                    + "since play-cache is \(limit >> 20) MB")
        }
        return false
    }

    /// Takes a piece away: first from what is offered, the bundle's own playlists too, and then from the disk. Who is in
    /// the middle of it reads on.
    private func evict(_ piece: Piece, _ library: Library) {
        let asset = asset(of: piece.folder)
        let rendition = asset?.rendition(in: piece.folder)
        let wasWhole = rendition?.isWhole ?? false
        do {
            try piece.folder.remove(piece.file) { () throws(StoreError) in
                if let asset, let rendition, wasWhole { try library.withdraw(rendition, of: asset) }
            }
        } catch {
            guard !hasFailed else { return }
            hasFailed = true
            library.report("the play cache cannot make way: \(error)")
        }
    }

    private static var now: Int64 { Int64(time(nil)) }
}
