import CLinux
import Glibc
import Synchronization

/// A folder where bundles of a store lie: the store's own, or an annex, which is one on another disk.
///
/// ```
/// <place>/assets/<asset id>/   tmp/   lock   annex.json, in an annex
/// ```
/// Files grow in the `tmp/` of the place where they are to stay, so that a rename makes pieces of them. An annex may be
/// *away*: its disk is not there. It is known by its mark, not by its path. Sendable: from any thread.
public final class BundlePlace: Sendable {
    /// What is open of it.
    struct Folders: Sendable {
        let root: Directory
        /// Nil where nothing can be written.
        let temporary: Directory?
        /// Nil where there is none, and none can be made.
        let assets: Directory?
        let lock: StoreLock?
        /// Why nothing can be written; nil where it can.
        let readOnlyReason: StoreError?
    }

    private struct State: Sendable {
        var path: String
        var folders: Result<Folders, StoreError>
    }

    /// What an annex is known by; nil for the store's own folder.
    public let mark: String?
    private let state: Mutex<State>
    /// How many bundles were taken away: each has a name of its own in `tmp/`, where the last may still lie.
    private let removals = Atomic(0)

    /// The store's own folder.
    init(home folders: Folders) {
        mark = nil
        state = Mutex(State(path: folders.root.path, folders: .success(folders)))
    }

    /// An annex that the catalogue names; away, where its disk is not there now.
    init(path: String, mark: String) {
        self.mark = mark
        state = Mutex(State(path: path, folders: Self.opened(path, mark)))
    }

    /// Whether it is the store's own folder.
    public var isHome: Bool { mark == nil }

    /// Its path.
    public var path: String { state.withLock { $0.path } }

    /// Why nothing of it can be had now; nil where its disk is there.
    public var absence: StoreError? {
        if case .failure(let error) = state.withLock({ $0.folders }) { error } else { nil }
    }

    /// What is open.
    ///
    /// - Throws: `away`.
    func folders() throws(StoreError) -> Folders { try state.withLock { $0.folders }.get() }

    /// What is open, for writing.
    ///
    /// - Throws: `away`; why nothing can be written there.
    func writable() throws(StoreError) -> (root: Directory, temporary: Directory, assets: Directory) {
        let folders = try folders()
        guard folders.readOnlyReason == nil, let temporary = folders.temporary, let assets = folders.assets else {
            throw folders.readOnlyReason ?? StoreError(.notWritable, path: path)
        }
        return (folders.root, temporary, assets)
    }

    // MARK: Whether its disk is there

    /// Looks whether its disk is there, which may take as long as a disk does.
    ///
    /// - Returns: whether that is otherwise than at the last look.
    public func look() -> Bool {
        guard let mark else { return false }
        let state = state.withLock { $0 }
        if case .success(let folders) = state.folders {
            guard !folders.root.isStill(at: state.path) else { return false }
            let error = StoreError(.away, path: state.path)
            self.state.withLock { $0.folders = .failure(error) }
            return true
        }
        let found = Self.opened(state.path, mark)
        self.state.withLock { $0.folders = found }
        if case .success = found { return true } else { return false }
    }

    /// Looks for it elsewhere from now on: its disk is mounted there.
    func follow(to path: String) {
        state.withLock { $0.path = path }
        _ = look()
    }

    private static func opened(_ path: String, _ mark: String) -> Result<Folders, StoreError> {
        Result { () throws(StoreError) in
            let root = try? Directory.existing(path: path, followsLink: false)
            do throws(StoreError) {
                guard let root, try AnnexMark.read(in: root)?.id == mark else { throw StoreError(.away, path: path) }
                return try open(root)
            } catch {
                throw error.code == .away ? error : StoreError(.away, path: path, detail: "\(error)")
            }
        }
    }

    /// Opens an annex, makes what it lacks, and clears what an earlier process left in `tmp/`.
    private static func open(_ root: Directory) throws(StoreError) -> Folders {
        do throws(StoreError) {
            try root.checkOwner()
            let lock = try StoreLock(in: root)
            let temporary = try root.subdirectory("tmp", create: true)
            try temporary.removeContents()
            let assets = try root.subdirectory("assets", create: true)
            return Folders(root: root, temporary: temporary, assets: assets, lock: lock, readOnlyReason: nil)
        } catch {
            guard error.code == .notWritable else { throw error }
            let assets = try root.subdirectory("assets")
            return Folders(root: root, temporary: nil, assets: assets, lock: nil, readOnlyReason: error)
        }
    }

    // MARK: A new annex

    /// Makes an annex of a folder that is new or empty, or finds the mark of the one that is there.
    ///
    /// - Parameters:
    ///   - isKnown: whether an annex of this mark is this store's.
    ///   - check: throws for a path, without links, that is none for an annex.
    /// - Returns: its mark, its path without links, and whether it was made now.
    /// - Throws: `exists` where something else is there, or another store's bundles; `notWritable` where it is another
    ///   user's; `newer`; the system's reasons.
    static func prepare(
        at path: String, isKnown: (String) -> Bool, check: (String) throws(StoreError) -> Void
    ) throws(StoreError) -> (mark: String, path: String, isNew: Bool) {
        let root = try Directory.open(path: path)
        guard let real = Directory.real(path) else { throw StoreError(path: path) }
        try check(real)
        try root.checkOwner()
        if let mark = try AnnexMark.read(in: root) {
            guard !isKnown(mark.id) else { return (mark.id, real, false) }
            // One that came to nothing has no bundle.
            if let assets = try? root.subdirectory("assets"), try !assets.names().isEmpty {
                throw StoreError(.exists, path: path, detail: "bundles of another store lie there")
            }
            return (mark.id, real, false)
        }
        guard try root.names().allSatisfy({ $0 == "lost+found" }) else {
            throw StoreError(
                .exists, path: path, detail: "other things are there: give a new folder, such as \(path)/weir")
        }
        let mark = AnnexMark()
        try mark.write(in: root)
        return (mark.id, real, true)
    }

    /// Takes away an annex that was made for nothing, and its folder if nothing else is in that.
    func discard() {
        guard !isHome, let folders = try? writable(), (try? folders.assets.names().isEmpty) ?? false else { return }
        for name in ["assets", "tmp", AnnexMark.fileName, "lock"] { try? folders.root.removeTree(name) }
        rmdir(path)
    }

    // MARK: Bundles

    /// The bundle of the asset `id`; with `create`, made if it is not there.
    func bundle(_ id: String, create: Bool) throws(StoreError) -> Directory {
        let folders = try folders()
        guard let assets = folders.assets else {
            throw folders.readOnlyReason ?? StoreError(.missing, path: folders.root.path)
        }
        return try assets.subdirectory(id, create: create && folders.readOnlyReason == nil)
    }

    /// Whether a bundle of this asset lies there.
    ///
    /// - Throws: `away`.
    public func hasBundle(_ id: String) throws(StoreError) -> Bool {
        do {
            _ = try bundle(id, create: false)
            return true
        } catch {
            guard error.code == .missing else { throw error }
            return false
        }
    }

    /// Puts a bundle into `tmp/`, in one step.
    ///
    /// - Returns: its folder's name there; nil where there is no such bundle.
    func setAside(_ id: String) throws(StoreError) -> String? {
        let (_, temporary, assets) = try writable()
        let name = "\(id).\(removals.wrappingAdd(1, ordering: .relaxed).newValue)"
        do {
            try assets.move(id, to: temporary, as: name)
        } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
        return name
    }

    /// Whether a bundle can come from another place by a rename, as far as is known before that.
    public func isOnDisk(of other: BundlePlace) -> Bool {
        var (own, found) = (stat(), stat())
        guard let folders = try? folders(), let others = try? other.folders() else { return false }
        return fstat(folders.root.descriptor, &own) == 0 && fstat(others.root.descriptor, &found) == 0
            && own.st_dev == found.st_dev
    }

    /// Takes a bundle over from another place by a rename, in one step that outlives a loss of power.
    ///
    /// - Returns: whether that could be; not where the disks are two.
    /// - Throws: `exists` where there is a bundle of that id.
    public func take(_ id: String, from other: BundlePlace) throws(StoreError) -> Bool {
        let (assets, others) = (try writable().assets, try other.writable().assets)
        do throws(StoreError) {
            try others.move(id, to: assets, as: id)
        } catch {
            if error.errno == EXDEV { return false }
            throw error.errno == ENOTEMPTY ? StoreError(.exists, path: assets.path + "/" + id) : error
        }
        for folder in [assets, others] where fsync(folder.descriptor) != 0 { throw StoreError(path: folder.path) }
        return true
    }

    // MARK: A loss of power

    /// Whether the power was lost with pieces unsynced, and their folders have not all been looked into since.
    public var isAfterPowerLoss: Bool { (try? folders())?.lock?.isDoubtful ?? false }

    /// Takes note that all folders were looked into after a loss of power.
    public func noteRecovered() { (try? folders())?.lock?.begin() }

    /// Takes note that all is synced.
    func noteSynced() {
        if !isAfterPowerLoss { (try? folders())?.lock?.end() }
    }
}

extension Directory {
    /// Throws `notWritable` where the folder is another user's: what is planted there is not ours to trust.
    fileprivate func checkOwner() throws(StoreError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw StoreError(path: path) }
        guard status.st_uid == geteuid() else {
            throw StoreError(.notWritable, path: path, detail: "it belongs to another user")
        }
    }

    /// Whether this folder is what is at a path.
    fileprivate func isStill(at path: String) -> Bool {
        var (own, found) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, lstat(path, &found) == 0 else { return false }
        return own.st_dev == found.st_dev && own.st_ino == found.st_ino
    }

    /// A path that is there, without links; nil for any other.
    static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
