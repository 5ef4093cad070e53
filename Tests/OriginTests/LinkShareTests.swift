import EventLoop
import Testing

@testable import Origin

struct LinkShareTests {
    private let start = ContinuousClock.now

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var users: Int64?
        var allowance = BackgroundAllowance.full
        /// Bytes of a background transfer that arrive at the beginning.
        var bytes = 0
        var hold: Transfer.Hold
        var waits = false
        var window: Int64?
        var slots: Int?
        /// True if transfers are looked at again in each turn.
        var isLimiting: Bool
    }

    static let cases = [
        Case(testDescription: "nothing limits", bytes: 1 << 20, hold: .none, isLimiting: false),
        Case(
            testDescription: "players leave nothing", allowance: .nothing, hold: .long,
            window: BackgroundAllowance.smallestWindow, slots: 0, isLimiting: true),
        Case(
            testDescription: "players leave a rate, which is not used up", allowance: .init(rate: 1_000_000),
            bytes: 1_000, hold: .none, isLimiting: true),
        Case(
            testDescription: "players leave a rate, which is used up",
            allowance: .init(rate: 1_000_000, window: 50_000),
            bytes: 1 << 20, hold: .brief, waits: true, window: 50_000, isLimiting: true),
        Case(
            testDescription: "the user's rate is used up", users: 1_000_000, bytes: 1 << 20, hold: .brief, waits: true,
            window: 200_000, slots: 3, isLimiting: true),
        Case(
            testDescription: "the narrower of two windows and of two numbers of slots", users: 1_000_000,
            allowance: .init(rate: 500_000, window: 60_000, slots: 2), hold: .none, window: 60_000, slots: 2,
            isLimiting: true),
    ]

    @Test(arguments: cases)
    func transfersAreHeldBack(link: Case) {
        var share = LinkShare(backgroundRate: link.users, at: start)
        #expect(share.isLimiting == (link.users != nil))
        #expect(share.leave(link.allowance, at: start) == (link.allowance != .full))
        #expect(share.count(link.bytes, for: .background, at: start) == link.waits)
        let hold = share.hold(at: start)
        #expect(hold.background == link.hold)
        #expect((hold.wait != nil) == link.waits)
        #expect(hold.window == link.window)
        #expect(hold.playerWindow == nil)
        #expect(share.backgroundSlots == link.slots)
        #expect(share.isLimiting == link.isLimiting)
        #expect(share.mayShareConnections == (link.users == nil && link.allowance == .full))
    }

    @Test func aLimitEndsOneTurnAfterTheLastReason() {
        var share = LinkShare(backgroundRate: nil, at: start)
        let changes = [BackgroundAllowance.nothing, .nothing].map { share.leave($0, at: start) }
        #expect(changes == [true, false])
        _ = share.hold(at: start)
        #expect(share.isLimiting)
        _ = share.leave(.full, at: start)
        // Those that were held back go on in this turn.
        #expect(share.isLimiting)
        #expect(share.hold(at: start).background == .none)
        #expect(!share.isLimiting)
    }

    @Test func theWindowIsDividedAmongTransfers() {
        var share = LinkShare(backgroundRate: 1_000_000, at: start)
        let hold = share.hold(at: start)
        #expect(hold.window(amongst: 0) == 200_000)
        #expect(hold.window(amongst: 4) == 50_000)
        #expect(LinkShare.Hold(background: .none).window(amongst: 4) == nil)
    }

    /// On a slow link the windows of all transfers are limited, and downloads have connections of their own.
    @Test func aSlowLinkLimitsPlayersToo() {
        var share = LinkShare(backgroundRate: nil, at: start)
        share.recordConnection(in: .milliseconds(100))
        var isNews = false
        for half in 0...4 {
            isNews = share.count(50_000, for: .playback, at: start + .milliseconds(500 * half)) || isNews
        }
        #expect(isNews && share.isLimiting && !share.mayShareConnections)
        let hold = share.hold(at: start + .seconds(2))
        #expect(hold.background == .none)
        #expect(hold.playerWindow == 60_000)
        #expect(hold.window == 60_000)
        #expect(share.isLimiting)
    }

    @Test func trafficCountsByPriority() {
        var share = LinkShare(backgroundRate: nil, at: start)
        _ = share.count(3, for: .playback, at: start)
        _ = share.count(4, for: .background, at: start)
        #expect(share.traffic.playback == 3)
        #expect(share.traffic.background == 4)
    }
}
