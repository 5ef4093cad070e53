import EventLoop
import Fetching
import HLS
import HTTPMessage
import Origin
import Playheads
import Store

/// The assets whose playlists are in memory, in the order of their latest use.
struct AwakeAssets {
    private struct Use {
        let at: ContinuousClock.Instant
        let number: Int
        /// The length of the asset's playlists, in bytes.
        let size: Int
    }

    private var uses: [String: Use] = [:]
    private var order: [(id: String, number: Int)] = []
    private var number = 0
    private var size = 0
    /// Most assets that nobody uses, most bytes of their playlists, and the longest time since their use.
    var limits = (count: 64, size: 16 << 20, age: Duration.seconds(600))

    var count: Int { uses.count }

    /// The time until the asset that was not used for the longest time is too old; nil without one.
    func wait(now: ContinuousClock.Instant) -> Duration? {
        guard let oldest else { return nil }
        return max(.zero, limits.age - (now - oldest.at))
    }

    /// The latest use of the asset that was not used for the longest time.
    private var oldest: Use? { order.lazy.compactMap { uses[$0.id] }.first }

    /// True if the asset that was not used for the longest time should sleep.
    func isFull(now: ContinuousClock.Instant) -> Bool {
        if uses.count > limits.count || uses.count > 1 && size > limits.size {
            return true
        }
        guard let oldest else { return false }
        return now - oldest.at > limits.age
    }

    mutating func record(_ id: String, size: Int, at now: ContinuousClock.Instant) {
        remove(id)
        number += 1
        uses[id] = Use(at: now, number: number, size: size)
        self.size += size
        order.append((id, number))
        // Former uses of the same assets are dropped together.
        if order.count > 2 * uses.count + 64 {
            order.removeAll { uses[$0.id]?.number != $0.number }
        }
    }

    mutating func remove(_ id: String) {
        if let use = uses.removeValue(forKey: id) {
            size -= use.size
        }
    }

    /// Removes the asset that was not used for the longest time, and returns its id.
    mutating func popOldest() -> String? {
        guard let first = order.firstIndex(where: { uses[$0.id]?.number == $0.number }) else {
            order.removeAll()
            return nil
        }
        let id = order[first].id
        order.removeFirst(first + 1)
        remove(id)
        return id
    }
}

/// Assets that nobody uses sleep: their playlists are only in the catalogue, and are read again at the next use. An asset with
/// stored pieces stays awake until the next start.
@LoopActor final class SleepingAssets {
    private var awake = AwakeAssets()
    private var timer: LoopTimer?
    private var isRunning = false
    private let wakes = SharedTasks<ObjectIdentifier, Void>()
    weak var library: Library?

    /// The shortest pause between two looks for assets that were not used for long.
    private static let pause = Duration.seconds(60)
    private var isScheduled = false

    init() {}

    /// The number of assets that are awake and may sleep.
    var awakeCount: Int { awake.count }

    /// Most assets that nobody uses and that stay awake.
    var limit: Int {
        get { awake.limits.count }
        set { awake.limits.count = newValue }
    }

    /// Records a use of an asset, and lets those sleep that were not used for the longest time.
    func recordUse(of asset: Asset) {
        guard let library, let content = asset.loadedContent, library.asset(id: asset.id) === asset else { return }
        awake.record(asset.id, size: content.textSize, at: .now)
        run()
        schedule()
    }

    /// Looks again when the oldest may sleep; not at all while every asset sleeps.
    private func schedule() {
        guard !isScheduled, let wait = awake.wait(now: .now) else { return }
        if timer == nil {
            timer = LoopTimer { [weak self] in
                self?.isScheduled = false
                self?.run()
                self?.schedule()
            }
        }
        isScheduled = true
        timer?.schedule(after: max(wait, Self.pause))
    }

    func forget(_ asset: Asset) { awake.remove(asset.id) }

    private func run() {
        guard !isRunning, awake.isFull(now: .now) else { return }
        isRunning = true
        Task { @LoopActor in
            await letSleep()
            isRunning = false
        }
    }

    private func letSleep() async {
        // Those in use are looked at again later, each once in a round.
        var busy = [Asset]()
        var slice = LoopSlice()
        while awake.isFull(now: .now), busy.count <= awake.limits.count, let id = awake.popOldest() {
            guard let library, let asset = library.asset(id: id), asset.isLoaded else { continue }
            if await library.letSleep(asset) {
                continue
            }
            if asset.bytes == 0 {
                busy.append(asset)
            }
            await slice.giveWay()
        }
        for asset in busy where asset.isLoaded && library?.asset(id: asset.id) === asset {
            awake.record(asset.id, size: asset.content.textSize, at: .now)
        }
    }

    /// Records a use of an asset; reads its playlists and the lists of its pieces, on other threads, if it sleeps or was not used since
    /// the start.
    func wake(_ asset: Asset) async {
        guard let library else { return }
        if !asset.isLoaded {
            await wakes.run(ObjectIdentifier(asset)) {
                await library.records.wake(asset)
                await asset.readPieces()
            }
        } else {
            recordUse(of: asset)
        }
    }
}

extension Library {
    /// Reads the playlists of an asset before it is used, on other threads.
    package func wake(_ asset: Asset) async { await sleeping.wake(asset) }

    /// The number of assets with playlists in memory that may sleep.
    package var awakeCount: Int { sleeping.awakeCount }

    /// Frees the playlists of an asset unless it is in use. Returns true if it sleeps.
    fileprivate func letSleep(_ asset: Asset) async -> Bool {
        guard canSleep(asset) else { return false }
        if !asset.isPersistent {
            await records.saveNew(asset)
            guard asset.isPersistent, canSleep(asset) else { return false }
        }
        if let summaries {
            await summaries.settle(asset)
            // Of many tracks it takes several turns.
            guard canSleep(asset) else { return false }
        }
        partialPlayback?.forget(asset)
        for folder in asset.folders {
            loader.forgetRecent(of: folder)
        }
        asset.close()
        // A recording shares the access of its channel.
        if !asset.isChannelRecording {
            asset.access.forgetUse()
        }
        asset.sleep()
        return true
    }

    /// True if nothing of the asset is in use or stored, and the catalogue can give its playlists back.
    private func canSleep(_ asset: Asset) -> Bool {
        guard self.asset(id: asset.id) === asset, asset.canForgetContent, readOnlyReason == nil else { return false }
        if playheads.isPlayed(asset.id) || downloads?.isKept(asset) ?? false || isFetched(asset) {
            return false
        }
        if moves?.isMoving(asset) ?? false || playlistTasks.isLoading(asset) {
            return false
        }
        return asset.bytes == 0 && !loader.isFetching(in: asset.folders)
    }
}

extension PlaylistLoader.Tasks {
    /// True while a playlist of the asset is being loaded.
    fileprivate func isLoading(_ asset: Asset) -> Bool {
        if checks.isRunning(ObjectIdentifier(asset)) || entryRenewals.isRunning(ObjectIdentifier(asset)) {
            return true
        }
        return asset.renditions.contains {
            loads.isRunning(ObjectIdentifier($0)) || renewals.isRunning(ObjectIdentifier($0))
        }
    }
}

/// The rows from which the content of an asset is loaded.
struct ContentRows: Sendable {
    let playlists: [PlaylistRecord]
    let recordings: [RecordingRecord]

    init(playlists: [PlaylistRecord], recordings: [RecordingRecord]) {
        self.playlists = playlists
        self.recordings = recordings
    }

    init(_ contents: Catalogue.Contents) {
        playlists = contents.playlists
        recordings = contents.recordings
    }
}

extension Asset {
    /// The number of segments up to which a folder is read on the loop: a millisecond, and less than another thread needs to begin.
    private static let fewSegments = 256

    /// Reads which pieces are stored before something asks for it: those of a long playlist on other threads, because there may be a
    /// million, and those of thousands of short ones in slices.
    func readPieces() async {
        guard let content = loadedContent else { return }
        noteAbsentFolders()
        var slice = LoopSlice()
        for rendition in content.renditions where rendition.isLong || rendition.folder.known == nil {
            if rendition.isLong {
                await rendition.readCompleteness()
            } else if rendition.source?.playlist.segments.count ?? 0 > Self.fewSegments {
                await rendition.folder.load()
            } else {
                _ = rendition.folder.sizes
            }
            await slice.giveWay()
        }
    }
}

extension AssetRecords {
    /// Loads a sleeping asset on the loop: for a use that could not wait for `wake`.
    func reload(_ asset: Asset) {
        do throws(StoreError) {
            load(asset, ContentRows(try catalogue.rows(of: asset.id)))
        } catch {
            library.report("\(asset.name): its playlists cannot be read, and come from the origin again: \(error)")
        }
    }

    /// Loads an asset; reads and parses its playlists on other threads.
    func wake(_ asset: Asset) async {
        guard let rows = await rows(of: asset) else { return }
        let size = rows.playlists.reduce(0) { $0 + $1.body.count }
        let parsed = await PureWork.shared.run(size: size, for: asset.access) { Parsed(rows.playlists) }
        guard let parsed, !asset.isLoaded else { return }
        asset.load {
            library.records.load(asset, rows, parsed: parsed)
        }
    }

    /// The rows of the start, or of the catalogue; nil if that cannot be read. The catalogue of a store that is only read is empty.
    private func rows(of asset: Asset) async -> ContentRows? {
        if let rows = asset.unreadRows {
            return rows
        }
        let catalogue = catalogue
        let id = asset.id
        return try? await DiskWork.run { () throws(StoreError) in
            ContentRows(try catalogue.rows(of: id))
        }
    }

    /// The playlists of an asset, parsed, by the id of the rendition.
    struct Parsed: Sendable {
        private(set) var playlists: [String: (playlist: Playlist, base: WebURL)] = [:]
        /// Of those that are large.
        private(set) var prepared: [String: PreparedPlaylist] = [:]
        /// How the entry is adopted; nil for a lone media playlist.
        private(set) var plan: EntryPlan?

        init() {}

        init(_ records: [PlaylistRecord]) {
            var contents: [String: PieceName.Content] = [:]
            // The entry comes first, because it names the renditions.
            for record in records.sorted(by: { $0.rendition < $1.rendition }) {
                guard let (playlist, base) = AssetRecords.restored(record) else { continue }
                playlists[record.rendition] = (playlist, base)
                switch playlist {
                case .multivariant(let entry):
                    if record.rendition.isEmpty {
                        plan = EntryPlan(entry, known: nil)
                    }
                    let names = RenditionNaming(entry).names + ImageRenditions.names(entry)
                    contents = Dictionary(names.map { ($0.id, $0.content) }) { first, _ in first }
                case .media(let media):
                    var content = contents[record.rendition]
                    if record.rendition.isEmpty {
                        content = RenditionNaming.lone.content
                    }
                    let source = Rendition.Source(playlist: media, base: base)
                    guard let content, source.preparationSize > PureWork.small, !media.isLive else { continue }
                    prepared[record.rendition] = PreparedPlaylist(source, content: content)
                }
            }
        }
    }
}
