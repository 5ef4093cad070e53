import EventLoop
import Store

extension Library {
    /// The bytes that may still be kept before the disk's reserve is touched; nil where that is not known, or nothing
    /// is kept at all.
    public var room: Int64? { readOnlyReason == nil ? store.room : nil }

    /// The same with what would be purged for it.
    public var roomAfterPurge: Int64? { room.map { $0 + purger.purgeableBytes } }

    /// Something could not be kept since the disk is full: room is made soon, if there is any to be made.
    public func noteFull() { purger.noteFull() }

    /// Purges what may make way for something that could not be kept.
    ///
    /// - Returns: whether anything has gone.
    public func makeRoom() async -> Bool { await purger.makeRoom() }
}
