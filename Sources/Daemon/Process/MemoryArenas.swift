import CLinux
import Glibc

/// The arenas in which the system's allocator keeps memory, each with its own free parts. It makes up to eight for each processor.
enum MemoryArenas {
    /// One for the loop, and one for the threads beside it, which come and go. With more the free parts add up: in 20 minutes of
    /// `tools/soak` the daemon has 65 MB and not 75, and stays there, at the same processor time.
    private static let count: Int32 = 2

    /// Limits their number, unless the user has done so by `MALLOC_ARENA_MAX`. Call it before the threads start.
    static func limit() {
        if getenv("MALLOC_ARENA_MAX") == nil {
            weir_limit_arenas(count)
        }
    }
}
