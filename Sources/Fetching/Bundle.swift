package import EventLoop
package import Store

/// One asset's folder in the store, opened when it is first needed.
@LoopActor package final class Bundle {
    /// The folder's name: the asset's id.
    package let id: String
    private let store: Store
    /// Where it lies.
    package private(set) var place: Volume
    /// Where something of it may lie that is not in use: a move was interrupted.
    package var other: Volume?
    private var opened: Directory?
    /// Whether nothing may be written for a moment, since it is about to lie elsewhere.
    package private(set) var isHeld = false
    private var waiting: [() -> Void] = []
    /// Keeps account of pieces that may be evicted; nil for a bundle whose asset is not registered.
    package weak var observer: (any PieceObserver)?
    /// The asset.
    package weak var owner: (any BundleOwner)?
    /// Why nothing in it may be read or written, where that is so: a newer Weir has written it.
    package var refusal: StoreError?
    /// Whether `remove()` was called: nothing is written any more.
    package private(set) var isRemoved = false
    /// Grows each time that all of it is deleted: what was on its location into it by then is not in it.
    package private(set) var era = 0
    /// Whether the folder is marked for tools that make backups, as soon as there is one.
    package var isExcludedFromBackups = false

    package init(id: String, store: Store) {
        self.id = id
        self.store = store
        place = store.home
    }

    /// It lies there from now on.
    package func settle(in place: Volume, other: Volume? = nil) {
        (self.place, self.other, opened) = (place, other, nil)
    }

    /// Notifies the owner that pieces were stored or deleted, or that the folders may have moved.
    package func changed() { owner?.bundleChanged(self) }

    /// Why nothing of it can be had now: its disk is not there. Nil where it is.
    package var absence: StoreError? { place.absence }

    /// Lets nothing be written until `release()`.
    package func hold() { isHeld = true }

    /// Lets it be written again, and does what has waited for that.
    package func release() {
        isHeld = false
        let bodies = waiting
        waiting = []
        for body in bodies { body() }
    }

    /// Does at once, or as soon as it may, what writes to it.
    package func whenFree(_ body: @escaping () -> Void) {
        if isHeld { waiting.append(body) } else { body() }
    }

    /// The folder; with `create`, made if it is not there.
    package func directory(create: Bool) throws(StoreError) -> Directory {
        guard !isRemoved else { throw StoreError(.missing, path: id, detail: "the asset was removed") }
        if let refusal { throw refusal }
        if let opened { return opened }
        let directory = try store.bundle(id, in: place, create: create)
        opened = directory
        // A mark that cannot be made is no reason to keep nothing.
        if create, isExcludedFromBackups { try? directory.setExcludedFromBackups(true) }
        return directory
    }

    /// A folder of pieces in it; with `create`, made with an empty ledger if it is not there.
    ///
    /// - Parameter lost: see `Store.pieces`.
    func pieces(
        _ id: String, create: Bool, lost: @escaping @Sendable (String, StoreError) -> Void
    ) throws(StoreError) -> PieceDirectory {
        let folder = try directory(create: create).subdirectory(id, create: create)
        let pieces = store.pieces(in: folder, of: place, lost: lost)
        if create { pieces.begin() }
        return pieces
    }

    /// Whether what has no line in a ledger may be wrong: the power was lost before anybody has looked.
    var isDoubtful: Bool { place.isAfterPowerLoss }

    /// Forgets the open folder: it was deleted behind our back.
    package func close() { opened = nil }

    /// Looks into the folder without keeping it open, unless it is open: a list looks into all that there are, and
    /// there are fewer descriptors than assets.
    package func glance<Value>(_ look: () -> Value) -> Value {
        let wasOpen = opened != nil
        defer { if !wasOpen { opened = nil } }
        return look()
    }

    /// Whether there is such a folder.
    package var exists: Bool { glance { (try? directory(create: false)) != nil } }

    /// Deletes everything; what comes from now on begins another folder.
    ///
    /// - Parameter isGone: see `Store.removeBundle`.
    package func clear(isGone: @escaping @Sendable () -> Void) throws(StoreError) {
        guard !isRemoved else { return isGone() }
        (opened, era) = (nil, era + 1)
        try store.removeBundle(id, in: place, isGone: isGone)
    }

    /// Deletes everything. Nothing can be written any more; open descriptors read on to their end. What lies on a disk that
    /// is not there stays there.
    package func remove() throws(StoreError) {
        isRemoved = true
        opened = nil
        if let other { try? store.removeBundle(id, in: other) }
        if absence == nil { try store.removeBundle(id, in: place) }
    }
}

/// Follows the pieces of its bundle.
@LoopActor package protocol BundleOwner: AnyObject {
    /// A piece was stored. Called after the bundle's `PieceObserver`.
    func folder(_ folder: PieceFolder, gained file: String)
    /// The disk has lost a stored piece.
    func bundle(_ bundle: Bundle, lostPiece error: StoreError)
    /// Pieces were stored or deleted, or the folders may have moved.
    func bundleChanged(_ bundle: Bundle)
}

/// Keeps account of stored pieces and of their use.
@LoopActor package protocol PieceObserver: AnyObject {
    /// A folder was read from disk. `pieces` holds every piece in it, by file name.
    func folder(_ folder: PieceFolder, lists pieces: [String: Directory.Entry])
    /// A piece was committed; `size` is in bytes.
    func folder(_ folder: PieceFolder, gained file: String, size: Int64)
    /// A piece is gone.
    func folder(_ folder: PieceFolder, lost file: String)
    /// A piece was opened for a reader.
    func folder(_ folder: PieceFolder, used file: String)
    /// The sum of the evictable pieces' lengths, in bytes.
    func evictableBytes(in folder: PieceFolder) -> Int64
}
