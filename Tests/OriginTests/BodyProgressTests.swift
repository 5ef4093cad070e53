import Testing

@testable import Origin

struct BodyProgressTests {
    typealias Position = BodyProgress.Position

    private let start = ContinuousClock.now

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var position: Position
        /// The verdict on a body that is silent.
        var verdict: BodyProgress.Verdict
    }

    private static let rule = GiveUpRule()
    private static let rest = BodyProgress.Verdict.watch(rule.silenceAtEnd, left: .seconds(60) - rule.silenceAtEnd)

    static let cases = [
        Case(testDescription: "a body that goes on", position: Position(), verdict: rest),
        Case(
            testDescription: "a stream without its end", position: Position(awaitsEndOfStream: true),
            verdict: .end(.stopped)),
        Case(
            testDescription: "a body of the length that is in doubt", position: Position(isAtCheckedLength: true),
            verdict: .end(.finished)),
        Case(testDescription: "a body that may be complete", position: Position(mayBeShort: true), verdict: .ask),
        Case(
            testDescription: "a body before its last byte", position: Position(mayEndInSilence: true),
            verdict: .watch(rule.silenceBehindLength, left: .seconds(60) - rule.silenceBehindLength)),
    ]

    @Test(arguments: cases)
    func silenceIsJudged(body: Case) {
        let progress = BodyProgress(at: start)
        progress.begin(at: start)
        progress.beginBody(at: start)
        let next = progress.watch(at: body.position, for: .seconds(60), rule: Self.rule)
        // Nothing has come yet: that is the limit's concern.
        #expect(progress.check(at: body.position, for: .seconds(60), rule: Self.rule) == next)
        progress.record(100, at: start)
        #expect(progress.check(at: body.position, for: .seconds(60), rule: Self.rule) == next)
        progress.beginStep()
        #expect(progress.check(at: body.position, for: .seconds(60), rule: Self.rule) == body.verdict)
        progress.record(1, at: start)
        #expect(progress.check(at: body.position, for: .seconds(60), rule: Self.rule) == next)
    }

    @Test func aStepIsNoLongerThanItsSpan() {
        let progress = BodyProgress(at: start)
        let short = Self.rule.silenceAtEnd / 2
        #expect(progress.watch(at: Position(), for: short, rule: Self.rule) == .watch(short, left: .zero))
    }

    @Test func theNextAttemptBeginsAtNothing() {
        let progress = BodyProgress(at: start)
        progress.beginBody(at: start)
        progress.record(1000, at: start + .seconds(1))
        #expect(progress.count == 1000)
        #expect(progress.lastArrival == start + .seconds(1))
        #expect(progress.rate(at: start + .seconds(2)) != nil)
        progress.begin(at: start + .seconds(3))
        #expect(progress.count == 0)
        #expect(progress.lastArrival == start + .seconds(3))
        progress.beginBody(at: start + .seconds(4))
        #expect(progress.rate(at: start + .seconds(5)) == nil)
    }

    @Test(
        "decoded bytes are compared with the encoded ones, and with what libcurl may not have counted",
        arguments: [
            (100_000, 0, 0, false), (1_700_000, 0, 0, true), (1_700_000, 1_000, 0, false),
            (1_700_000, 0, 20_000, false),
        ])
    func bombs(count: Int, encoded: Int64, lag: Int, isBomb: Bool) {
        let progress = BodyProgress(at: start)
        progress.record(count, at: start)
        #expect(progress.isOutOfProportion(to: encoded, lag: lag, limit: 100) == isBomb)
    }
}
