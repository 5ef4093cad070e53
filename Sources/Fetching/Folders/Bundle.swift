package import EventLoop
package import Store

/// One asset's folder in the store, opened on first use.
@LoopActor package final class Bundle: FolderHolder {
    package let id: String
    let store: BundleStore
    package private(set) var volume: Volume
    /// A volume that may have a second copy, which is not in use, after an interrupted move.
    package var other: Volume?
    private var opened: Directory?
    var latestUse = 0
    var isOpen: Bool { opened != nil }
    /// True while writes must wait, because the folder is about to move to another volume.
    package private(set) var isSuspended = false
    /// Writes until `resumeWrites()`. Closures, because each is called once, and they have nothing in common.
    private var waiting: [() -> Void] = []
    /// Keeps account of evictable pieces; nil for a bundle whose asset is not registered.
    package weak var observer: (any PieceObserver)?
    package weak var owner: (any BundleOwner)?
    /// The error for every access if a newer Weir has written the bundle; nil otherwise.
    @Rare package var refusal: StoreError?
    /// True after `forbidWrites()`: nothing is written any more.
    package private(set) var isRemoved = false
    /// Increases when the whole bundle is deleted: files that were being written then are not in the new folder.
    package private(set) var era = 0
    /// True if the folder is marked for backup tools to skip, as soon as it exists.
    package var isExcludedFromBackups = false

    package init(id: String, store: BundleStore) {
        self.id = id
        self.store = store
        volume = store.home
    }

    /// Sets the volume of the folder, after a move or a restart.
    package func relocate(to volume: Volume, other: Volume? = nil) {
        self.volume = volume
        self.other = other
        opened = nil
    }

    /// Notifies the owner that pieces were stored or deleted, or that the folders may have moved.
    package func changed() { owner?.bundleChanged(self) }

    /// The error for every access while the volume is not mounted; nil if it is mounted.
    package var absence: StoreError? { volume.absence }

    /// Makes writes wait until `resumeWrites()`.
    package func suspendWrites() { isSuspended = true }

    package func resumeWrites() {
        isSuspended = false
        let bodies = waiting
        waiting = []
        for body in bodies {
            body()
        }
    }

    /// Runs a write at once, or after `resumeWrites()` while writes are suspended.
    package func performWrite(_ body: @escaping () -> Void) {
        if isSuspended {
            waiting.append(body)
        } else {
            body()
        }
    }

    /// Returns the folder; with `create`, makes it if it does not exist.
    package func directory(create: Bool) throws(StoreError) -> Directory {
        guard !isRemoved else { throw StoreError(.missing, path: id, detail: "the asset was removed") }
        if let refusal {
            throw refusal
        }
        // The folder would be made where the bundle is about to leave, or its file would be missing in the copy.
        if create, isSuspended, opened == nil, !exists {
            throw beingMoved
        }
        if let opened {
            OpenFolders.shared.recordUse(of: self)
            return opened
        }
        let directory = try store.bundle(id, in: volume, create: create)
        opened = directory
        OpenFolders.shared.add(self)
        // Ignore the error: without the mark, pieces can be stored all the same.
        if create, isExcludedFromBackups {
            try? directory.setExcludedFromBackups(true)
        }
        return directory
    }

    /// Returns a folder of pieces in the bundle; with `create`, makes it with an empty ledger if it does not exist.
    /// For `lost` see `BundleStore.pieces`.
    func pieces(
        _ id: String, create: Bool, lost: @escaping @Sendable (String, StoreError) -> Void
    ) throws(StoreError) -> PieceDirectory {
        let folder = try directory(create: create).subdirectory(id, create: create)
        let pieces = store.pieces(in: folder, of: volume, lost: lost)
        if create {
            pieces.begin()
        }
        return pieces
    }

    /// True if files without a line in a ledger may be damaged: the power was lost, and nothing was checked since.
    var isDoubtful: Bool { volume.isAfterPowerLoss }

    /// Forgets the open folder, because another program deleted it.
    package func close() { opened = nil }

    func park() { opened = nil }

    /// Reads the folder without keeping it open, unless it is open already. A list of all assets reads every folder,
    /// and there are fewer file descriptors than assets.
    package func readOnce<Value>(_ read: () -> Value) -> Value {
        let wasOpen = opened != nil
        defer {
            if !wasOpen {
                opened = nil
            }
        }
        return read()
    }

    /// The names of its files and folders, read at once: to look for thousands of folders one by one takes longer. Nil if they cannot
    /// be read.
    package var names: Set<String>? {
        readOnce {
            do throws(StoreError) {
                return Set(try directory(create: false).names())
            } catch  where error.code == .missing {
                return []
            } catch {
                return nil
            }
        }
    }

    package var exists: Bool { readOnce { (try? directory(create: false)) != nil } }

    /// Deletes everything; later files go to a new folder. For `isGone` see `BundleStore.removeBundle`.
    package func clear(isGone: @escaping @Sendable () -> Void) throws(StoreError) {
        guard !isRemoved else { return isGone() }
        opened = nil
        era = era + 1
        try store.removeBundle(id, in: volume, isGone: isGone)
    }

    /// Forbids writes from now on, because the asset is being removed. Open descriptors stay readable.
    package func forbidWrites() {
        isRemoved = true
        opened = nil
    }

    /// The error for writes that cannot wait for `resumeWrites()`.
    private var beingMoved: StoreError { StoreError(.busy, path: id, detail: "it is being moved") }

    /// Throws `busy` while writes must wait.
    func checkNotSuspended() throws(StoreError) {
        if isSuspended {
            throw beingMoved
        }
    }
}

/// Observes the pieces of its bundle.
@LoopActor package protocol BundleOwner: AnyObject {
    /// A piece was stored. Called after the bundle's `PieceObserver`.
    func folder(_ folder: PieceFolder, gained file: String)
    func bundle(_ bundle: Bundle, lostPiece error: StoreError)
    /// A piece, given by folder and file, was found damaged before it was sent, and is not in the list any more.
    func bundle(_ bundle: Bundle, damagedPiece piece: String, _ fault: PieceFault)
    /// Pieces were stored or deleted, or the folders may have moved.
    func bundleChanged(_ bundle: Bundle)
}

/// Keeps account of stored pieces and of their use.
@LoopActor package protocol PieceObserver: AnyObject {
    /// A folder was read from disk. `pieces` holds every piece in it, by file name.
    func folder(_ folder: PieceFolder, lists pieces: [String: Directory.Entry])
    /// A part of the pieces of a folder was read from disk, which was not read before.
    func folder(_ folder: PieceFolder, finds pieces: [(key: String, value: Directory.Entry)])
    func folder(_ folder: PieceFolder, gained file: String, size: Int64)
    /// A piece has got a further name: its bytes are those of another piece too, and are stored once.
    func folder(_ folder: PieceFolder, shares file: String)
    func folder(_ folder: PieceFolder, lost file: String)
    func folder(_ folder: PieceFolder, used file: String)
    /// The sum of the evictable pieces' lengths, in bytes.
    func evictableBytes(in folder: PieceFolder) -> Int64
}
