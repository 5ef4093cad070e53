import Application
import Glibc

/// Ctrl-C as the end of waiting, not of the process.
enum Interruption {
    /// Runs work to its end; at SIGINT or SIGTERM its task is cancelled, and it is to return soon.
    static func orEnd<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        let task = Task { await work() }
        let watch = Task {
            if await Signals.first(of: [SIGINT, SIGTERM]) != nil { task.cancel() }
        }
        let value = await task.value
        watch.cancel()
        return value
    }
}
