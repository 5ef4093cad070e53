import Synchronization
import Testing

@testable import EventLoop

@Suite struct FileLaneTests {
    private final class Record: Sendable {
        struct State {
            var running = 0
            var most = 0
            var order: [Int] = []
        }
        let state = Mutex(State())

        func begin(_ number: Int) {
            state.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
                state.order.append(number)
            }
        }

        func end() { state.withLock { $0.running -= 1 } }
    }

    @Test("One piece of work is done at a time, and none is lost")
    func isDoneOneAtATime() async {
        let lane = FileLane()
        let record = Record()
        let tasks = (0..<50).map { number in
            Task {
                await lane.run { _ in
                    record.begin(number)
                    record.end()
                }
            }
        }
        for task in tasks {
            _ = await task.value
        }
        #expect(record.state.withLock { $0.most } == 1)
        #expect(record.state.withLock { $0.order.sorted() } == Array(0..<50))
    }

    @Test("Work in slices lets other work go on in between, and ends with its task")
    func slicesTakeTurns() async {
        let lane = FileLane()
        let record = Record()
        let endless = Task { await lane.run(inSlices: 0) { (_: inout Int) -> Int? in nil } }
        let counting = Task {
            await lane.run(inSlices: 0) { count -> Int? in
                count += 1
                return count == 1000 ? count : nil
            }
        }
        #expect(await counting.value == 1000)
        await lane.run { _ in record.begin(1) }
        #expect(record.state.withLock { $0.order } == [1])
        endless.cancel()
        #expect(await endless.value == nil)
        #expect(lane.waitingCount == 0)
    }

    @Test("Work ends when its task is cancelled, and waiting work does not begin")
    func endsWithItsTask() async {
        let lane = FileLane()
        let record = Record()
        let running = Task {
            await lane.run { turn in
                record.begin(1)
                while turn.mayGoOn {}
                return 1
            }
        }
        while record.state.withLock({ $0.running }) == 0 {
            await Task.yield()
        }
        let waiting = Task { await lane.run { _ in 2 } }
        while lane.waitingCount == 0 {
            await Task.yield()
        }
        waiting.cancel()
        running.cancel()
        #expect(await running.value == 1)
        #expect(await waiting.value == nil)
        #expect(await lane.run { _ in 3 } == 3)
    }
}
