import CLinux
import Glibc

/// A thread that waits for the disk, so that the loop does not have to.
final class StoreThread: Sendable {
    private let thread: pthread_t

    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a thread that runs `body`. `name`, of at most 15 bytes, is for `ps -T` and debuggers: prctl(2), `PR_SET_NAME`.
    init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(StoreError) {
        thread = try Self.create(name, body)
    }

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

    /// Waits for the thread's end. Call it once.
    func join() {
        // The last reference to the store may be released by a job of this very thread.
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context else { return nil }
        let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
        weir_name_thread(body.name)
        body.run()
        return nil
    }
}

/// Long work that waits for the disk or for another program, on a thread of its own.
public enum DiskWork {
    /// Runs `body` on its own thread. Throws the error of `body`, or `io` if the system has no thread left.
    public static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, StoreError>, Never>) in
            do throws(StoreError) {
                try StoreThread.start("disk work") {
                    continuation.resume(returning: Result { () throws(StoreError) in try body() })
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }
}
