public import EventLoop

/// Counts the open connections of one client program. A connection belongs to the group that its latest request joined.
@LoopActor public final class ConnectionGroup {
    /// A change in the number of open connections from or to zero.
    public enum Change: Equatable, Sendable {
        case opened
        /// The last connection is closed. `byClient` is false if the server closed it, for instance because it was idle.
        case emptied(byClient: Bool)
    }

    /// Number of open connections.
    public private(set) var count = 0
    /// True if a connection has carried several requests of the group: the client keeps its connections.
    public private(set) var isReused = false
    private var isEnded = false
    private let changed: @LoopActor (Change) -> Void

    /// - Parameter changed: called when the first connection joins and when the last one leaves.
    public init(changed: @escaping @LoopActor (Change) -> Void) { self.changed = changed }

    /// Lets the group's idle connections be closed as usual. Until then, idle connections from this machine stay open: an open
    /// one shows that the client still runs.
    public func end() { isEnded = true }

    /// True if idle connections stay open.
    var keepsIdle: Bool { !isEnded }

    func add() {
        count += 1
        if count == 1 {
            changed(.opened)
        }
    }

    func recordReuse() { isReused = true }

    func remove(byClient: Bool) {
        count -= 1
        if count == 0 {
            changed(.emptied(byClient: byClient))
        }
    }
}
