import EventLoop
import Glibc
import HTTPMessage

/// State that the connections of one server share. Separate from the server, so that connections retain it without
/// retaining the server, and need no weak reference, which would slow down each access.
@LoopActor final class ServerCore {
    let configuration: HTTPServer.Configuration
    let policy: (any RequestPolicy)?
    /// Replaced by a no-op when the server is released: its captures may hold exchanges, whose connections hold this object.
    var handler: HTTPServer.Handler
    let limits: ConnectionTiming.Limits
    let readBuffer = ReadBuffer()
    let buffer = ReplyBuffer()
    var date = DateField()
    var counters = ServerCounters()
    /// The number of ticks of the coarse timer, which runs while there are connections.
    var now = 0
    /// True if each reply is the last on its connection.
    var isStopping = false
    /// True if accepted sockets wait for a connection to end.
    var isCrowded = false
    /// Counts the activities of all connections.
    private(set) var activities = 0
    /// Each connection calls it once, after it has closed. Set by the server once it is initialised itself.
    var connectionClosed: (Connection) -> Void = { _ in }
    /// Called while the server is crowded after a connection has become idle. Set by the server too.
    var connectionIdled: () -> Void = {}

    init(
        _ configuration: HTTPServer.Configuration, _ policy: (any RequestPolicy)?,
        _ handler: @escaping HTTPServer.Handler
    ) {
        (self.configuration, self.policy, self.handler) = (configuration, policy, handler)
        limits = ConnectionTiming.Limits(configuration)
    }

    /// The number of an activity, by which the longest idle connection is found within a tick.
    func nextActivity() -> Int {
        activities += 1
        return activities
    }
}

struct DateField {
    private var second = -1
    private(set) var line: [UInt8] = []

    /// Updates the line; cheap within the same second.
    mutating func refresh() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &now)
        guard now.tv_sec != second else { return }
        second = now.tv_sec
        line.removeAll(keepingCapacity: true)
        line.append(contentsOf: "Date: ".utf8)
        HTTPDate(secondsSinceEpoch: Int64(second)).append(to: &line)
        line.append(contentsOf: "\r\n".utf8)
    }
}
