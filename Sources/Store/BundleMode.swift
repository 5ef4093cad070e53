import CLinux
import Glibc
import Synchronization

/// The permissions of bundles, for a web server that runs as another user: it may read published files, and can list no folder
/// above a bundle. The catalogue, the records and unfinished files stay closed.
public struct BundleMode: Equatable, Sendable {
    /// The mode of media and playlists: 0600, 0640 or 0644.
    public var files: UInt32
    /// The mode of keys, which are opened only by a choice of their own.
    public var keys: UInt32

    /// Makes a mode; without arguments, that of files which only their owner reads.
    public init(files: UInt32 = 0o600, keys: UInt32 = 0o600) {
        self.files = files
        self.keys = keys
    }

    /// True if only the owner reads anything.
    var isPrivate: Bool { self == BundleMode() }
    /// The mode of the folder of files with a mode: who may read these may also search and list it.
    static func folder(of files: UInt32) -> UInt32 { files | (files & 0o444) >> 2 }
    /// The mode of the folders above the bundles: others may only pass through.
    var passage: UInt32 { 0o700 | Self.folder(of: files) & 0o011 }
}

extension BundleStore {
    /// Sets the permissions of all bundles, on a thread of its own for those that exist, and of each bundle whose playlists are
    /// written from now on.
    public func adopt(_ mode: BundleMode) {
        bundleMode.withLock { $0 = mode }
        guard readOnlyReason == nil, let assets else { return }
        // Permissions that the user has set by hand stay, as long as the mode was never another one.
        let isKnown = root.size(of: Self.modeMarker) != nil
        guard isKnown || !mode.isPrivate else { return }
        if !isKnown {
            try? root.write([], as: Self.modeMarker)
        }
        if !mode.isPrivate, let status = root.status {
            fchmod(root.descriptor, status.st_mode & 0o777 | mode.passage)
        }
        fchmod(assets.descriptor, mode.passage)
        Self.inBackground { [home, root, ownChanges] in
            for name in (try? assets.names()) ?? [] {
                guard let bundle = try? home.bundle(name, create: false), bundle.differs(from: mode) else { continue }
                try? bundle.apply(mode, ownChanges)
            }
            if mode.isPrivate {
                try? root.remove(Self.modeMarker)
            }
        }
    }

    /// The file that shows that bundles may have other permissions than the default.
    private static let modeMarker = "bundle-mode"

    /// Sets the permissions of a bundle after its playlists were written. `volume` is nil for the store's own folder.
    public func applyMode(to id: String, in volume: Volume? = nil) {
        let mode = bundleMode.withLock { $0 }
        guard !mode.isPrivate else { return }
        let volume = volume ?? home
        // After the pieces that are being written into it.
        worker?.submit { [ownChanges] in try? volume.bundle(id, create: false).apply(mode, ownChanges) }
    }
}

extension Directory {
    /// True if the folder or that of the keys does not have the permissions that `apply` sets last.
    fileprivate func differs(from mode: BundleMode) -> Bool {
        if let status, status.st_mode & 0o777 != BundleMode.folder(of: mode.files) {
            return true
        }
        guard let keys = status(of: "keys") else { return false }
        return keys.st_mode & 0o777 != BundleMode.folder(of: mode.keys)
    }

    /// Sets the permissions of a bundle: first those of its files, so that an interrupted call is repeated.
    fileprivate func apply(_ mode: BundleMode, _ ownChanges: OwnChanges) throws(StoreError) {
        for entry in try entries() {
            guard entry.isDirectory else {
                setMode(mode.files, of: entry.name, ownChanges)
                continue
            }
            let folder = try subdirectory(entry.name)
            let files = entry.name == "keys" ? mode.keys : mode.files
            for piece in try folder.entries() where !piece.isDirectory {
                folder.setMode(files, of: piece.name, ownChanges)
            }
            fchmod(folder.descriptor, BundleMode.folder(of: files))
        }
        fchmod(descriptor, BundleMode.folder(of: mode.files))
    }

    private func setMode(_ mode: UInt32, of name: String, _ ownChanges: OwnChanges) {
        guard let status = status(of: name), status.st_mode & 0o777 != mode else { return }
        ownChanges.perform(on: name, in: self) {
            // Deleted meanwhile, or replaced by a link, which is not followed.
            guard let file = openIfPresent(name) else { return }
            fchmod(file, mode)
            close(file)
        }
    }
}
