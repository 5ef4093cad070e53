import Dispatch
import EventLoop
import Glibc
import Synchronization
import Testing

@Suite(.serialized) struct EventLoopTests {
    @Test func jobsRunOnTheLoopsThreadInOrder() async {
        let order = await collect(1_000)
        #expect(order == Array(0..<1_000))
    }

    @LoopActor private func collect(_ count: Int) async -> [Int] {
        var seen: [Int] = []
        for number in 0..<count {
            await Task { @LoopActor in
                #expect(LoopActor.loop.isCurrent)
                seen.append(number)
            }.value
        }
        return seen
    }

    /// A job that holds the loop shows in the lengths of its turns.
    @Test func turnsAreMeasured() async {
        let before = await Self.turns()
        await Self.hold(seconds: 0.03)
        let after = await Self.turns()
        #expect(after.count > before.count && after.longest >= 0.03)
        #expect(after.counts[5...].reduce(0, +) > before.counts[5...].reduce(0, +))
        #expect(after.sum >= before.sum + 0.03)
    }

    /// A turn that waits is long by the clock, and takes no processor time; one that computes takes both.
    @Test func processorTimeOfTurnsIsMeasured() async {
        let before = await Self.processorTurns()
        await Self.block(seconds: 0.06)
        let between = await Self.processorTurns()
        #expect(between.count > before.count)
        #expect(between.counts[6...].reduce(0, +) == before.counts[6...].reduce(0, +))

        await Self.compute(seconds: 0.06)
        let after = await Self.processorTurns()
        #expect(after.counts[6...].reduce(0, +) == between.counts[6...].reduce(0, +) + 1)
        #expect(after.sum >= between.sum + 0.06)
    }

    /// The function is called for work alone: a loop that waits does not call it.
    @Test @LoopActor func workIsTold() async throws {
        var calls = 0
        LoopThread.afterWork(of: 0.03) { calls += 1 }
        for count in 1...3 {
            Self.compute(seconds: 0.04)
            await Self.pass(.milliseconds(1))
            #expect(calls == count)
        }
        Self.block(seconds: 0.06)
        await Self.pass(.milliseconds(1))
        #expect(calls == 3)
        LoopThread.afterWork(of: .infinity) {}
    }

    @LoopActor private static func turns() -> TurnTimes { LoopThread.turnTimes }
    @LoopActor private static func processorTurns() -> TurnTimes { LoopThread.turnProcessorTimes }

    /// Holds the loop without processor time, as a disk does.
    @LoopActor private static func block(seconds: Double) { usleep(useconds_t(seconds * 1e6)) }

    /// Holds the loop until its thread has used so much processor time.
    @LoopActor private static func compute(seconds: Double) {
        let end = processorTime() + seconds
        while processorTime() < end {}
    }

    @LoopActor private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    @LoopActor private static func hold(seconds: Double) {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {}
    }

    /// Other work runs between two slices of long work, and the budget ends it.
    @Test @LoopActor func slicesGiveWay() async {
        @LoopActor final class Count { var value = 0 }
        let others = Count()
        var slice = LoopSlice(budget: .milliseconds(60))
        var steps = 0
        var worked = Duration.zero
        let other = Task { @LoopActor in
            while !Task.isCancelled {
                others.value += 1
                await Self.pass(.milliseconds(1))
            }
        }
        while slice.mayGoOn {
            let start = ContinuousClock.now
            Self.hold(seconds: 0.002)
            worked += .now - start
            steps += 1
            await slice.giveWay()
        }
        other.cancel()
        // Not a number of steps: on a busy machine each takes longer. A slice has three at most, and every second one lets the other
        // work run.
        #expect(worked >= .milliseconds(40) && steps < 60 && others.value >= max(1, steps / 6))
    }

    /// Large work leaves the loop, and runs one piece after the other for one owner.
    @Test @LoopActor func largeWorkLeavesTheLoop() async throws {
        final class Owner: Sendable {}
        let owner = Owner()
        let isSmallOnLoop = await PureWork.shared.run(size: 1, for: owner) { LoopActor.loop.isCurrent }
        #expect(isSmallOnLoop == true)
        let running = Mutex(0)
        let tasks = (0..<4).map { _ in
            Task { @LoopActor in
                await PureWork.shared.run(size: .max, for: owner) { () -> (Bool, Int) in
                    let count = running.withLock { count -> Int in
                        count += 1
                        return count
                    }
                    usleep(1000)
                    running.withLock { $0 -= 1 }
                    return (LoopActor.loop.isCurrent, count)
                }
            }
        }
        for task in tasks {
            let (isOnLoop, count) = try #require(await task.value)
            #expect(!isOnLoop && count == 1)
        }
        #expect(PureWork.shared.ownerCount == 0)
    }

    /// Whoever has the result may count on a free processor: the next work need not wait behind what has ended.
    @Test @LoopActor func workHasEndedWhenItsResultIsThere() async {
        final class Owner: Sendable {}
        let work = PureWork(width: 1)
        for number in 0..<100 {
            #expect(await work.run(size: .max, for: Owner()) { number } == number)
            #expect(work.ownerCount == 0)
        }
    }

    /// Work that waits is dropped if its owner is gone, or if nobody waits for it; other owners take turns with a busy one.
    @Test @LoopActor func waitingWorkIsDropped() async throws {
        final class Owner: Sendable {}
        final class Demand: WorkDemand { var isWanted = true }
        let work = PureWork(width: 1)
        let busy = Owner()
        let removed = Owner()
        let demand = Demand()
        let gate = DispatchSemaphore(value: 0)
        let order = Mutex<[String]>([])
        func begin(_ name: String, _ owner: Owner, _ demand: Demand? = nil) -> Task<Bool?, Never> {
            Task { @LoopActor in
                await work.run(size: .max, for: owner, wanted: demand) {
                    if name == "first" {
                        gate.wait()
                    }
                    order.withLock { $0.append(name) }
                    return true
                }
            }
        }
        var tasks = [begin("first", busy)]
        tasks += [begin("second", busy), begin("unwanted", busy, demand), begin("third", busy)]
        tasks += [begin("removed", removed), begin("other", Owner()), begin("removed too", removed)]
        await Task { @LoopActor in }.value
        #expect(work.waitingCount(for: busy) == 3 && work.waitingCount(for: removed) == 2)
        demand.isWanted = false
        work.cancel(for: removed)
        #expect(work.waitingCount(for: removed) == 0)
        gate.signal()
        var results: [Bool?] = []
        for task in tasks {
            results.append(await task.value)
        }
        #expect(results == [true, true, nil, true, nil, true, nil])
        #expect(order.withLock { $0 } == ["first", "other", "second", "third"])
        #expect(work.ownerCount == 0)
    }

    @Test @LoopActor func timerFiresOnceForEachSchedule() async {
        var fired = 0
        await withCheckedContinuation { continuation in
            let timer = LoopTimer {
                fired += 1
                continuation.resume()
            }
            timer.schedule(after: .milliseconds(1))
            Self.keep(timer)
        }
        #expect(fired == 1)
        Self.kept = nil
    }

    @Test @LoopActor func fireSoonRunsBeforeDescriptorsAndOnlyOnce() async {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { ends.forEach { _ = close($0) } }
        var byte: UInt8 = 42
        write(ends[1], &byte, 1)
        var order: [String] = []
        await withCheckedContinuation { continuation in
            Self.watch = DescriptorWatch(ends[0], for: .reading) { _ in
                order.append("descriptor")
                Self.watch = nil
                continuation.resume()
            }
            let timer = LoopTimer { order.append("timer") }
            timer.schedule(after: .milliseconds(1))
            timer.fireSoon()
            timer.fireSoon()
            Self.keep(timer)
        }
        let other = Self.kept
        await Self.pass(.milliseconds(5))
        #expect(order == ["timer", "descriptor"])
        withExtendedLifetime(other) {}
    }

    /// However many jobs are queued, a descriptor that is ready waits for a few milliseconds of them.
    @Test @LoopActor func manyJobsLeaveDescriptorsTheirTurn() async {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { ends.forEach { _ = close($0) } }
        var before = 0
        var done = 0
        let jobs = (0..<100).map { _ in
            Task { @LoopActor in
                Self.hold(seconds: 0.001)
                done += 1
            }
        }
        await withCheckedContinuation { continuation in
            Self.watch = DescriptorWatch(ends[0], for: .reading) { _ in
                before = done
                Self.watch = nil
                continuation.resume()
            }
            var byte: UInt8 = 42
            write(ends[1], &byte, 1)
        }
        for job in jobs {
            await job.value
        }
        #expect(before < 20 && done == 100)
    }

    @Test @LoopActor func fireSoonCanBeCancelled() async {
        var fired = false
        let silent = LoopTimer { fired = true }
        silent.fireSoon()
        silent.cancel()
        await Self.pass(.milliseconds(1))
        #expect(!fired)
    }

    /// A timer takes over the event of one that was dropped, and none of its schedules.
    @Test @LoopActor func timerFiresForNoneThatWasDropped() async {
        var fired: [String] = []
        do {
            let soon = LoopTimer { fired.append("soon") }
            soon.fireSoon()
            let later = LoopTimer { fired.append("later") }
            later.schedule(after: .milliseconds(1))
        }
        let next = LoopTimer { fired.append("next") }
        let other = LoopTimer { fired.append("other") }
        await Self.pass(.milliseconds(5))
        #expect(fired.isEmpty)
        next.fireSoon()
        await Self.pass(.milliseconds(1))
        #expect(fired == ["next"])
        _ = consume other
    }

    @Test @LoopActor func cancelledTimerDoesNotFire() async {
        var fired = false
        let silent = LoopTimer { fired = true }
        silent.schedule(after: .milliseconds(1))
        silent.cancel()
        await Self.pass(.milliseconds(5))
        #expect(!fired)
    }

    @Test @LoopActor func watchReportsAReadablePipe() async {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { ends.forEach { _ = close($0) } }
        let byte = await withCheckedContinuation { continuation in
            Self.watch = DescriptorWatch(ends[0], for: .reading) { [descriptor = ends[0]] interest in
                #expect(interest == .reading)
                var byte: UInt8 = 0
                read(descriptor, &byte, 1)
                Self.watch = nil
                continuation.resume(returning: byte)
            }
            var byte: UInt8 = 42
            write(ends[1], &byte, 1)
        }
        #expect(byte == 42)
    }

    @Test @LoopActor func signalArrivesOnTheLoop() async {
        await withCheckedContinuation { continuation in
            Self.signals = SignalWatch(SIGUSR1) {
                #expect(LoopActor.loop.isCurrent)
                Self.signals = nil
                continuation.resume()
            }
            kill(getpid(), SIGUSR1)
        }
    }

    @Test func stopRunsQueuedAndLaterJobs() async throws {
        let loop = try LoopThread()
        let worker = Worker(loop)
        let tasks = (0..<100).map { _ in Task { await worker.count() } }
        loop.stop()
        for task in tasks {
            await task.value
        }
        #expect(await worker.total == 100)
    }

    @Test func otherThreadsAreNotTheLoop() {
        #expect(!LoopActor.loop.isCurrent)
    }

    // MARK: Helpers

    private actor Worker {
        let loop: LoopThread
        var total = 0
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        init(_ loop: LoopThread) { self.loop = loop }
        func count() { total += 1 }
    }

    @LoopActor private static var kept: Kept?
    @LoopActor private static var watch: DescriptorWatch?
    @LoopActor private static var signals: SignalWatch?

    private final class Kept {
        let timer: LoopTimer
        init(_ timer: consuming LoopTimer) { self.timer = timer }
    }

    @LoopActor private static func keep(_ timer: consuming LoopTimer) { kept = Kept(timer) }

    /// Returns after a timer of its own: every callback that was due earlier has run.
    @LoopActor private static func pass(_ duration: Duration) async {
        await withCheckedContinuation { continuation in
            let timer = LoopTimer { continuation.resume() }
            timer.schedule(after: duration)
            keep(timer)
        }
        kept = nil
    }
}
