internal import CLibevent

extension EventLoop {
    /// The version of the libevent that this process has.
    public static var library: String { event_get_version().map { String(cString: $0) } ?? "unknown" }
}
