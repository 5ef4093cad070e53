// The room Store.
//
// Duty: folders, growing files, ledgers, the SQLite catalogue, disks.
// Entrance: `BundleStore`, then `PieceDirectory` and `GrowingFile` for pieces, `Catalogue` for records.
// Does not enter: the network, playlists and players. Whatever touches a file of a bundle is here, and works beneath an
//     open folder.

import CLinux
import Glibc
import Synchronization

/// The folder of everything that Weir stores: bundles, the catalogue, and growing files.
///
/// ```
/// <store>/catalogue-1.sqlite   records/   lock   tmp/   assets/<asset id>/
/// ```
/// One process uses it at a time. From a read-only folder everything still plays, and nothing is stored.
public final class BundleStore: Sendable {
    /// The folder.
    public let root: Directory
    /// The error because of which nothing can be stored; nil for a writable store.
    public let readOnlyReason: StoreError?
    /// The index of assets, playlists, keys and downloads.
    public let catalogue: Catalogue
    /// The bytes of the disk that are left to other programs: nothing is stored if less is free.
    public let reserve: Int64
    /// The configured reserve, for every volume; nil for the default of each disk.
    let givenReserve: Int64?
    /// The store's own folder as a volume: it has the bundles that were not moved.
    public let home: Volume
    /// The removals that wait for a volume.
    let removals: AwaitedRemovals
    /// The other volumes used since the start, by mark.
    let known = Mutex<[String: Volume]>([:])
    /// The volumes to which assets are being moved, by mark. Locked while such a volume is made or removed.
    let moveTargets = Mutex<[String: MoveTarget]>([:])
    private let lock: StoreLock?
    private let temporary: Directory?
    let worker: WorkQueue?
    let syncThread: SyncThread?
    /// The folder of bundles; nil if it is missing in a read-only store.
    let assets: Directory?
    let bundleMode = Mutex(BundleMode())
    /// The thread for verifications, started by the first one.
    private let verifying = Mutex<WorkQueue?>(nil)
    /// The thread that reads pieces before they are played, started by the first one.
    private let checking = Mutex<PieceChecker?>(nil)
    /// The changes of pieces' statuses that are the store's own.
    package let ownChanges = OwnChanges()

    private typealias Writable = (
        lock: StoreLock, temporary: Directory, assets: Directory, catalogue: Catalogue, worker: WorkQueue,
        syncThread: SyncThread
    )

    /// Opens the store at `path`, creates it if it is missing, and clears `tmp/`. `reserve` is the number of bytes of the disk
    /// to leave free; nil for the larger of 256 MB and 2 % of the disk. `state` is the state folder, which also knows the removals
    /// that wait for a volume; nil for none. `report` is called with a sentence for the log for errors that no caller gets.
    /// Throws `StoreError`: `busy` if another process uses the store, `newer` if a newer Weir has changed its catalogue, `moved`
    /// if the store is in another folder now; others if the folder cannot be created or read.
    public init(
        path: String, reserve: Int64? = nil, state: String? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(StoreError) {
        let root = try Directory.open(path: path)
        if let marker = StoreMoveMarker.read(in: root), marker.path != Directory.real(path) {
            throw StoreError(.moved, path: path, detail: "the store is in \(marker.path)")
        }
        self.root = root
        givenReserve = reserve
        self.reserve = reserve ?? Self.usualReserve(of: root)
        do throws(StoreError) {
            let parts = try Self.openForWriting(root, report)
            lock = parts.lock
            temporary = parts.temporary
            assets = parts.assets
            catalogue = parts.catalogue
            worker = parts.worker
            syncThread = parts.syncThread
            readOnlyReason = nil
        } catch {
            guard error.code != .busy, error.code != .newer else { throw error }
            lock = nil
            temporary = nil
            assets = try? root.subdirectory("assets")
            worker = nil
            syncThread = nil
            catalogue = try Catalogue(path: path, access: .readOnly)
            readOnlyReason = error
        }
        home = Volume(
            home: .init(root: root, temporary: temporary, assets: assets, lock: lock, readOnlyReason: readOnlyReason))
        removals = AwaitedRemovals(
            inCatalogue: catalogue.awaitedRemovals, folder: state)
        // Their volumes may have no other asset, and are watched all the same.
        for removal in removals.all {
            _ = volume(removal.path, removal.mark)
        }
    }

    deinit {
        verifying.withLock { $0 }?.stop()
        checking.withLock { $0 }?.stop()
        worker?.stop()
        syncThread?.stop()
        if !isAfterPowerLoss {
            lock?.end()
        }
        for volume in volumes {
            volume.markSynced()
        }
    }

    private static func openForWriting(
        _ root: Directory, _ report: @escaping @Sendable (String) -> Void
    ) throws(StoreError) -> Writable {
        let lock = try StoreLock(in: root)
        let catalogue = try Catalogue(path: root.path, access: .readWrite, report: report)
        let temporary = try root.subdirectory("tmp", create: true)
        try clear(temporary)
        // The copy is a store of its own from now on, whatever happens to the original folder.
        try root.remove(StoreMoveMarker.arrivedName)
        let assets = try root.subdirectory("assets", create: true)
        return (lock, temporary, assets, catalogue, try WorkQueue(), try SyncThread())
    }

    // MARK: Bundles

    /// Opens an asset's bundle; with `create`, creates a missing one. `volume` is nil for the store's own folder.
    public func bundle(_ id: String, in volume: Volume? = nil, create: Bool) throws(StoreError) -> Directory {
        try (volume ?? home).bundle(id, create: create && readOnlyReason == nil)
    }

    /// Removes the bundle of the asset `id`: in one step for readers, then file by file on another thread.
    ///
    /// After a crash the rest is in `tmp/`, and the next start deletes it. The id can be used again at once. `volume` is nil
    /// for the store's own folder. `isGone` is called on any thread once the files are deleted and their space is free.
    public func removeBundle(
        _ id: String, in volume: Volume? = nil, isGone: @escaping @Sendable () -> Void = {}
    ) throws(StoreError) {
        if let readOnlyReason {
            throw readOnlyReason
        }
        let volume = volume ?? home
        let temporary = try volume.writable().temporary
        guard let name = try volume.setAside(id) else { return isGone() }
        delete(name, in: temporary, isGone: isGone)
    }

    /// Deletes a folder of `tmp/` on another thread.
    func delete(_ name: String, in temporary: Directory, isGone: @escaping @Sendable () -> Void = {}) {
        // After the pieces that are being written into it: a folder that gets new files cannot be removed.
        worker?.submit { [syncThread] in
            syncThread?.flush {
                Self.inBackground {
                    try? temporary.removeTree(name)
                    isGone()
                }
            }
        }
    }

    /// Runs `body` on a thread of its own, or on this one if the system has none left.
    static func inBackground(_ body: @escaping @Sendable () -> Void) {
        do throws(StoreError) { try StoreThread.start("clearing", body) } catch { body() }
    }

    /// Empties `tmp/`: files at once; folders, which may be large, on another thread, under names that no new file gets.
    private static func clear(_ temporary: Directory) throws(StoreError) {
        var folders: [String] = []
        var exports: [String] = []
        for name in try temporary.names() {
            if name.hasPrefix(exportPrefix), let path = try? temporary.read(name) {
                exports.append(String(decoding: path, as: UTF8.self))
            }
            if let aside = try temporary.putAside(name) {
                folders.append(aside)
            }
        }
        guard !folders.isEmpty || !exports.isEmpty else { return }
        inBackground { [folders, exports] in
            for path in exports {
                ExportTarget.removePart(ofExportTo: path)
            }
            for name in folders {
                try? temporary.removeTree(name)
            }
        }
    }

    /// The names of everything in the folder of bundles, also of files that are not bundles, but not of removed bundles.
    public var bundleNames: [String] {
        let names = (try? assets?.names()) ?? []
        return names.filter { !$0.hasPrefix(Volume.removedPrefix) && !removals.contains($0) }
    }

    /// Returns the pieces in a folder of a bundle. `volume` is nil for the store's own folder. `lost` is called on a
    /// thread of the store for a piece that was deleted because its sync failed.
    public func pieces(
        in directory: Directory, of volume: Volume? = nil,
        lost: @escaping @Sendable (String, StoreError) -> Void = { _, _ in }
    ) -> PieceDirectory {
        let temporary = (try? (volume ?? home).folders())?.temporary
        return PieceDirectory(directory, syncThread, by: temporary, noting: ownChanges, lost: lost)
    }

    func reader() throws(StoreError) -> WorkQueue {
        try verifying.withLock { known throws(StoreError) in
            let worker = if let known { known } else { try WorkQueue() }
            known = worker
            return worker
        }
    }

    /// Nil if the system has no thread left.
    func checker() -> PieceChecker? {
        checking.withLock { known in
            if known == nil {
                known = try? PieceChecker()
            }
            return known
        }
    }

    /// Makes a bundle that is filled before it becomes visible.
    public func stage(_ id: String) throws(StoreError) -> StagedBundle {
        guard let assets, let temporary, readOnlyReason == nil else {
            throw readOnlyReason ?? StoreError(.notWritable, path: root.path)
        }
        return try StagedBundle(id: id, store: root, temporary: temporary, assets: assets)
    }

    private static let exportPrefix = "export-"

    /// Notes an export to a path outside the store, until `endExport`: if the process is killed meanwhile, the next start deletes
    /// what it left there. Returns the note; nil if nothing can be noted.
    public func noteExport(to path: String) -> String? {
        let name = Self.uniqueName(String(Self.exportPrefix.dropLast()))
        guard let temporary, (try? temporary.write(Array(path.utf8), as: name)) != nil else { return nil }
        return name
    }

    /// Forgets an export that has ended.
    public func endExport(_ note: String?) {
        if let note {
            try? temporary?.remove(note)
        }
    }

    /// Calls `body` with an empty folder on the store's disk, removes the folder, and returns what `body` did. Do not call it on the loop.
    public func withWorkFolder<Value>(
        _ body: (Directory) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        guard let temporary else { throw readOnlyReason ?? StoreError(.notWritable, path: root.path) }
        let name = Self.uniqueName("work")
        let folder = try temporary.subdirectory(name, create: true)
        defer { try? temporary.removeTree(name) }
        return try body(folder)
    }

    /// Returns a name that nothing else in `tmp/` has.
    static func uniqueName(_ word: String) -> String { "\(word)-\(UInt64.random(in: 0 ... .max))" }

    /// Returns true if a path, which may be missing, is inside the store or one of its volumes, also through links.
    public func contains(_ path: String) -> Bool {
        var folder = path.split(separator: "/").dropLast()
        while true {
            if let real = Directory.real("/" + folder.joined(separator: "/")) {
                return containsResolved(real)
            }
            folder = folder.dropLast()
        }
    }

    /// Returns true if a path without links is the store's own folder, or inside it or one of its volumes.
    func containsResolved(_ path: String) -> Bool {
        if let own = Directory.real(root.path), (path + "/").hasPrefix(own + "/") {
            return true
        }
        return volumes.contains { path.hasPrefix($0.path + "/") }
    }

    // MARK: Power cuts

    /// True if the power was lost with unsynced pieces, and not all folders have been checked since.
    public var isAfterPowerLoss: Bool { lock?.isDoubtful ?? false }
    /// Call once all folders are checked after a power cut.
    public func markRecovered() { lock?.begin() }

    /// Waits until everything stored so far survives a power cut, as far as the disk reports it: syncfs(2).
    public func sync() async {
        let root = root
        await Task.detached(priority: .background) { _ = weir_syncfs(root.descriptor) }.value
    }

    /// Waits until every complete file is a synced piece with a ledger line, and every record matches the catalogue.
    public func flush() async {
        await finishCommits()
        await catalogue.flush()
        guard let syncThread else { return }
        await withCheckedContinuation { continuation in syncThread.flush { continuation.resume() } }
    }

    /// Syncs everything. Nothing may be stored afterwards.
    public func close() async {
        await flush()
        if !isAfterPowerLoss {
            lock?.end()
        }
        for volume in volumes {
            volume.markSynced()
        }
    }

    // MARK: Growing files

    /// Makes a file that may become a piece. `volume` is nil for the store's own folder. Throws `StoreError` if the
    /// volume cannot be written. Then use `anonymousFile()` to serve the players.
    public func growingFile(named name: String, in volume: Volume? = nil) throws(StoreError) -> GrowingFile {
        try GrowingFile(in: temporary(in: volume), named: name)
    }

    /// Makes such a file that is gathered in memory while it is small and has no reader: for downloads.
    public func gatheringFile(named name: String, in volume: Volume? = nil) throws(StoreError) -> GrowingFile {
        GrowingFile(gatheringIn: try temporary(in: volume), named: name)
    }

    private func temporary(in volume: Volume?) throws(StoreError) -> Directory {
        if let readOnlyReason {
            throw readOnlyReason
        }
        return try (volume ?? home).writable().temporary
    }

    /// Makes a file that is never stored.
    public func anonymousFile() throws(StoreError) -> GrowingFile { try GrowingFile(anonymousIn: temporary) }
}

/// Commits of gathered files.
extension BundleStore {
    /// A gathered file and the piece that it is to become.
    public struct Commit: Sendable {
        let file: GatheredFile
        let folder: PieceDirectory
        let target: String

        /// Makes a commit to the piece `target` in `folder`.
        public init(_ file: GatheredFile, to folder: PieceDirectory, as target: String) {
            self.file = file
            self.folder = folder
            self.target = target
        }
    }

    /// Writes pieces in the order of the calls. `ended` gets the result of each commit, on the store's thread: the piece's identity,
    /// if it is known.
    package func commit(
        _ commits: [Commit], ended: @escaping @Sendable ([Result<FileIdentity?, StoreError>]) -> Void
    ) {
        guard let worker else {
            let reason = readOnlyReason ?? StoreError(.notWritable, path: root.path)
            return ended(commits.map { _ in .failure(reason) })
        }
        worker.submit {
            var results: [Result<FileIdentity?, StoreError>] = []
            for commit in commits {
                do throws(StoreError) {
                    results.append(.success(try commit.file.commit(to: commit.folder, as: commit.target)))
                } catch {
                    results.append(.failure(error))
                }
            }
            ended(results)
        }
    }

    /// Waits for the end of all earlier commits.
    public func finishCommits() async {
        guard let worker else { return }
        await withCheckedContinuation { continuation in worker.submit { continuation.resume() } }
    }
}
