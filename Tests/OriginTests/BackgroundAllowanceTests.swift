import EventLoop
import HTTPMessage
import Testing

@testable import Origin

struct TokenBucketTests {
    private let start = ContinuousClock.now

    @Test func averageRateIsKept() {
        var bucket = TokenBucket(rate: 1000, at: start)
        var now = start
        var taken = 0
        while now < start + .seconds(10) {
            if let wait = bucket.wait(at: now) {
                now += wait
            } else {
                bucket.consume(160, at: now)
                taken += 160
            }
        }
        // The initial burst and the last excess.
        #expect((9_800...10_500).contains(taken))
    }

    @Test func excessBytesAreCompensatedByAPause() {
        var bucket = TokenBucket(rate: 1000, at: start)
        bucket.consume(2250, at: start)
        #expect(bucket.wait(at: start) == .seconds(2.125))
        #expect(bucket.wait(at: start + .seconds(1.5)) != nil)
        #expect(bucket.wait(at: start + .seconds(2.125)) == nil)
    }

    @Test func unusedTimeIsLost() {
        var bucket = TokenBucket(rate: 1000, at: start)
        bucket.consume(251, at: start + .seconds(3600))
        #expect(bucket.wait(at: start + .seconds(3600)) != nil)
    }
}

@Suite("P1: the rate of downloads") struct BackgroundRateTests {
    private static let rate: Int64 = 400_000
    private static let link = 12_000_000.0
    private let start = ContinuousClock.now

    /// The bytes that arrive over a fast link, by time in seconds. What players leave changes five times a second.
    private func arrivals(leaving shares: [Int64?]) -> [(time: Double, bytes: Int)] {
        var rate = BackgroundRate(users: Self.rate, at: start)
        var arrivals: [(time: Double, bytes: Int)] = []
        var share: Int64?
        let step = 0.001
        for tick in 0..<40_000 {
            let now = start + .seconds(Double(tick) * step)
            if tick % 200 == 0 {
                share = shares[tick / 200 % shares.count]
                rate.leave(share, at: now)
            }
            guard share != 0, rate.wait(at: now) == nil else { continue }
            let bytes = Int(Self.link * step)
            rate.consume(bytes, at: now)
            arrivals.append((Double(tick) * step, bytes))
        }
        return arrivals
    }

    private func sums(_ arrivals: [(time: Double, bytes: Int)]) -> [Double] {
        stride(from: 0.0, through: 30, by: 0.1).map { begin in
            Double(arrivals.filter { $0.time >= begin && $0.time < begin + 10 }.reduce(0) { $0 + $1.bytes })
        }
    }

    @Test(
        "is the user's within 5 % over any 10 s, whatever players leave",
        arguments: [[nil], [nil, 2_000_000], [nil, 600_000, 3_000_000, 600_001], [5_000_000, 5_000_001]] as [[Int64?]])
    func usersRate(shares: [Int64?]) {
        let sums = sums(arrivals(leaving: shares))
        #expect(sums.allSatisfy { (3_800_000...4_200_000).contains($0) }, "\(sums.min() ?? 0) to \(sums.max() ?? 0)")
    }

    @Test(
        "is never above the user's where players stop downloads from time to time",
        arguments: [[nil, 0], [0, 0, nil, 300_000], [2_000_000, 0, nil, nil, nil]] as [[Int64?]])
    func stopped(shares: [Int64?]) {
        let sums = sums(arrivals(leaving: shares))
        #expect(sums.allSatisfy { $0 > 0 && $0 <= 4_200_000 }, "\(sums.min() ?? 0) to \(sums.max() ?? 0)")
    }

    @Test("is that of players without one of the user's")
    func playersRate() {
        var rate = BackgroundRate(users: nil, at: start)
        #expect(!rate.isLimited && rate.window == nil)
        rate.consume(1 << 30, at: start)
        #expect(rate.wait(at: start) == nil)
        rate.leave(1000, at: start)
        rate.consume(2250, at: start)
        #expect(rate.isLimited && rate.wait(at: start) == .seconds(2.125))
        rate.leave(nil, at: start)
        #expect(rate.wait(at: start) == nil)
    }
}

@Suite("P1: the connections of downloads under a limit") struct ConnectionBoundsTests {
    struct Row: Sendable {
        let rate: Int64
        let slots, read: Int
        let promise: Int?
    }

    @Test(
        "promise less than half a second of the rate together, and no connection less than a few packets",
        arguments: [
            Row(rate: 1, slots: 1, read: 8_192, promise: 8_192),
            Row(rate: 50_000, slots: 1, read: 10_000, promise: 10_000),
            Row(rate: 100_000, slots: 2, read: 10_000, promise: 10_000),
            Row(rate: 400_000, slots: 2, read: 16_384, promise: 40_000),
            Row(rate: 655_360, slots: 2, read: 16_384, promise: nil),
            Row(rate: 10_000_000, slots: 30, read: 16_384, promise: nil),
        ])
    func bounds(row: Row) {
        let rate = BackgroundRate(users: row.rate, at: .now)
        #expect(rate.slots == row.slots)
        #expect(rate.bounds?.read == row.read && rate.bounds?.promise == row.promise)
    }

    @Test("are the system's without a limit")
    func unlimited() {
        let rate = BackgroundRate(users: nil, at: .now)
        #expect(rate.slots == nil && rate.bounds == nil)
    }
}

struct LentPlaceTests {
    private let now = ContinuousClock.now

    private func host() throws -> WebURL.Origin { try WebURL("http://a").origin }

    @Test func placeOfAPausedTransferIsLent() throws {
        var queue = HostQueue(slots: 2, reserve: 1)
        queue.enqueue(1, priority: .background, host: try host())
        #expect(queue.grant(now: now) == [1])
        let isLent = [queue.lendSlot(1, true), queue.lendSlot(1, true)]
        #expect(isLent == [true, false])
        for id in 3...5 {
            queue.enqueue(UInt64(id), priority: .playback, host: try host())
        }
        queue.backgroundSlots = 0
        #expect(queue.displace(now: now) == [])
        #expect(queue.grant(now: now) == [3, 4])
        _ = queue.lendSlot(1, false)
        queue.release(3)
        #expect(queue.grant(now: now) == [])
        queue.release(4)
        #expect(queue.grant(now: now) == [5])
    }

    @Test func lentPlaceIsReleasedOnce() throws {
        var queue = HostQueue(slots: 1, reserve: 0)
        queue.enqueue(1, priority: .background, host: try host())
        #expect(queue.grant(now: now) == [1])
        _ = queue.lendSlot(1, true)
        queue.release(1)
        for id in 2...3 {
            queue.enqueue(UInt64(id), priority: .playback, host: try host())
        }
        #expect(queue.grant(now: now) == [2])
    }

    @Test func backgroundSlotsCanBeLimited() throws {
        var queue = HostQueue(slots: 4, reserve: 0)
        queue.backgroundSlots = 1
        for id in 1...3 {
            queue.enqueue(UInt64(id), priority: .background, host: try host())
        }
        #expect(queue.grant(now: now) == [1])
        queue.backgroundSlots = nil
        #expect(queue.grant(now: now) == [2, 3])
    }
}

extension OverSockets {
    @Suite @LoopActor struct BackgroundAllowanceTests {
        /// Much more than one read.
        nonisolated private static let body = [UInt8]((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) })

        /// A reply whose second half waits for `release()`.
        nonisolated private static var halves: [ScriptedOrigin.Step] {
            let fields = ["ETag": "\"a\"", "Content-Length": "\(body.count)"]
            return [.reply(200, fields, body[..<half]), .hold, .bytes(Array(body[half...]))]
        }
        nonisolated private static let half = 700_000
        /// Halves for a background transfer, all at once for a player.
        nonisolated private static func script(_ request: ScriptedOrigin.Request) -> [ScriptedOrigin.Step] {
            request.target == "/x" ? halves : [.reply(200, [:], body)]
        }

        private func background(_ bench: Bench, _ origin: ScriptedOrigin, _ target: String = "/x") throws
            -> OriginRequest
        {
            var request = try bench.request(origin, target)
            request.priority = .background
            return request
        }

        /// Waits for the first half, then stops background transfers.
        private func stopHalfway(_ bench: Bench, _ recorder: Recorder) async {
            #expect(await eventually { recorder.bytes.count == Self.half })
            bench.client.backgroundAllowance = .nothing
        }

        /// Runs a whole player transfer; a transfer that is not paused would advance meanwhile.
        private func playerPasses(_ bench: Bench, _ origin: ScriptedOrigin) async throws {
            let (player, error) = await bench.run(try bench.request(origin, "/player"))
            #expect(error == nil && player.has(Self.body))
        }

        @Test func stoppedTransferPausesAndResumesByteForByte() async throws {
            let origin = try ScriptedOrigin { request, _ in Self.script(request) }
            let bench = Bench()
            let recorder = Recorder()
            bench.client.start(try background(bench, origin), receiver: recorder)
            await stopHalfway(bench, recorder)
            try await playerPasses(bench, origin)
            origin.release()
            // Two more; a transfer that is not paused would advance meanwhile.
            for _ in 0..<2 {
                try await playerPasses(bench, origin)
            }
            #expect(recorder.bytes.count == Self.half)
            bench.client.backgroundAllowance = .full
            #expect(await recorder.error == nil)
            #expect(recorder.has(Self.body))
            #expect(origin.requests.count { $0.target == "/x" } == 1)
        }

        /// The bytes under way arrive in any case, and are read later.
        @Test func aTransferThatCouldBeContinuedPausesWhenAPlayerComes() async throws {
            let origin = try ScriptedOrigin { request, _ in Self.continuable(request) }
            let bench = Bench()
            let recorder = Recorder()
            bench.client.start(try background(bench, origin), receiver: recorder)
            await stopHalfway(bench, recorder)
            for _ in 0..<2 {
                try await playerPasses(bench, origin)
            }
            origin.release()
            bench.client.backgroundAllowance = .full
            #expect(await recorder.error == nil)
            #expect(recorder.has(Self.body))
            #expect(origin.requests.count { $0.target == "/x" } == 1)
        }

        @Test func noTransferStartsWhileBackgroundIsStopped() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], Self.body)] }
            let bench = Bench()
            bench.client.backgroundAllowance = .nothing
            let recorder = Recorder()
            bench.client.start(try background(bench, origin), receiver: recorder)
            try await playerPasses(bench, origin)
            #expect(origin.requests.map(\.target) == ["/player"])
            bench.client.backgroundAllowance = .full
            #expect(await recorder.error == nil)
        }

        @Test func playerThatJoinsAStoppedTransferResumesIt() async throws {
            let origin = try ScriptedOrigin { request, _ in Self.script(request) }
            let bench = Bench()
            let recorder = Recorder()
            let transfer = bench.client.start(try background(bench, origin), receiver: recorder)
            await stopHalfway(bench, recorder)
            origin.release()
            for _ in 0..<2 {
                try await playerPasses(bench, origin)
            }
            #expect(recorder.bytes.count == Self.half)
            transfer.raise(to: .playback)
            #expect(await recorder.error == nil)
            #expect(recorder.has(Self.body))
            #expect(bench.client.backgroundAllowance == .nothing)
        }

        /// For `/x`: the body in two halves, or any range of it. For others: as `script`.
        nonisolated private static func continuable(_ request: ScriptedOrigin.Request) -> [ScriptedOrigin.Step] {
            guard request.target == "/x" else { return script(request) }
            var fields = ["ETag": "\"a\"", "Accept-Ranges": "bytes", "Content-Length": "\(body.count)"]
            guard let range = request.fields["range"] else {
                return [.reply(200, fields, body[..<half]), .hold, .bytes(Array(body[half...]))]
            }
            let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
            fields["Content-Range"] = "bytes \(start)-\(body.count - 1)/\(body.count)"
            fields["Content-Length"] = nil
            return [.reply(206, fields, body[start...])]
        }

        /// The connection has a wide window when the pause begins, which the origin fills. Two readers whose needs differ let a segment
        /// trail again and again.
        @Test func aPlayersTransferThatTrailsAgainAndAgainHasOneRequest() async throws {
            let origin = try ScriptedOrigin { request, _ in Self.continuable(request) }
            // Seconds of work, which on a busy machine last longer than a stall may.
            let bench = Bench { $0.giveUpRule.stallSpan = .seconds(600) }
            let recorder = Recorder()
            let transfer = bench.client.start(try bench.request(origin, "/x"), receiver: recorder)
            #expect(await eventually { recorder.bytes.count == Self.half })
            bench.client.backgroundAllowance = .nothing
            transfer.holdBehind(true)
            // The pause comes with the next turn.
            try await playerPasses(bench, origin)
            origin.release()
            try await playerPasses(bench, origin)
            #expect(recorder.bytes.count == Self.half)
            for _ in 0..<3 {
                transfer.holdBehind(false)
                try await playerPasses(bench, origin)
                transfer.holdBehind(true)
                try await playerPasses(bench, origin)
            }
            transfer.holdBehind(false)
            #expect(await recorder.error == nil)
            #expect(recorder.has(Self.body) && recorder.beginnings == [0])
            #expect(origin.requests.count { $0.target == "/x" } == 1)
        }

        @Test func ownPauseIsNoStall() async throws {
            let origin = try ScriptedOrigin { request, _ in
                request.target == "/stalls"
                    ? [.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .hold] : Self.halves
            }
            let bench = Bench {
                // Longer than a busy machine needs to deliver the rest.
                $0.giveUpRule.stallSpan = .milliseconds(500)
                $0.giveUpRule.retries = .never
            }
            let recorder = Recorder()
            bench.client.start(try background(bench, origin), receiver: recorder)
            await stopHalfway(bench, recorder)
            // Two consecutive stalls show that enough time has passed.
            for _ in 0..<2 {
                #expect(await bench.run(try bench.request(origin, "/stalls")).1?.code == .stalled)
            }
            #expect(recorder.ends.isEmpty)
            origin.release()
            bench.client.backgroundAllowance = .full
            #expect(await recorder.error == nil)
            #expect(recorder.has(Self.body))
        }

        @Test func stallAfterAPauseIsDetected() async throws {
            let origin = try ScriptedOrigin { _, _ in
                [.reply(200, ["Content-Length": "\(Self.body.count)"], Self.body[..<Self.half]), .hold]
            }
            let bench = Bench {
                $0.giveUpRule.stallSpan = .milliseconds(50)
                $0.giveUpRule.retries = .never
            }
            let recorder = Recorder()
            bench.client.start(try background(bench, origin), receiver: recorder)
            await stopHalfway(bench, recorder)
            bench.client.backgroundAllowance = .full
            #expect(await recorder.error?.code == .stalled)
            #expect(recorder.bytes.count == Self.half)
        }

        @Test func transferBrokenDuringAPauseIsResumed() async throws {
            let origin = try ScriptedOrigin { request, _ in
                guard let range = request.fields["range"] else {
                    return [
                        .reply(
                            200, ["ETag": "\"a\"", "Content-Length": "\(Self.body.count)"], Self.body[..<Self.half]),
                        .hold, .close,
                    ]
                }
                let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
                let fields = [
                    "ETag": "\"a\"", "Content-Range": "bytes \(start)-\(Self.body.count - 1)/\(Self.body.count)",
                ]
                return [.reply(206, fields, Self.body[start...])]
            }
            let bench = Bench()
            let recorder = Recorder()
            bench.client.start(try background(bench, origin), receiver: recorder)
            await stopHalfway(bench, recorder)
            origin.release()
            bench.client.backgroundAllowance = .full
            #expect(await recorder.error == nil)
            #expect(recorder.has(Self.body))
            #expect(recorder.beginnings == [0])
            #expect(origin.requests.map { $0.fields["range"] } == [nil, "bytes=\(Self.half)-"])
            #expect(origin.requests.last?.fields["if-range"] == "\"a\"")
        }

        @Test func rateLimitedTransferArrivesWholeInSteps() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], Self.body)] }
            let bench = Bench()
            bench.client.backgroundAllowance = BackgroundAllowance(rate: 20_000_000, window: 256 << 10, slots: 2)
            let recorders = (0..<3).map { _ in Recorder() }
            for recorder in recorders {
                bench.client.start(try background(bench, origin), receiver: recorder)
            }
            for recorder in recorders {
                #expect(await recorder.error == nil)
                #expect(recorder.has(Self.body))
            }
            #expect(origin.open.most == 2)
            #expect(bench.client.traffic.background == 3 * Int64(Self.body.count))
            #expect(bench.client.traffic.playback == 0)
        }

        /// The rate is so low that it adds nothing while the test lasts.
        @Test("The first bytes under the user's limit are no more than it allows, read or not")
        func firstBytesOfLimitedTransfers() async throws {
            let origin = try ScriptedOrigin { request, _ in
                guard request.target == "/x" else { return [.reply(200, [:], Self.body)] }
                return [.reply(200, [:], [UInt8](repeating: 7, count: 4_000_000))]
            }
            let bench = Bench { $0.backgroundRate = 1_000 }
            let recorders = (0..<3).map { _ in Recorder() }
            for recorder in recorders {
                bench.client.start(try background(bench, origin), receiver: recorder)
            }
            #expect(await eventually { bench.client.traffic.background > 0 })
            let direct = try ScriptedOrigin { _, _ in [.reply(200, [:], Self.body)] }
            // What may arrive without a pause has arrived once a player's segments have.
            for _ in 0..<2 {
                try await playerPasses(bench, direct)
            }
            #expect(bench.client.traffic.background <= 48 << 10)
            #expect(origin.acknowledged > 0 && origin.acknowledged <= 96 << 10, "\(origin.acknowledged)")
            bench.client.stop()
            for recorder in recorders {
                #expect(await recorder.error?.code == .cancelled)
            }
        }

        @Test func windowLimitsHowFarASenderIsAhead() async throws {
            // A limited sender has not yet sent a body that fits the default buffers of the systems.
            let small = Array(Self.body[..<600_000])
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], small), .close] }
            let bench = Bench()
            bench.client.backgroundAllowance = BackgroundAllowance(window: 16 << 10)
            let recorder = Recorder()
            bench.client.start(try background(bench, origin), receiver: recorder)
            #expect(await recorder.error == nil)
            #expect(recorder.has(small))
            // Another transfer reuses the connection afterwards, without a limit.
            bench.client.backgroundAllowance = .full
            try await { () async throws in
                let (again, error) = await bench.run(try bench.request(origin, "/again"))
                #expect(error == nil && again.has(small))
            }()
        }
    }
}
