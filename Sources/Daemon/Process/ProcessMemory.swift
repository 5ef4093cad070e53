import CLinux
internal import EventLoop
import Glibc
internal import Store

/// Rules for the memory that the system's allocator keeps free for the process.
enum ProcessMemory {
    /// Arenas, each with its own free parts: one for the loop, and one for the threads beside it, which come and go. The allocator makes
    /// up to eight for each processor, and the free parts add up: in 20 minutes of `tools/soak` the daemon has 65 MB and not 75, and
    /// stays there, at the same processor time.
    private static let arenas: Int32 = 2

    /// libcurl allocates its buffer for each request. By default such a block goes back to the system each time, and every page faults
    /// again: a sixth of the cost of a small miss. Larger blocks do go back at once: a table that grows leaves a hole of half its size.
    private static let largestKept: Int32 = 2 << 20

    /// Seconds of the loop's processor time after which something large may be free.
    private static let work = 0.25
    private static let pause = Duration.seconds(10)

    /// Sets the allocator's rules, the number of arenas unless the user has set it by `MALLOC_ARENA_MAX`. Call it before the threads
    /// start.
    ///
    /// By default the thread that frees the last part of a large area gives the area back, all pages at once: after an asset of a million
    /// segments that kept the loop for 50 ms. `trimAfterWork` does it instead.
    static func configure() {
        if getenv("MALLOC_ARENA_MAX") == nil {
            weir_limit_arenas(arenas)
        }
        weir_keep_freed_memory(largestKept)
    }

    /// From now on gives free memory back to the system on another thread, a while after the loop has worked.
    @LoopActor static func trimAfterWork() {
        var isPlanned = false
        LoopThread.afterWork(of: work) {
            guard !isPlanned else { return }
            isPlanned = true
            Task { @LoopActor in
                try? await LoopActor.pause(for: pause)
                isPlanned = false
                Task.detached(priority: .utility) { trimFreeMemory() }
            }
        }
    }
}
