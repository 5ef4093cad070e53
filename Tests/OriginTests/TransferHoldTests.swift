import EventLoop
import Testing

@testable import Origin

struct TransferHoldTests {
    typealias Request = TransferHold.Request

    private let start = ContinuousClock.now
    private static let least = Int(BackgroundAllowance.smallestWindow)

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var hold: Transfer.Hold
        var window: Int?
        var request: Request
        var step: TransferHold.Step
    }

    static let cases = [
        Case(
            testDescription: "a connection of its own pauses for a moment, and keeps its slot", hold: .brief,
            window: 50_000, request: Request(), step: .limit(window: 50_000, lendsSlot: false, isPaused: true)),
        Case(
            testDescription: "one that pauses for long lends its slot", hold: .long, request: Request(),
            step: .limit(window: nil, lendsSlot: true, isPaused: true)),
        Case(
            testDescription: "one that goes on is limited", hold: .none, window: 50_000,
            request: Request(isPaused: true), step: .limit(window: 50_000, lendsSlot: false, isPaused: false)),
        Case(
            testDescription: "no window is narrower than a few packets", hold: .none, window: 1, request: Request(),
            step: .limit(window: least, lendsSlot: false, isPaused: false)),
        Case(
            testDescription: "one that may have to yield has little under way", hold: .none, window: 50_000,
            request: Request(mayTrail: true), step: .limit(window: least, lendsSlot: false, isPaused: false)),
        Case(
            testDescription: "one that nobody waits for stops, if it can be continued", hold: .long,
            request: Request(isContinuable: true, isAbandoned: true), step: .stop),
        Case(
            testDescription: "one that nobody waits for, and that would begin again, pauses", hold: .long,
            request: Request(isAbandoned: true), step: .limit(window: nil, lendsSlot: true, isPaused: true)),
        Case(
            testDescription: "a stream that loses nothing is looked at again", hold: .long,
            request: Request(mayBeMultiplexed: true, mayStop: true), step: .wait(TransferHold.yieldDelay)),
        Case(
            testDescription: "a stream that would begin again goes on for a moment's hold", hold: .brief,
            request: Request(mayBeMultiplexed: true, mayStop: true), step: .none),
        Case(
            testDescription: "a stream that would lose too much goes on", hold: .long,
            request: Request(mayBeMultiplexed: true), step: .none),
        Case(
            testDescription: "a stream is not limited", hold: .none, window: 50_000,
            request: Request(mayBeMultiplexed: true, isContinuable: true, mayStop: true), step: .none),
    ]

    @Test(arguments: cases)
    func aHoldIsApplied(transfer: Case) {
        var hold = TransferHold()
        #expect(hold.isNeeded(transfer.hold, window: transfer.window))
        let step = hold.apply(transfer.hold, window: transfer.window, to: transfer.request, now: start)
        #expect(step == transfer.step)
    }

    @Test func whatIsNeverHeldBackIsLeftAlone() {
        var hold = TransferHold()
        #expect(!hold.isNeeded(.none, window: nil))
        _ = hold.apply(.brief, window: nil, to: Request(), now: start)
        // It must go on.
        #expect(hold.isNeeded(.none, window: nil))
        _ = hold.apply(.none, window: nil, to: Request(isPaused: true), now: start)
        #expect(!hold.isNeeded(.none, window: nil))
    }

    @Test func aStreamStopsOnceItsHoldHasLasted() {
        let stream = Request(mayBeMultiplexed: true, isContinuable: true, mayStop: true)
        var hold = TransferHold()
        let steps = [0, 200, 499, 500].map { time in
            hold.apply(.brief, window: nil, to: stream, now: start + .milliseconds(time))
        }
        #expect(steps == [.wait(.milliseconds(500)), .wait(.milliseconds(300)), .wait(.milliseconds(1)), .stop])
        // The next request has its own time, and one that may go on meanwhile begins again.
        hold.end()
        #expect(hold.apply(.long, window: nil, to: stream, now: start + .seconds(1)) == .wait(.milliseconds(500)))
        _ = hold.apply(.none, window: nil, to: stream, now: start + .seconds(1.2))
        #expect(hold.apply(.long, window: nil, to: stream, now: start + .seconds(2)) == .wait(.milliseconds(500)))
    }

    /// A pause does not count against the origin.
    @Test func pausedTimeIsThatOfTheSpan() {
        var hold = TransferHold()
        hold.beginSpan(isOnTheWire: true, now: start)
        _ = hold.apply(.brief, window: nil, to: Request(), now: start + .seconds(1))
        _ = hold.apply(.brief, window: nil, to: Request(isPaused: true), now: start + .seconds(2))
        _ = hold.apply(.none, window: nil, to: Request(isPaused: true), now: start + .seconds(3))
        #expect(hold.takePausedTime(now: start + .seconds(4)) == .seconds(2))
        #expect(hold.takePausedTime(now: start + .seconds(5)) == .zero)
        _ = hold.apply(.brief, window: nil, to: Request(), now: start + .seconds(6))
        #expect(hold.takePausedTime(now: start + .seconds(7)) == .seconds(1))
        // It goes on into the next span.
        hold.beginSpan(isOnTheWire: true, now: start + .seconds(8))
        #expect(hold.takePausedTime(now: start + .seconds(9)) == .seconds(1))
        hold.beginSpan(isOnTheWire: false, now: start + .seconds(9))
        #expect(hold.takePausedTime(now: start + .seconds(10)) == .zero)
    }
}
