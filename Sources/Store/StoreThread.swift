import CLinux
import Glibc

/// A thread that waits for the disk, so that the loop need not.
final class StoreThread: Sendable {
    private let thread: pthread_t

    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void
        init(_ name: String, _ run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
    }

    /// Starts a thread that does `body`, and ends with it.
    ///
    /// - Parameter name: what `ps -T` and debuggers call it, of at most 15 bytes (prctl(2), `PR_SET_NAME`).
    /// - Throws: `StoreError` when the system gives none.
    init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(StoreError) {
        thread = try Self.create(name, body)
    }

    /// Starts a thread that nobody waits for.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(StoreError) {
        pthread_detach(try create(name, body))
    }

    private static func create(_ name: String, _ body: @escaping @Sendable () -> Void) throws(StoreError) -> pthread_t {
        var thread = pthread_t()
        let held = Unmanaged.passRetained(Body(name, body))
        let code = pthread_create(&thread, nil, Self.main, held.toOpaque())
        guard code == 0 else {
            held.release()
            throw StoreError(path: "the thread for files", errno: code)
        }
        return thread
    }

    /// Waits until it has ended. Once.
    func join() {
        // Who lets go of the store last may be one of its own jobs.
        if pthread_equal(thread, pthread_self()) != 0 { pthread_detach(thread) } else { pthread_join(thread, nil) }
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context else { return nil }
        let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
        weir_name_thread(body.name)
        body.run()
        return nil
    }
}
