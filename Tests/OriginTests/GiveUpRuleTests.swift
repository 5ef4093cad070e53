import Testing

@testable import Origin

/// The rule's decisions as tables, and the worst cases that its comment states.
struct GiveUpRuleTests {
    private let rule = GiveUpRule()

    /// Sums up a transfer whose attempts all fail.
    ///
    /// - Parameters:
    ///   - first: how long the first attempt lasts after the latest byte, in seconds.
    ///   - attempt: how long any later attempt lasts.
    /// - Returns: the time in seconds from the latest byte to the refusal.
    private func refusal(
        of waiter: GiveUpRule.Waiter = .anyone, _ code: OriginError.Code = .timedOut, first: Double, attempt: Double,
        isBegun: Bool = false, retryAfter: Duration? = nil, policy: RetryPolicy? = nil
    ) -> Double {
        var elapsed = Duration.seconds(first)
        var count = 1
        while true {
            let failure = GiveUpRule.Failure(
                code: code, count: count, silence: elapsed, retryAfter: retryAfter, isBegun: isBegun)
            guard case .retry(let pause) = rule.decision(after: failure, for: waiter, policy: policy, jitter: 0) else {
                return elapsed / .seconds(1)
            }
            elapsed += pause + .seconds(attempt)
            count += 1
        }
    }

    // MARK: Worst cases

    @Test func aTransferWithoutAReplyFailsAfter188Seconds() {
        #expect(refusal(first: 30, attempt: 30) == 187.75)
        // The last attempt may have a head after 30 s, and no byte for 30 s.
        #expect(refusal(.serverFailure, first: 30, attempt: 30, retryAfter: .seconds(86_400)) + 30 == 510)
        #expect(refusal(first: 60, attempt: 60, isBegun: true) == 367.75)
        #expect(refusal(first: 15, attempt: 15, policy: .hasty) == 15)
        #expect(refusal(first: 15, attempt: 15, policy: .never) == 15)
    }

    @Test func anAnswerWithAReplacementIsWaitedForOnlyWhereAShortTimeIsStated() {
        #expect(refusal(.serverFailure, first: 0, attempt: 0, retryAfter: .seconds(2), policy: .hasty) == 2)
        #expect(refusal(.serverFailure, first: 0, attempt: 0, retryAfter: .seconds(3), policy: .hasty) == 0)
        #expect(refusal(.serverFailure, first: 2, attempt: 0, retryAfter: .seconds(1), policy: .hasty) == 2)
    }

    @Test(arguments: [0.0, 0.1, 1, 7, 15, 30])
    func aPlayerWithoutAnAlternativeIsCutOffWithin150Seconds(attempt: Double) {
        // The last attempt begins within 60 s; it may connect after 30 s, bring a head after 30 s, and no byte for 30 s.
        for (waiter, isBegun) in [(GiveUpRule.Waiter.player, false), (.player, true), (.playerOnceBegun, true)] {
            let elapsed = refusal(of: waiter, first: attempt, attempt: attempt, isBegun: isBegun)
            #expect(elapsed <= 60 + attempt && elapsed > 57)
        }
        let connection = [GiveUpRule.Stage.resolving, .connecting, .handshaking].map(rule.limit).reduce(.zero, +)
        #expect(connection == .seconds(30) && rule.firstByteLimit + rule.stallSpan == .seconds(60))
    }

    @Test func aStallIsNoticedWithinTwoSpans() throws {
        // Enough bytes arrive at the start of the first span, and none later.
        let first = rule.watch(bodyAt: 0, failures: 0, isInsisting: false)
        #expect(first == .init(start: 0, latest: 0, pause: .seconds(30), left: .zero))
        let second = rule.watch(
            after: first, bodyAt: rule.stallBytes, isResumable: true, failures: 0, isInsisting: false)
        let next = try #require(second)
        #expect(
            rule.watch(after: next, bodyAt: rule.stallBytes, isResumable: true, failures: 0, isInsisting: false) == nil)
        #expect(first.pause + next.pause == .seconds(60))
    }

    @Test func aDownloadFailsAfter300SecondsOfServerFailuresAndWithin1266() {
        var failed: [Double] = []
        for transfer in [97.75, 420] {
            var elapsed = transfer
            var failures = 0
            while case .retry(let pause) = GiveUpRule.decision(
                afterDownloadFault: .transient, failures: failures, hasProgressed: false,
                pauses: GiveUpRule.downloadPauses)
            {
                elapsed += pause / .seconds(1) + transfer
                failures += 1
            }
            failed.append(elapsed)
        }
        #expect(failed == [299.25, 1266])
    }

    // MARK: Requests

    @Test(
        arguments: [
            (.anyone, .unreachable, true, false), (.anyone, .timedOut, false, false),
            (.playerOnceBegun, .unreachable, false, false), (.playerOnceBegun, .unreachable, true, true),
            (.playerOnceBegun, .serverFailure, true, false), (.player, .unreachable, false, true),
            (.player, .stalled, false, true), (.player, .connectionLost, true, true),
            (.player, .serverFailure, false, false), (.player, .cutShort, true, false),
        ] as [(GiveUpRule.Waiter, OriginError.Code, Bool, Bool)])
    func onlyAnAwayOriginIsWaitedForByPlayersWithoutAnAlternative(
        waiter: GiveUpRule.Waiter, code: OriginError.Code, isBegun: Bool, isLong: Bool
    ) {
        let elapsed = refusal(of: waiter, code, first: 0, attempt: 0, isBegun: isBegun)
        #expect(isLong ? elapsed > 57 && elapsed <= 60 : elapsed == 7.75)
        // The player's interest outweighs the request's own policy.
        #expect((refusal(of: waiter, code, first: 0, attempt: 0, isBegun: isBegun, policy: .never) > 0) == isLong)
    }

    @Test(arguments: [(0, 8.0), (1, 16), (2, 30), (9, 30)])
    func silenceIsNoticedEarlierForAPlayerWithoutAnAlternative(failures: Int, pause: Double) {
        let watch = rule.watch(bodyAt: 7, failures: failures, isInsisting: true)
        #expect(watch.pause == .seconds(pause) && watch.left == .seconds(30 - pause))
    }

    @Test(
        arguments: [
            // Received bytes at the check, and what follows.
            (7, true, nil), (8, true, 14), (7, false, 14),
        ] as [(Int64, Bool, Double?)])
    func aSilentBodyIsContinuedElsewhereIfItCanBeResumed(received: Int64, isResumable: Bool, left: Double?) {
        let check = rule.watch(bodyAt: 7, failures: 0, isInsisting: true)
        let next = rule.watch(
            after: check, bodyAt: received, isResumable: isResumable, failures: 0, isInsisting: true)
        #expect(next?.left == left.map { .seconds($0) })
        if let next {
            #expect(next.start == 7 && next.latest == received)
        }
    }

    // MARK: Origins

    @Test func absencesDoubleUpToAMinute() {
        var absences = [Duration.zero]
        for _ in 0..<6 {
            absences.append(rule.absence(after: absences.last ?? .zero))
        }
        #expect(absences == [0, 5, 10, 20, 40, 60, 60].map { .seconds($0) })
        #expect((1...3).map(rule.isAbsent) == [false, true, true])
        #expect((5...7).map(rule.isAbsenceReported) == [false, true, false])
    }

    // MARK: Fetches and players

    private typealias Facts = (isPlayer: Bool, hasFallback: Bool, hasUntriedSource: Bool, isStreamed: Bool)

    @Test(
        arguments: [
            // A download, with and without other sources.
            ((false, false, false, true), .wait, .wait), ((false, false, true, true), .wait, .wait),
            // A player with nothing else to play.
            ((true, false, false, true), .wait, .sendHead), ((true, false, false, false), .wait, .wait),
            // A player with another source, or with a substitute.
            ((true, false, true, true), .switchSource, .sendHead), ((true, true, false, true), .switchSource, .wait),
            ((true, true, true, true), .switchSource, .wait),
        ] as [((Bool, Bool, Bool, Bool), GiveUpRule.Decision, GiveUpRule.Decision)])
    func silenceOfAFetch(
        facts: (Bool, Bool, Bool, Bool), beforeHead: GiveUpRule.Decision, afterHead: GiveUpRule.Decision
    ) {
        let facts: Facts = facts
        let fetching = GiveUpRule.Fetching(
            isPlayer: facts.isPlayer, hasFallback: facts.hasFallback, hasUntriedSource: facts.hasUntriedSource,
            isLasting: true, isStreamed: facts.isStreamed)
        #expect(GiveUpRule.decision(afterSilenceOf: fetching, hasHead: false) == beforeHead)
        #expect(GiveUpRule.decision(afterSilenceOf: fetching, hasHead: true) == afterHead)
        let isAlone = !facts.hasFallback && !facts.hasUntriedSource
        #expect(GiveUpRule.isInsisting(fetching) == (facts.isPlayer && isAlone))
        var live = fetching
        live.isLasting = false
        #expect(!GiveUpRule.isInsisting(live))
    }

    @Test(
        arguments: [
            (true, true, false, .wait), (true, false, false, .refuse), (true, false, true, .refuse),
            (false, false, true, .sendHead), (false, false, false, .refuse),
        ] as [(Bool, Bool, Bool, GiveUpRule.Decision)])
    func aPlayerHasItsAnswerAfterEightSeconds(
        needsAll: Bool, hasBytes: Bool, isInsisting: Bool, expected: GiveUpRule.Decision
    ) {
        #expect(
            GiveUpRule.decision(afterTimeoutOf: needsAll, hasBytes: hasBytes, isAwaited: isInsisting) == expected)
        let isPatient = GiveUpRule.decision(afterTimeoutOf: true, hasBytes: false, isAwaited: true, isPatient: true)
        #expect(isPatient == .wait && GiveUpRule.playerTimeout == .seconds(8))
    }

    @Test func aReplyThatNeedsAllBytesIsReplacedAfterFourSecondsOfSilence() {
        #expect(GiveUpRule.decision(withoutProgressFor: .milliseconds(3_999)) == .wait)
        #expect(GiveUpRule.decision(withoutProgressFor: .seconds(4)) == .substitute)
    }

    @Test(
        arguments: [
            (.mirror(limit: nil), 4), (.part, 8), (.complete, 3), (.refusedURLs, 3), (.programme, 8),
            (.mirror(limit: .seconds(30)), 4), (.mirror(limit: .seconds(3)), 3),
            (.olderPlaylist(targetDuration: .seconds(1)), 2), (.olderPlaylist(targetDuration: .seconds(6)), 6),
            (.heldBack(targetDuration: .seconds(6)), 23),
        ] as [(GiveUpRule.PlaylistAlternative, Int)])
    func timeForAPlaylist(alternative: GiveUpRule.PlaylistAlternative, seconds: Int) {
        #expect(GiveUpRule.deadline(with: alternative) == .seconds(seconds))
        #expect(GiveUpRule().playlistDeadline == .seconds(60))
    }

    @Test(arguments: [(4, 2, 6), (60, 6, 60), (7_200, 6, 300)])
    func lifeOfALivePlaylist(duration: Int, targetDuration: Int, seconds: Int) {
        let life = GiveUpRule.livePlaylistLife(
            duration: .seconds(duration), targetDuration: .seconds(targetDuration))
        #expect(life == .seconds(seconds))
    }

    // MARK: Downloads

    @Test(
        arguments: [
            (.absent, 0, false, 2), (.absent, 9, false, 60), (.refusedKey, 1, false, 4), (.refused, 0, false, nil),
            (.refused, 0, true, 2), (.transient, 1, false, 4), (.transient, 2, true, nil),
            (.doubtful, 0, false, 2), (.doubtful, 1, true, nil), (.permanent, 0, true, nil),
        ] as [(GiveUpRule.DownloadFault, Int, Bool, Int?)])
    func aDownloadRetriesOrFails(fault: GiveUpRule.DownloadFault, failures: Int, hasProgressed: Bool, pause: Int?) {
        let decision = GiveUpRule.decision(
            afterDownloadFault: fault, failures: failures, hasProgressed: hasProgressed,
            pauses: GiveUpRule.downloadPauses)
        #expect(decision == pause.map { .retry(after: .seconds($0)) } ?? .refuse)
    }

    @Test(
        arguments: [
            // Listed and absent: as long as the recording waits, unless the playlist has ended.
            (true, false, true, false, nil), (true, false, true, true, 60), (false, false, true, false, 60),
            // Missing, or out of sight: three target durations.
            (true, true, false, false, 18), (false, false, false, false, 18), (true, false, false, false, 60),
        ] as [(Bool, Bool, Bool, Bool, Int?)])
    func timeForARecordedSegment(isListed: Bool, isMissing: Bool, isAbsent: Bool, isOver: Bool, seconds: Int?) {
        let limits = GiveUpRule.RecordingLimits()
        let limit = limits.segmentLimit(
            isListed: isListed, isMissing: isMissing, isAbsent: isAbsent, isOver: isOver, targetDuration: .seconds(6))
        #expect(limit == seconds.map { .seconds($0) })
        #expect(limits.absence(targetDuration: .seconds(6)) == .seconds(600))
        #expect(limits.absence(targetDuration: .seconds(300)) == .seconds(900))
    }
}

struct RetryPolicyTests {
    @Test func pausesDoubleUpToTheirBound() {
        let policy = RetryPolicy()
        let pauses = (1...6).map { policy.pause(afterFailures: $0, silentFor: .zero, retryAfter: nil, jitter: 0) }
        #expect(pauses == [.milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), nil])
        var patient = policy
        patient.attempts = .max
        #expect(patient.pause(afterFailures: 1_000_000, silentFor: .zero, retryAfter: nil, jitter: 0) == .seconds(60))
        #expect(policy.pause(afterFailures: 3, silentFor: .zero, retryAfter: nil, jitter: 1) == .milliseconds(500))
    }

    @Test func retriesEndBeforeAnAttemptThatWouldBeTooLate() {
        var policy = RetryPolicy()
        policy.timeLimit = .seconds(8)
        #expect(policy.pause(afterFailures: 1, silentFor: .seconds(7), retryAfter: nil, jitter: 0) != nil)
        #expect(policy.pause(afterFailures: 1, silentFor: .seconds(8), retryAfter: nil, jitter: 0) == nil)
        #expect(policy.pause(afterFailures: 1, silentFor: .zero, retryAfter: .seconds(9), jitter: 0) == nil)
    }

    @Test func policyNeverAllowsNoRetry() {
        #expect(RetryPolicy.never.pause(afterFailures: 1, silentFor: .zero, retryAfter: nil, jitter: 0) == nil)
    }
}
