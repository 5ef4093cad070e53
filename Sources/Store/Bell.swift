import CLinux
import Glibc

/// What wakes a thread that waits: an eventfd(2).
final class Bell: Sendable {
    private let descriptor: Int32

    /// - Throws: `StoreError` when the system gives no eventfd.
    init() throws(StoreError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw StoreError(path: "the thread for files") }
    }

    deinit { close(descriptor) }

    /// Ends one `wait`, that under way or the next. From any thread.
    func ring() {
        var one: UInt64 = 1
        // Fails only when the counter is full, and then the thread is awake already.
        write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits until it has rung since the last time, or for so many milliseconds; nil for any time. It may return early.
    func wait(milliseconds: Int32? = nil) {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, milliseconds ?? -1) > 0 else { return }
        var count: UInt64 = 0
        read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
