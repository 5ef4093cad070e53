import EventLoop
import Fetching
import Store

/// The store's folder, and the room on its disk.
public struct StoreDisk: Sendable {
    /// The store's folder.
    public let path: String
    /// Bytes that may still be written on its disk, and the disk's size; nil if the system does not report them.
    public let space: (free: Int64, total: Int64)?
    /// The bytes that are left to other programs.
    public let reserve: Int64
}

extension Library {
    /// The disk as it is now.
    public var disk: StoreDisk { StoreDisk(path: store.root.path, space: store.space, reserve: store.reserve) }

    /// The bytes that may still be kept of an asset before the reserve of its disk is touched; nil if that is unknown, or
    /// the store is read-only.
    public func room(for asset: Asset) -> Int64? { readOnlyReason == nil ? store.room(in: asset.bundle.place) : nil }

    /// The bytes that may still be kept in the store's own folder before its disk's reserve is touched; nil as above.
    public var room: Int64? { readOnlyReason == nil ? store.room : nil }
}
