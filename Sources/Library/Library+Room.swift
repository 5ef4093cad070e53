import EventLoop
import Store

extension Library {
    /// The bytes that may still be kept before the disk's reserve is touched; nil where that is not known, or nothing
    /// is kept at all.
    public var room: Int64? { readOnlyReason == nil ? store.room : nil }
}
