import EventLoop
import Fetching
import Store

/// The store's folder, and the free space on its disk.
public struct StoreDisk: Sendable {
    /// The path of the store's folder.
    public let path: String
    /// Bytes that can still be written to the disk, and the disk's size; nil if the system does not report them.
    public let space: (free: Int64, total: Int64)?
    /// Bytes that Weir leaves free for other programs.
    public let reserve: Int64
}

extension Library {
    /// The present state of the store's disk.
    public var disk: StoreDisk { StoreDisk(path: store.root.path, space: store.space, reserve: store.reserve) }

    /// The bytes that can still be stored of an asset before the reserve of its disk is reached; nil if unknown, or if
    /// the store is read-only.
    public func room(for asset: Asset) -> Int64? { readOnlyReason == nil ? store.room(in: asset.bundle.place) : nil }

    /// The bytes that can still be stored in the store's own folder before the reserve of its disk is reached; nil if
    /// unknown, or if the store is read-only.
    public var room: Int64? { readOnlyReason == nil ? store.room : nil }
}
