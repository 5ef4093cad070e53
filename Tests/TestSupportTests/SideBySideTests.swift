import Synchronization
import TestSupport
import Testing

@Suite("Cases that run side by side")
struct SideBySideTests {
    /// The cases that have begun and ended.
    private struct Progress {
        var running = 0
        var most = 0
        var done: Set<Int> = []

        mutating func begin() {
            running += 1
            most = max(most, running)
        }

        mutating func end(_ number: Int) {
            running -= 1
            done.insert(number)
        }
    }

    @Test("all run, as many at once as the limit allows")
    func allRunWithinTheLimit() async {
        let progress = Mutex(Progress())
        await sideBySide(0..<9, atOnce: 3) { number in
            progress.withLock { $0.begin() }
            try await waitUntil("three that run at once") { progress.withLock { $0.most == 3 } }
            progress.withLock { $0.end(number) }
        }
        #expect(progress.withLock { $0.most } == 3)
        #expect(progress.withLock { $0.done } == Set(0..<9))
    }
}
