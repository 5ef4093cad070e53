import CLinux
import Foundation
import Glibc
import Synchronization

/// A folder with bundles of a store: the store's own folder, or one on another disk.
///
/// ```
/// <volume>/assets/<asset id>/   tmp/   lock   volume.json, except in the store's own folder
/// ```
/// A file grows in the `tmp/` of its final volume, so that a rename makes it a piece. A volume is *away* while its disk is
/// not mounted. It is identified by its mark, not by its path. Sendable: from any thread.
public final class Volume: Sendable {
    struct Folders: Sendable {
        let root: Directory
        /// Nil in a read-only volume.
        let temporary: Directory?
        /// Nil if it is missing in a read-only volume.
        let assets: Directory?
        let lock: StoreLock?
        /// The error because of which nothing can be written; nil for a writable volume.
        let readOnlyReason: StoreError?
    }

    private struct State: Sendable {
        var path: String
        var folders: Result<Folders, StoreError>
    }

    /// The id in the volume's mark; nil for the store's own folder.
    public let mark: String?
    private let state: Mutex<State>
    /// Locked while the disk is looked at.
    private let checking = Mutex(())
    /// Counts removed bundles: each gets a name of its own in `tmp/`, where an earlier one may still be.
    private let removals = Atomic(0)

    init(home folders: Folders) {
        mark = nil
        state = Mutex(State(path: folders.root.path, folders: .success(folders)))
    }

    /// Opens a volume of the catalogue. It is away if its disk is not mounted.
    init(path: String, mark: String) {
        self.mark = mark
        state = Mutex(State(path: path, folders: Self.opened(path, mark)))
    }

    /// True for the store's own folder.
    public var isHome: Bool { mark == nil }
    /// The volume's path.
    public var path: String { state.withLock { $0.path } }

    /// The error because of which the volume is away; nil if it is open.
    public var absence: StoreError? {
        if case .failure(let error) = state.withLock({ $0.folders }) {
            error
        } else {
            nil
        }
    }

    /// Returns the open folders. Throws `away`.
    func folders() throws(StoreError) -> Folders { try state.withLock { $0.folders }.get() }

    /// Returns the open folders for writing. Throws `away`; the error because of which nothing can be written.
    func writable() throws(StoreError) -> (root: Directory, temporary: Directory, assets: Directory) {
        let folders = try folders()
        guard folders.readOnlyReason == nil, let temporary = folders.temporary, let assets = folders.assets else {
            throw folders.readOnlyReason ?? StoreError(.notWritable, path: path)
        }
        return (folders.root, temporary, assets)
    }

    // MARK: Presence

    /// Checks whether the volume's disk is mounted, and opens or closes the volume. Waits for the disk.
    public func checkPresence() {
        checkPresence(at: nil)
    }

    /// Uses another path from now on: the disk is mounted there.
    func change(path: String) {
        checkPresence(at: path)
    }

    private func checkPresence(at newPath: String?) {
        guard let mark else { return }
        // One at a time: the second to open the folder would find it locked by the first.
        checking.withLock { _ in
            if let newPath {
                state.withLock { $0.path = newPath }
            }
            let state = state.withLock { $0 }
            if case .success(let folders) = state.folders {
                guard !folders.root.isStill(at: state.path) else { return }
                let error = StoreError(.away, path: state.path)
                self.state.withLock { $0.folders = .failure(error) }
            } else {
                let found = Self.opened(state.path, mark)
                self.state.withLock { $0.folders = found }
            }
        }
    }

    private static func opened(_ path: String, _ mark: String) -> Result<Folders, StoreError> {
        Result { () throws(StoreError) in
            let root = try? Directory.existing(path: path, followsLink: false)
            do throws(StoreError) {
                guard let root, try VolumeMark.read(in: root)?.id == mark else { throw StoreError(.away, path: path) }
                return try open(root)
            } catch {
                guard error.code != .away else { throw error }
                throw StoreError(.away, path: path, detail: "\(error)")
            }
        }
    }

    /// Opens a volume, creates missing folders, and clears `tmp/`.
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

    // MARK: New volumes

    /// Makes a volume of a new or empty folder, or reads the mark of an existing volume.
    ///
    /// - Parameters:
    ///   - isKnown: returns true for the mark of a volume of this store.
    ///   - isExpected: returns true for the path, without links, of a volume in use: a folder without a mark there is where the
    ///     volume's disk is mounted at other times.
    ///   - check: throws for a path, without links, that must not be a volume.
    /// - Returns: the mark, the path without links, and true if the volume is new.
    /// - Throws: `exists` if there are other files or another store's bundles; `notWritable` if the folder belongs to another
    ///   user; `away` if another volume is expected there; `newer`; the system's error.
    static func prepare(
        at path: String, isKnown: (String) -> Bool, isExpected: (String) -> Bool,
        check: (String) throws(StoreError) -> Void
    ) throws(StoreError) -> (mark: String, path: String, isNew: Bool) {
        let away = StoreError(
            .away, path: path,
            detail: "the disk whose stored files belong here is not mounted: mount it, or give another folder")
        let isMissing = Directory.real(path) == nil
        // A folder that is made here can keep the disk from being mounted at the same path again.
        if isMissing, let future = Directory.resolved(path), isExpected(future) {
            throw away
        }
        let root = try Directory.open(path: path)
        guard let real = Directory.real(path) else { throw StoreError(path: path) }
        try check(real)
        try root.checkOwner()
        if let mark = try VolumeMark.read(in: root) {
            guard !isKnown(mark.id) else { return (mark.id, real, false) }
            // An unknown volume without bundles is left over from a failed move.
            if let assets = try? root.subdirectory("assets"),
                try assets.names().contains(where: { !$0.hasPrefix(Self.removedPrefix) })
            {
                throw StoreError(.exists, path: path, detail: "it holds bundles of another store")
            }
            return (mark.id, real, false)
        }
        guard !isExpected(real) else {
            if isMissing {
                rmdir(real)
            }
            throw away
        }
        guard try root.names().allSatisfy({ $0 == "lost+found" }) else {
            throw StoreError(
                .exists, path: path, detail: "the folder is not empty: give a new folder, such as \(path)/weir")
        }
        let mark = VolumeMark()
        try mark.write(in: root)
        return (mark.id, real, true)
    }

    /// Removes a new volume, and its folder if that is empty then. Returns false if it has a bundle, or cannot be written.
    func discard() -> Bool {
        guard !isHome, let folders = try? writable(), (try? folders.assets.names().isEmpty) ?? false else {
            return false
        }
        for name in ["assets", "tmp", VolumeMark.fileName, "lock"] {
            try? folders.root.removeTree(name)
        }
        rmdir(path)
        return true
    }

    // MARK: Bundles

    /// Opens the bundle of the asset `id`; with `create`, creates it if it is missing.
    func bundle(_ id: String, create: Bool) throws(StoreError) -> Directory {
        let folders = try folders()
        guard let assets = folders.assets else {
            throw folders.readOnlyReason ?? StoreError(.missing, path: folders.root.path)
        }
        return try assets.subdirectory(id, create: create && folders.readOnlyReason == nil)
    }

    /// Returns true if the volume has a bundle of this asset. Throws `away`.
    public func hasBundle(_ id: String) throws(StoreError) -> Bool {
        do {
            _ = try bundle(id, create: false)
            return true
        } catch {
            guard error.code == .missing else { throw error }
            return false
        }
    }

    /// Moves a bundle into `tmp/` in one step. Returns the folder's name there; nil if there is no such bundle.
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

    /// True if both volumes seem to be on one file system, so that a bundle can be renamed.
    public func isOnDisk(of other: Volume) -> Bool {
        guard let own = try? folders().root, let found = try? other.folders().root else { return false }
        return own.status?.st_dev == found.status?.st_dev
    }

    /// Moves a bundle from another volume to this one by a rename, synced. Returns false if the volumes are on
    /// different file systems. Throws `exists` if there is a bundle of that id.
    public func moveBundle(_ id: String, from other: Volume) throws(StoreError) -> Bool {
        let assets = try writable().assets
        let others = try other.writable().assets
        do throws(StoreError) {
            try others.move(id, to: assets, as: id)
        } catch {
            if error.errno == EXDEV {
                return false
            }
            throw error.renaming(to: assets.path + "/" + id)
        }
        for folder in [assets, others] where fsync(folder.descriptor) != 0 {
            throw StoreError(path: folder.path)
        }
        return true
    }

    // MARK: Power cuts

    /// True if the power was lost with unsynced pieces, and not all folders have been checked since.
    public var isAfterPowerLoss: Bool { (try? folders())?.lock?.isDoubtful ?? false }
    /// Call once all folders are checked after a power cut.
    public func markRecovered() { (try? folders())?.lock?.begin() }

    /// Call once everything is synced.
    func markSynced() {
        if !isAfterPowerLoss {
            (try? folders())?.lock?.end()
        }
    }
}

extension Directory {
    /// Throws `notWritable` if the folder belongs to another user, who could have planted files in it.
    fileprivate func checkOwner() throws(StoreError) {
        guard let status else { throw StoreError(path: path) }
        guard status.st_uid == geteuid() else {
            throw StoreError(.notWritable, path: path, detail: "it belongs to another user")
        }
    }

    /// True if the path still leads to this folder.
    fileprivate func isStill(at path: String) -> Bool {
        var found = stat()
        guard let own = status, lstat(path, &found) == 0 else { return false }
        return own.st_dev == found.st_dev && own.st_ino == found.st_ino
    }

    /// Resolves the links of an existing path; nil for a missing one.
    static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Resolves the links of an absolute path, of which the last parts may be missing; nil if its root cannot be read.
    static func resolved(_ path: String) -> String? {
        var present = path.split(separator: "/")
        var missing: [Substring] = []
        while true {
            if let real = real("/" + present.joined(separator: "/")) {
                return missing.reduce(real) { Self.path(of: String($1), in: $0) }
            }
            guard let last = present.popLast() else { return nil }
            missing.insert(last, at: 0)
        }
    }
}

/// The text of `volume.json`, which identifies a volume. If the volume's disk is not mounted, its path is an empty
/// folder or another disk. Without the mark, neither is written to.
struct VolumeMark: Codable {
    static let fileName = "volume.json"
    private static let format = 1
    let format: Int
    /// 32 random hexadecimal digits.
    let id: String
    /// A sentence for a person who finds the folder.
    let note: String

    init() {
        format = Self.format
        id = (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        note = "This folder holds bundles of a Weir store, moved here by \"weir move\". Only that store can use them."
    }

    /// Reads a folder's mark, if any. Throws `newer` for that of a newer Weir, `exists` for a file that is not a mark.
    static func read(in folder: Directory) throws(StoreError) -> VolumeMark? {
        guard let bytes = try folder.read(fileName) else { return nil }
        let path = folder.path + "/" + fileName
        guard let mark = try? JSONDecoder().decode(VolumeMark.self, from: Data(bytes)), !mark.id.isEmpty else {
            throw StoreError(.exists, path: path, detail: "it is not a file of Weir")
        }
        guard mark.format == Self.format else {
            throw StoreError(.newer, path: path, detail: "a newer Weir has written it (format \(mark.format))")
        }
        return mark
    }

    func write(in folder: Directory) throws(StoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        guard let text = try? encoder.encode(self) else { throw StoreError(.io, path: folder.path) }
        try folder.replace(Self.fileName, by: Array(text) + Array("\n".utf8))
    }
}
