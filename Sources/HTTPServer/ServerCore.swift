import EventLoop
import Glibc
import HTTPMessage

/// State that the connections of one server share. Separate from the server, so that connections retain it without
/// retaining the server, and need no weak reference, which would slow down each access.
@LoopActor final class ServerCore {
    let configuration: WebServer.Configuration
    let policy: (any RequestPolicy)?
    /// Replaced by a no-op when the server is released: its captures may hold exchanges, whose connections hold this object.
    var handler: WebServer.Handler
    let limits: ConnectionTiming.Limits
    /// The connections of all servers that share a limit.
    let pool: ConnectionPool
    let readBuffer = ReadBuffer()
    let buffer = ReplyBuffer()
    var date = DateField()
    var counters = ServerCounters()
    /// The number of ticks of the coarse timer, which runs while there are connections.
    var now = 0
    /// True if each reply is the last on its connection.
    var isStopping = false
    /// The number of this server's open connections.
    var connectionCount = 0
    /// Called after each connection that has left the pool. Set by the server once it is initialised itself.
    var connectionLeft: () -> Void = {}
    /// Makes a socket a connection once there is room, and closes one that it does not take. Set by the server too.
    var admit: (WaitingConnections.Entry) -> Void = { Glibc.close($0.descriptor) }

    init(
        _ configuration: WebServer.Configuration, policy: (any RequestPolicy)?, pool: ConnectionPool?,
        handler: @escaping WebServer.Handler
    ) {
        self.configuration = configuration
        self.policy = policy
        self.handler = handler
        limits = ConnectionTiming.Limits(configuration)
        self.pool = pool ?? ConnectionPool(limit: configuration.connections)
    }

    /// Each connection calls it once, after it has closed. Here and not in the server, which may be released by then: its end runs
    /// in a later turn of the loop.
    func connectionClosed(_ connection: Connection) {
        connectionCount -= 1
        pool.remove(connection)
        connectionLeft()
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
