import EventLoop
public import Store

/// Where the store lies, and what its disk has room for.
public struct StoreDisk: Sendable {
    /// The store's folder.
    public let path: String
    /// Bytes that may still be written on its disk, and the size of that; nil where it does not tell.
    public let space: (free: Int64, total: Int64)?
    /// The bytes that are left to others.
    public let reserve: Int64
    /// What makes way where it is full.
    public let purge: PurgePlan.Limit
}

extension Library {
    /// The disk as it is now.
    public var disk: StoreDisk {
        StoreDisk(path: store.root.path, space: store.space, reserve: store.reserve, purge: purger.limit)
    }
}
