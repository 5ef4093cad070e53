import EventLoop

/// What the connections of one server share. Apart from the server itself, so that connections keep it without keeping
/// the server, and so that no weak reference to it slows down each use.
@LoopActor final class ServerCore {
    let configuration: HTTPServer.Configuration
    /// Emptied when the server goes: what it captures may hold exchanges, and these their connections and this.
    var handler: HTTPServer.Handler
    let limits: ConnectionTiming.Limits
    /// Where sockets are read into.
    let inbox = Inbox()
    /// Where replies are put together.
    let buffer = ReplyBuffer()
    var date = DateField()
    var counters = ServerCounters()
    /// Counts the ticks of the coarse timer while there are connections.
    var now = 0
    /// Whether each reply is to be the last on its connection.
    var isStopping = false
    /// Called once by each connection when it has closed.
    var connectionClosed: (Connection) -> Void = { _ in }

    init(_ configuration: HTTPServer.Configuration, _ handler: @escaping HTTPServer.Handler) {
        self.configuration = configuration
        self.handler = handler
        limits = ConnectionTiming.Limits(configuration)
    }
}
