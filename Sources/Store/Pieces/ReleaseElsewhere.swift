import CLinux
import Synchronization

/// Gives the memory of a large value back on another thread: for a million elements that takes a tenth of a second, wherever the last
/// user happens to be. The caller gives the value away with `consume`.
package func releaseElsewhere(_ value: consuming some Sendable) {
    let holder = Holder(value)
    Task.detached(priority: .utility) { holder.empty() }
}

/// Joins small free parts of memory, and gives free pages back to the system. It may take some tenths of a second: not for the loop.
package func trimFreeMemory() { weir_trim_memory(keptAtEnd) }

/// Bytes at the end of the heap that stay when the rest goes back.
private let keptAtEnd = 8 << 20

/// Whoever lets the holder go last, its value is gone before: the other thread may be the first to end.
private final class Holder<Value: Sendable>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: consuming Value) { self.value = Mutex(consume value) }

    func empty() { value.withLock { $0 = nil } }
}
