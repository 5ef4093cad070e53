package import EventLoop
import Glibc

/// Records how long other work on the loop has to wait, as processor time of the loop's thread: the load of the machine
/// does not count.
@LoopActor package final class LoopStopwatch {
    private var longest = 0.0
    private var last = 0.0
    private var isStopped = false

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private func run() async {
        while !isStopped {
            await withCheckedContinuation { continuation in Task { @LoopActor in continuation.resume() } }
            look()
        }
    }

    private func look() {
        let now = Self.processorTime()
        longest = max(longest, now - last)
        last = now
    }

    /// The longest processor time between two jobs of the loop while `body` runs.
    package static func longest(during body: @LoopActor () async throws -> Void) async rethrows -> Double {
        let watch = LoopStopwatch()
        watch.last = processorTime()
        let running = Task { @LoopActor in await watch.run() }
        try await body()
        watch.look()
        watch.isStopped = true
        await running.value
        return watch.longest
    }
}
