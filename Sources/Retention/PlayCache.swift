import Assets
import EventLoop
import Fetching
import Glibc
import Playheads
import SafeText
import Store

/// The pieces cached by playback, in the order of their last use. Evicts the least recently used ones above a limit.
///
/// A piece is in the play cache unless it is pinned: the pieces of a download leave the cache where they are, and nothing is
/// copied. The time of last use is kept in memory, and on disk as the file's access time, which is written at most once
/// per hour of use. A killed process loses at most one hour of the order.
@LoopActor final class PlayCache: PieceObserver {
    /// A cached piece. It is in the queue as long as `accounts` has its slot.
    struct Piece: Sendable {
        let folder: PieceFolder
        let file: String
        /// The file, if it has further names.
        let shared: FileIdentity.File?
    }

    /// The cached names of one file. The size of the file is that of one of them in the queue, and the others have none.
    private struct SharedFile {
        var slots: [RecencyQueue<Piece>.Slot] = []
    }

    private struct Account {
        var slots = PieceTable<RecencyQueue<Piece>.Slot>()
        var bytes: Int64 = 0
    }

    private(set) var queue = RecencyQueue<Piece>()
    /// The accounts by folder. The queue holds every folder with an account, so its identifier stays valid.
    private var accounts: [ObjectIdentifier: Account] = [:]
    private var sharedFiles: [FileIdentity.File: SharedFile] = [:]
    /// By slot, the index of a name in the `slots` of its file: one file may have a million names.
    private var nameIndices: [Int32] = []
    private var rounds = EvictionRounds()
    private(set) var starting = StartingSessions()
    private var pinned: [String: PinnedContent] = [:]
    let library: Library
    private var timer: LoopTimer?
    /// Assets of an earlier process whose folders have not been read yet.
    private var uncounted: [Asset] = []
    private var isCounting = false
    /// Folders to read after this turn. A piece that they need may be evicted if they have no segments.
    var unread: [PieceFolder] = []
    /// True if the timer's next turn has to look at every piece again.
    private var isRetry = false
    private var hasFailed = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// Number of works on the queue that take several turns: see `inSlices`.
    private var slicedWork = 0

    /// The most pieces that are looked at in one turn.
    private static let mostInTurn = 4096
    /// Interval in seconds at which the use of a piece is written to disk.
    private static let recordInterval: Int64 = 3600
    /// Pause before the next try if the needed pieces alone exceed the limit.
    private static let retryPause = Duration.seconds(5)
    /// Not zero, so that the loop serves its descriptors first.
    private static let turnPause = Duration.milliseconds(1)

    init(of library: Library, limit: Int64?) {
        self.library = library
        self.limit = limit
        rounds.limit = limit
        timer = LoopTimer { [weak self] in self?.turn() }
    }

    let limit: Int64?
    /// The bytes of the cache that are no pieces.
    private(set) var held: Int64 = 0
    /// The limit for pieces.
    private var pieceLimit: Int64? { limit.map { max(0, $0 - held) } }

    func setHeld(_ bytes: Int64) {
        guard bytes != held else { return }
        let isEvictingForDisk = isEvictingForDisk
        held = bytes
        guard !isEvictingForDisk else { return }
        rounds.limit = pieceLimit
        rounds.begin(queue.count)
        schedule()
    }

    /// Counts the pieces of an earlier process. Assets whose summaries list no cached pieces are not opened.
    func start() {
        guard library.readOnlyReason == nil else { return }
        isCounting = true
        guard let summaries = library.summaries else { return countStored() }
        summaries.whenChecked { [weak self] in self?.countStored() }
    }

    private func countStored() {
        let all = library.assets.flatMap { [$0, $0.revision].compactMap(\.self) }
        uncounted = all.filter { asset in
            // Without a summary, only the folders show what is cached.
            guard let summary = library.summaries?.summary(of: asset) else { return true }
            return summary.cachedBytes > 0
        }
        timer?.schedule(after: Self.turnPause)
    }

    // MARK: Pieces

    package func folder(_ folder: PieceFolder, gained file: String, size: Int64) {
        drop(file, of: folder)
        guard let asset = asset(of: folder), !isPinned(file, in: folder, of: asset) else { return }
        enter(file, size, in: folder, lastUse: Self.now)
        rounds.permitLooks()
        schedule()
    }

    package func folder(_ folder: PieceFolder, shares file: String) {
        guard let slot = accounts[ObjectIdentifier(folder)]?.slots[file] else { return }
        let size = queue.size(of: slot)
        let lastUse = queue.lastUse(of: slot)
        drop(file, of: folder)
        enter(file, size, in: folder, lastUse: lastUse)
    }

    package func folder(_ folder: PieceFolder, lost file: String) { drop(file, of: folder) }

    package func folder(_ folder: PieceFolder, used file: String) {
        guard let slot = accounts[ObjectIdentifier(folder)]?.slots[file] else { return }
        let now = Self.now
        if now / Self.recordInterval != queue.lastUse(of: slot) / Self.recordInterval {
            folder.recordUse(of: file, at: now)
        }
        queue.use(slot, at: now)
    }

    package func folder(_ folder: PieceFolder, lists entries: [String: Directory.Entry]) {
        guard let asset = asset(of: folder) else { return }
        for file in cachedFiles(of: folder) where entries[file] == nil {
            drop(file, of: folder)
        }
        for (file, entry) in entries {
            classify(file, entry.size, in: folder, of: asset, lastUse: entry.lastUse)
        }
    }

    package func folder(_ folder: PieceFolder, finds pieces: [(key: String, value: Directory.Entry)]) {
        guard let asset = asset(of: folder), !isEverythingPinned(in: folder, of: asset) else { return }
        for (file, entry) in pieces {
            classify(file, entry.size, in: folder, of: asset, lastUse: entry.lastUse)
        }
    }

    /// Looks at all pieces of an asset again: at many of them in slices, and nothing is evicted meanwhile.
    private func reconsider(_ asset: Asset) {
        var count = 0
        var filled: [PieceFolder] = []
        asset.forEachFolder { folder in
            let pieces = folder.known?.count ?? 0
            guard pieces > 0 || accounts[ObjectIdentifier(folder)] != nil else { return }
            count += pieces
            filled.append(folder)
        }
        guard count > Self.mostInTurn else {
            let now = Self.now
            for folder in filled {
                if isEverythingPinned(in: folder, of: asset) {
                    dropAll(of: folder)
                    continue
                }
                for (file, size) in folder.known ?? [:] {
                    classify(file, size, in: folder, of: asset, lastUse: now)
                }
            }
            rounds.begin(queue.count)
            schedule()
            return
        }
        inSlices { [self] slice in
            await reconsider(asset, &slice)
            library.summaries?.invalidate(asset)
        }
    }

    private func reconsider(_ asset: Asset, _ slice: inout LoopSlice) async {
        let now = Self.now
        for folder in asset.folders {
            // Of a whole folder no single piece is looked at: there may be a million.
            if isEverythingPinned(in: folder, of: asset) {
                await remove(takeAccount(of: folder), &slice)
                continue
            }
            for (file, _) in folder.known ?? [:] {
                // The asset may be removed meanwhile, and the piece may be lost.
                guard library.asset(id: asset.id) === asset else { return }
                if let size = folder.known?[file] {
                    classify(file, size, in: folder, of: asset, lastUse: now)
                }
                await slice.giveWay()
            }
        }
    }

    /// Runs long work on the queue, during which nothing is evicted.
    private func inSlices(_ body: @escaping @LoopActor (inout LoopSlice) async -> Void) {
        slicedWork += 1
        Task { @LoopActor [self] in
            var slice = LoopSlice()
            await body(&slice)
            slicedWork -= 1
            rounds.begin(queue.count)
            schedule()
        }
    }

    private func classify(_ file: String, _ size: Int64, in folder: PieceFolder, of asset: Asset, lastUse: Int64) {
        if isPinned(file, in: folder, of: asset) {
            drop(file, of: folder)
        } else if accounts[ObjectIdentifier(folder)]?.slots[file] == nil {
            enter(file, size, in: folder, lastUse: lastUse)
        }
    }

    private func enter(_ file: String, _ size: Int64, in folder: PieceFolder, lastUse: Int64) {
        let shared = folder.sharedFile(of: file)
        var counted = size
        if let shared, sharedFiles[shared] != nil {
            counted = 0
        }
        let piece = Piece(folder: folder, file: file, shared: shared)
        let slot = queue.append(piece, size: counted, lastUse: lastUse)
        accounts[ObjectIdentifier(folder), default: Account()].slots[file] = slot
        accounts[ObjectIdentifier(folder)]?.bytes += counted
        if let shared {
            joinFile(shared, at: slot)
        }
    }

    private func joinFile(_ shared: FileIdentity.File, at slot: RecencyQueue<Piece>.Slot) {
        while nameIndices.count <= Int(slot) {
            nameIndices.append(0)
        }
        nameIndices[Int(slot)] = Int32(sharedFiles[shared]?.slots.count ?? 0)
        sharedFiles[shared, default: SharedFile()].slots.append(slot)
    }

    private func drop(_ file: String, of folder: PieceFolder) {
        guard let slot = accounts[ObjectIdentifier(folder)]?.slots[file], let piece = queue[slot] else { return }
        let size = queue.size(of: slot)
        queue.remove(slot)
        close(piece, size, at: slot)
    }

    /// Records that a piece has left the queue.
    private func close(_ piece: Piece, _ size: Int64, at slot: RecencyQueue<Piece>.Slot) {
        let id = ObjectIdentifier(piece.folder)
        accounts[id]?.slots[piece.file] = nil
        accounts[id]?.bytes -= size
        if accounts[id]?.slots.isEmpty ?? false {
            accounts[id] = nil
        }
        leaveFile(piece, size, at: slot)
    }

    /// Lets another name of a file count its size: the bytes stay as long as it has one.
    private func leaveFile(_ piece: Piece, _ size: Int64, at slot: RecencyQueue<Piece>.Slot) {
        guard let shared = piece.shared, let last = sharedFiles[shared]?.slots.last else { return }
        let index = nameIndices[Int(slot)]
        sharedFiles[shared]?.slots[Int(index)] = last
        nameIndices[Int(last)] = index
        sharedFiles[shared]?.slots.removeLast()
        guard size > 0 || sharedFiles[shared]?.slots.isEmpty ?? true else { return }

        // Of names that are evicted together, none is in the queue any more.
        let next = sharedFiles[shared]?.slots.last { queue[$0] != nil }
        guard let next, let heir = queue[next] else {
            if sharedFiles[shared]?.slots.isEmpty ?? true {
                sharedFiles[shared] = nil
            }
            return
        }
        queue.setSize(queue.size(of: next) + size, of: next)
        accounts[ObjectIdentifier(heir.folder)]?.bytes += size
    }

    private func dropAll(of folder: PieceFolder) {
        for slot in takeAccount(of: folder).slots.values {
            removeFromQueue(slot)
        }
    }

    /// Removes a piece whose account is closed.
    private func removeFromQueue(_ slot: RecencyQueue<Piece>.Slot) {
        guard let piece = queue[slot] else { return }
        let size = queue.size(of: slot)
        queue.remove(slot)
        leaveFile(piece, size, at: slot)
    }

    /// Ends the account of a folder. The caller removes its pieces from the queue.
    private func takeAccount(of folder: PieceFolder) -> Account {
        accounts.removeValue(forKey: ObjectIdentifier(folder)) ?? Account()
    }

    private func remove(_ account: Account, _ slice: inout LoopSlice) async {
        for slot in account.slots.values {
            removeFromQueue(slot)
            await slice.giveWay()
        }
    }

    private func cachedFiles(of folder: PieceFolder) -> [String] {
        guard let account = accounts[ObjectIdentifier(folder)] else { return [] }
        return Array(account.slots.keys)
    }

    package func evictableBytes(in folder: PieceFolder) -> Int64 { accounts[ObjectIdentifier(folder)]?.bytes ?? 0 }

    // MARK: Assets and sessions

    func pin(_ content: PinnedContent, of asset: Asset) {
        guard pinned[asset.id] ?? .nothing != content, library.asset(id: asset.id) === asset else { return }
        if content == .nothing {
            pinned[asset.id] = nil
        } else {
            pinned[asset.id] = content
        }
        library.summaries?.invalidate(asset)
        reconsider(asset)
    }

    func pinned(of asset: Asset) -> PinnedContent { pinned[asset.id] ?? .nothing }

    func follow(_ asset: Asset) {
        asset.bundle.observer = self
        if asset.isLoaded, asset.folders.contains(where: { $0.known != nil }) {
            reconsider(asset)
        }
    }

    func forget(_ asset: Asset) {
        pinned[asset.id] = nil
        guard asset.isLoaded else { return }
        asset.forEachFolder { folder in
            guard let account = accounts.removeValue(forKey: ObjectIdentifier(folder)) else { return }
            guard account.slots.count > Self.mostInTurn else {
                for slot in account.slots.values {
                    removeFromQueue(slot)
                }
                return
            }
            inSlices { await self.remove(account, &$0) }
        }
    }

    func expect(_ session: String, at asset: Asset, isOffline: Bool) {
        starting.add(session, of: asset.id, isOffline: isOffline, at: .now)
    }

    /// Evicts bytes for a full disk, except pieces that sessions need. Afterwards the limit applies again.
    func evict(bytes: Int64) {
        rounds.limit = max(0, queue.size - bytes)
        sort()
        rounds.begin(queue.count)
        schedule()
    }

    /// Sorts the queue by the time of last use: many pieces on a worker and in slices.
    private func sort() {
        guard queue.count > Self.mostInTurn else { return queue.sort() }
        inSlices { [self] slice in
            let snapshot = queue
            let size = snapshot.count * PureWork.small
            let order = await PureWork.shared.run(size: size, for: self) { snapshot.sorted() }
            for use in order?.reversed() ?? [] {
                queue.lead(use)
                await slice.giveWay()
            }
        }
    }

    /// Waits until the bytes are evicted, or until every piece was looked at and the rest is needed.
    func evictionEnd() async {
        guard isEvictingForDisk, rounds.isOver(queue), library.readOnlyReason == nil else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func resumeWaiting() {
        for continuation in waiting {
            continuation.resume()
        }
        waiting = []
    }

    var isEvictingForDisk: Bool { rounds.limit != pieceLimit }

    func relax() {
        rounds.limit = pieceLimit
        resumeWaiting()
    }

    // MARK: Pins

    private func asset(of folder: PieceFolder) -> Asset? { library.asset(id: folder.asset) }

    private func isPinned(_ file: String, in folder: PieceFolder, of asset: Asset) -> Bool {
        guard let name = PieceName(file) else { return true }
        let rendition = asset.rendition(in: folder)
        if rendition?.isOfRecording ?? asset.renditions.contains(where: \.isOfRecording) {
            return true
        }
        guard let pinned = pinned[asset.id] else { return false }
        return pinned.contains(name.role, of: folder.id, rendition?.span(of: name))
    }

    /// True if no piece of the folder can be evicted.
    private func isEverythingPinned(in folder: PieceFolder, of asset: Asset) -> Bool {
        guard let pinned = pinned[asset.id] else { return false }
        return pinned.containsAll(of: folder.id)
    }

    // MARK: Turns

    private func schedule() {
        guard rounds.isOver(queue), !isCounting, slicedWork == 0, library.readOnlyReason == nil else { return }
        isRetry = false
        timer?.schedule(after: Self.turnPause)
    }

    private func turn() {
        guard !isCounting || !count() else { return }
        // Its end begins the next turn.
        guard slicedWork == 0 else { return }
        if isRetry {
            rounds.begin(queue.count)
        }
        isRetry = false
        library.playheads.catchUp()
        var known: [ObjectIdentifier: NeededTimes] = [:]
        // Read before the turn, which has exclusive access to `rounds`.
        let isEvictingForDisk = isEvictingForDisk
        let (evicted, hasMore) = rounds.turn(over: &queue) { piece in
            guard let asset = asset(of: piece.folder) else { return false }
            // Evicting pieces on another volume does not help the full disk.
            if asset.bundle.isSuspended || (isEvictingForDisk && !asset.isHome) {
                return true
            }
            let id = ObjectIdentifier(asset)
            let needs = known[id] ?? needs(of: asset)
            known[id] = needs
            return isNeeded(piece, needs, of: asset)
        }

        for entry in evicted {
            close(entry.element, entry.size, at: entry.slot)
        }
        for entry in evicted {
            evict(entry.element)
        }
        guard rounds.isOver(queue) else { return relax() }

        let hasNews = !evicted.isEmpty || !unread.isEmpty
        for folder in unread {
            _ = folder.sizes
        }
        unread = []
        // Keys and initialization sections may be evicted after the last of their segments.
        if hasNews {
            rounds.permitLooks()
        }
        isRetry = !hasMore && !hasNews
        if isRetry {
            resumeWaiting()
            timer?.schedule(after: Self.retryPause)
        } else {
            timer?.schedule(after: Self.turnPause)
        }
    }

    /// Reads the folders of one more asset; returns false if all were read.
    private func count() -> Bool {
        if let asset = uncounted.popLast() {
            Task { @LoopActor [weak self] in
                await self?.read(asset)
                self?.timer?.schedule(after: Self.turnPause)
            }
            return true
        }
        isCounting = false
        sort()
        rounds.begin(queue.count)
        if rounds.isOver(queue), !isEvictingForDisk, let limit {
            library.report(
                "pieces cached by playback take \(Quantity.bytes(Int(queue.size))); the least recently used ones are evicted, "
                    + "since play-cache is \(Quantity.bytes(Int(limit)))")
        }
        return false
    }

    /// Reads the playlists and the folders of an asset, of which a film may have a million pieces, on other threads.
    private func read(_ asset: Asset) async {
        guard !asset.isRemoved else { return }
        await library.wake(asset)
        guard !asset.isRemoved else { return }
        for folder in asset.folders {
            await folder.load()
            _ = folder.sizes
        }
    }

    /// Deletes a piece from the bundle's own playlists first. A reader that has the file open can finish.
    private func evict(_ piece: Piece) {
        let asset = asset(of: piece.folder)
        let rendition = asset?.rendition(in: piece.folder)
        let wasWhole = rendition?.isComplete ?? false
        do {
            try piece.folder.remove(piece.file) { () throws(StoreError) in
                if let asset, let rendition, wasWhole {
                    try library.withdraw(rendition, of: asset)
                }
            }
        } catch {
            guard !hasFailed else { return }
            hasFailed = true
            library.report("the play cache cannot evict a piece: \(error)")
        }
    }

    private static var now: Int64 { Int64(time(nil)) }

    /// True if a session plays the asset, or received a playlist of it and is about to play.
    func isInUse(_ asset: Asset) -> Bool { library.playheads.isPlayed(asset.id) || !needs(of: asset).isEmpty }

    /// True if a piece must stay, for a session or for other pieces.
    ///
    /// Reads no folder, because that would change the queue during the turn; adds unread folders to `unread`.
    func isNeeded(_ piece: Piece, _ needs: NeededTimes, of asset: Asset) -> Bool {
        guard let role = PieceName(piece.file)?.role else { return true }
        switch role {
        case .segment(let number):
            return needs.contains(asset.rendition(in: piece.folder)?.timeline?.span(of: number))
        case .initialization, .passing:
            return !needs.isEmpty || haveSegments([piece.folder])
        case .key, .data:
            guard needs.isEmpty else { return true }
            let content = asset.content
            return haveSegments((content.renditions + content.images + content.additions.sorted).map(\.folder))
        }
    }

    /// True if any of the folders has segments, or is unread and may have some.
    private func haveSegments(_ folders: [PieceFolder]) -> Bool {
        let found = folders.map(\.hasSegments)
        if !found.contains(true) {
            unread += zip(folders, found).filter { $1 == nil }.map(\.0)
        }
        return found.contains { $0 ?? true }
    }

    func needs(of asset: Asset) -> NeededTimes {
        var needs = NeededTimes()
        for time in library.playheads.neededTimes(of: asset.id) {
            needs.add(around: time)
        }
        starting.addNeeds(of: asset.id, to: &needs, at: .now) { library.playheads.hasSession($0) }
        return needs
    }
}

extension Rendition {
    /// True if the asset is a recording, whose pieces no origin has any more.
    var isOfRecording: Bool { recording != nil || isRecorded }
}
