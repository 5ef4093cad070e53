import GRDB

extension DatabaseQueue {
    /// Closes the connection, and keeps the queue (some hundred bytes) until the end of the process. libdispatch would free it on
    /// a monitored thread: see `weir_use_own_executor`.
    func retire() throws {
        _ = Unmanaged.passRetained(self)
        try close()
    }
}
