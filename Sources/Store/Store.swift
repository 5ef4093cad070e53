import CLinux
import Glibc
import Synchronization

/// The folder where everything lies that Weir keeps: bundles, the catalogue, and files on their way in.
///
/// ```
/// <store>/catalogue-1.sqlite   records/   lock   tmp/   assets/<asset id>/
/// ```
/// One process holds it at a time. Where the folder cannot be written, what is in it still plays, and nothing is kept.
public final class Store: Sendable {
    /// The folder itself.
    public let root: Directory
    /// Why nothing can be kept here; nil when the store is writable.
    public let readOnlyReason: StoreError?
    /// Assets, playlists, keys and downloads.
    public let catalogue: Catalogue

    /// Bytes of the disk that are left to others: below that nothing more is kept.
    public let reserve: Int64
    /// The same where it was given, for every disk; nil for a share of each.
    let givenReserve: Int64?
    /// Where bundles lie that were not moved: the folder itself.
    public let home: BundlePlace
    /// The annexes that were met so far, by their marks.
    let known = Mutex<[String: BundlePlace]>([:])

    private let lock: StoreLock?
    private let temporary: Directory?
    /// What files are written by that nobody waits for.
    let worker: WorkQueue?
    /// What makes pieces outlive a loss of power.
    let syncThread: SyncThread?
    /// The bundles; nil where there are none, and none can be made.
    let assets: Directory?
    /// What pieces are read by to be verified, once any are.
    private let verifying = Mutex<WorkQueue?>(nil)

    /// What only a store that can be written has.
    private struct Writable {
        let lock: StoreLock
        let temporary: Directory
        let assets: Directory
        let catalogue: Catalogue
        let worker: WorkQueue
        let syncThread: SyncThread
    }

    /// Opens the store at `path`, makes it if it is not there, and clears what an earlier process left in `tmp/`.
    ///
    /// - Parameters:
    ///   - reserve: bytes of the disk to leave free; nil for the larger of 256 MB and 2 % of the disk.
    ///   - report: told of trouble that nobody waits for, in a sentence for a log.
    /// - Throws: `StoreError`: `busy` when another process holds the store, `newer` when a newer Weir has changed its
    ///   catalogue, `moved` when it is in another folder by now; others when there is no folder to be had at all, or
    ///   nothing in it may be read.
    public init(
        path: String, reserve: Int64? = nil, report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(StoreError) {
        let root = try Directory.open(path: path)
        if let note = StoreMoveNote.read(in: root), note.path != Directory.real(path) {
            throw StoreError(.moved, path: path, detail: "the store is in \(note.path)")
        }
        self.root = root
        givenReserve = reserve
        self.reserve = reserve ?? Self.usualReserve(of: root)
        do throws(StoreError) {
            let parts = try Self.openForWriting(root, report)
            (lock, temporary, assets, catalogue) = (parts.lock, parts.temporary, parts.assets, parts.catalogue)
            (worker, syncThread) = (parts.worker, parts.syncThread)
            readOnlyReason = nil
        } catch {
            guard error.code != .busy, error.code != .newer else { throw error }
            (lock, temporary, assets, worker, syncThread) = (nil, nil, try? root.subdirectory("assets"), nil, nil)
            catalogue = try Catalogue(path: path, access: .readOnly)
            readOnlyReason = error
        }
        home = BundlePlace(
            home: .init(
                root: root, temporary: temporary, assets: assets, lock: lock, readOnlyReason: readOnlyReason))
    }

    deinit {
        verifying.withLock { $0 }?.stop()
        worker?.stop()
        syncThread?.stop()
        if !isAfterPowerLoss { lock?.end() }
        for annex in annexes { annex.noteSynced() }
    }

    private static func openForWriting(
        _ root: Directory, _ report: @escaping @Sendable (String) -> Void
    ) throws(StoreError) -> Writable {
        let lock = try StoreLock(in: root)
        let catalogue = try Catalogue(path: root.path, access: .readWrite, report: report)
        let temporary = try root.subdirectory("tmp", create: true)
        try clear(temporary)
        // From now on it is a store of its own, whatever becomes of the folder from which it was copied.
        try root.remove(StoreMoveNote.arrivedName)
        let assets = try root.subdirectory("assets", create: true)
        return Writable(
            lock: lock, temporary: temporary, assets: assets, catalogue: catalogue, worker: try WorkQueue(),
            syncThread: try SyncThread())
    }

    // MARK: Bundles

    /// The bundle of the asset `id`; with `create`, made if it is not there.
    ///
    /// - Parameter place: nil for the store's own folder.
    public func bundle(_ id: String, in place: BundlePlace? = nil, create: Bool) throws(StoreError) -> Directory {
        try (place ?? home).bundle(id, create: create && readOnlyReason == nil)
    }

    /// Takes away the bundle of the asset `id`: at once for whoever looks, file by file behind the scenes.
    ///
    /// What a crash leaves of it lies in `tmp/`, and goes at the next start. The id may be another bundle's at once.
    ///
    /// - Parameters:
    ///   - place: nil for the store's own folder.
    ///   - isGone: called, on any thread, when its files are deleted and the room is free.
    public func removeBundle(
        _ id: String, in place: BundlePlace? = nil, isGone: @escaping @Sendable () -> Void = {}
    ) throws(StoreError) {
        if let readOnlyReason { throw readOnlyReason }
        let place = place ?? home
        let temporary = try place.writable().temporary
        guard let name = try place.setAside(id) else { return isGone() }
        // After what is on its way into it: a folder that is filled meanwhile does not go.
        worker?.submit { [syncThread] in
            syncThread?.flush {
                Self.behindTheScenes {
                    try? temporary.removeTree(name)
                    isGone()
                }
            }
        }
    }

    /// Does something on a thread of its own; on this one where the system gives none.
    private static func behindTheScenes(_ body: @escaping @Sendable () -> Void) {
        do throws(StoreError) { try StoreThread.start("clearing", body) } catch { body() }
    }

    /// Empties `tmp/`: files at once, and folders, in which there may be much, behind the scenes. Until then they have names
    /// that nothing new gets.
    private static func clear(_ temporary: Directory) throws(StoreError) {
        var folders: [String] = []
        for name in try temporary.names() {
            if let aside = try temporary.putAside(name) { folders.append(aside) }
        }
        guard !folders.isEmpty else { return }
        behindTheScenes { [folders] in
            for name in folders { try? temporary.removeTree(name) }
        }
    }

    /// The names of all that lies where bundles are, bundles or not.
    public var bundleNames: [String] { (try? assets?.names()) ?? [] }

    /// The pieces in a folder of a bundle.
    ///
    /// - Parameters:
    ///   - place: where the bundle lies; nil for the store's own folder.
    ///   - lost: told, on a thread of the store, of a piece that was there, is synced in vain, and is deleted.
    public func pieces(
        in directory: Directory, of place: BundlePlace? = nil,
        lost: @escaping @Sendable (String, StoreError) -> Void = { _, _ in }
    ) -> PieceDirectory {
        PieceDirectory(directory, syncThread, by: (try? (place ?? home).folders())?.temporary, lost: lost)
    }

    /// The thread that reads pieces to verify them.
    func reader() throws(StoreError) -> WorkQueue {
        try verifying.withLock { known throws(StoreError) in
            let worker = if let known { known } else { try WorkQueue() }
            known = worker
            return worker
        }
    }

    /// A place where the bundle of a new asset can gather.
    public func stage(_ id: String) throws(StoreError) -> StagedBundle {
        guard let assets, let temporary, readOnlyReason == nil else {
            throw readOnlyReason ?? StoreError(.notWritable, path: root.path)
        }
        return try StagedBundle(id: id, store: root, temporary: temporary, assets: assets)
    }

    /// Gives `body` an empty folder on the store's disk, which goes when it ends; not on the loop's thread.
    public func withWorkFolder(_ body: (Directory) throws(StoreError) -> Void) throws(StoreError) {
        guard let temporary else { throw readOnlyReason ?? StoreError(.notWritable, path: root.path) }
        let name = Self.uniqueName("work")
        let folder = try temporary.subdirectory(name, create: true)
        defer { try? temporary.removeTree(name) }
        try body(folder)
    }

    /// A name for `tmp/` that nothing else has there.
    static func uniqueName(_ word: String) -> String { "\(word)-\(UInt64.random(in: 0 ... .max))" }

    /// Whether a path that need not be there leads into the store, by way of links too.
    public func contains(_ path: String) -> Bool {
        var folder = path.split(separator: "/").dropLast()
        while true {
            if let real = Directory.real("/" + folder.joined(separator: "/")) { return holds(real) }
            folder = folder.dropLast()
        }
    }

    /// Whether a path without links is the store's own folder, or leads into it or one of its annexes.
    func holds(_ path: String) -> Bool {
        let own = Directory.real(root.path).map { (path + "/").hasPrefix($0 + "/") } ?? false
        return own || annexes.contains { path.hasPrefix($0.path + "/") }
    }

    // MARK: A loss of power

    /// Whether the power was lost with pieces unsynced, and their folders have not all been looked into since.
    public var isAfterPowerLoss: Bool { lock?.isDoubtful ?? false }

    /// Takes note that all folders were looked into after a loss of power.
    public func noteRecovered() { lock?.begin() }

    /// Waits until everything that was kept so far survives a loss of power, as far as the disk says so: syncfs(2).
    public func sync() async {
        let root = root
        await Task.detached(priority: .background) { _ = weir_syncfs(root.descriptor) }.value
    }

    /// Waits until everything that has come whole is a piece, synced, and has its line in a ledger, and each asset's
    /// record says what the catalogue does.
    public func flush() async {
        await settle()
        await catalogue.flush()
        guard let syncThread else { return }
        await withCheckedContinuation { continuation in syncThread.flush { continuation.resume() } }
    }

    /// The orderly end: all is synced, and nothing comes any more.
    public func close() async {
        await flush()
        if !isAfterPowerLoss { lock?.end() }
        for annex in annexes { annex.noteSynced() }
    }

    // MARK: Growing files

    /// A file that may become a piece.
    ///
    /// - Parameter place: where its bundle lies; nil for the store's own folder.
    /// - Throws: `StoreError` when the place takes none: `anonymousFile()` then serves whoever waits.
    public func growingFile(named name: String, in place: BundlePlace? = nil) throws(StoreError) -> GrowingFile {
        try GrowingFile(in: temporary(in: place), named: name)
    }

    /// The same, gathered in memory as long as it is small and nobody reads it: for what only a download waits for.
    public func gatheringFile(named name: String, in place: BundlePlace? = nil) throws(StoreError) -> GrowingFile {
        GrowingFile(gatheringIn: try temporary(in: place), named: name)
    }

    private func temporary(in place: BundlePlace?) throws(StoreError) -> Directory {
        if let readOnlyReason { throw readOnlyReason }
        return try (place ?? home).writable().temporary
    }

    /// A file that is never kept.
    public func anonymousFile() throws(StoreError) -> GrowingFile { try GrowingFile(anonymousIn: temporary) }
}
