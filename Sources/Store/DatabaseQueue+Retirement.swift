import GRDB

extension DatabaseQueue {
    /// Closes the connection, and keeps the queue, of some hundred bytes, until the end of the process. The end of a queue would
    /// give work to libdispatch's own threads, at which it then looks once a second.
    func retire() throws {
        _ = Unmanaged.passRetained(self)
        try close()
    }
}
