import Testing
import WeirAPI

@testable import Daemon

@Suite struct DaemonStartTests {
    @Test func aDaemonEndsAfterATimeWithoutWork() {
        let start = ContinuousClock.now
        var clock = IdleClock(limit: .seconds(600), now: start)
        let looks: [(second: Int, isBusy: Bool, connections: Int, isOver: Bool)] = [
            (0, false, 0, false), (599, false, 0, false),
            // Work, and then a connection that was over before the next look.
            (600, true, 0, false), (1199, false, 0, false), (1200, false, 1, false), (1799, false, 1, false),
            (1800, false, 1, true),
        ]
        for look in looks {
            let isOver = clock.isOver(
                isBusy: look.isBusy, connections: look.connections, now: start + .seconds(look.second))
            #expect(isOver == look.isOver, "after \(look.second) s")
        }
    }

    /// Two looks after the last work, however long the limit is.
    @Test func anIdleDaemonIsLeftAlone() {
        let start = ContinuousClock.now
        var clock = IdleClock(limit: .seconds(600), now: start)
        _ = clock.isOver(isBusy: true, connections: 1, now: start)
        #expect(!clock.isIdle && clock.pause(now: start) == .seconds(15))
        _ = clock.isOver(isBusy: false, connections: 1, now: start + .seconds(15))
        #expect(clock.isIdle && clock.pause(now: start + .seconds(15)) == .seconds(585))
        let isOver = clock.isOver(isBusy: false, connections: 1, now: start + .seconds(600))
        #expect(isOver)
    }

    @Test(arguments: [
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/weir.service\n", UserService.Owner.user),
        ("12:memory:/system.slice\n0::/system.slice/weir.service\n", .system),
        ("0::/user.slice/user-1000.slice/session-2.scope\n", .nobody), ("", .nobody),
        ("0::/user.slice/user@1000.service/app.slice/other-weir.service\n", .nobody),
    ])
    func theOwnerOfAProcessIsThatOfItsControlGroup(text: String, owner: UserService.Owner) {
        #expect(UserService.Owner(controlGroups: text) == owner)
    }

    @Test(
        arguments: [
            (600, "10m"), (90, "90s"), (3600, "1h"), (86_400, "1d"), (1_209_600, "2w"), (nil, "never"),
        ] as [(Int64?, String)])
    func aDurationIsWrittenAsItIsRead(seconds: Int64?, text: String) {
        #expect(TimeSpan.text(seconds) == text)
        #expect(TimeSpan.seconds(text).map(Int64.init) == seconds)
    }

    @Test(arguments: [
        ("0.1.0", "0.2.0", true), ("0.9.0", "0.10.0", true), ("0.1.0", "0.1.0", false), ("1.0.0", "0.9.9", false),
        ("0.1.0+abc", "0.1.0+abd", false), ("0.1", "0.1.1", true), ("", "0.1.0", false), ("abc", "0.1.0", false),
    ])
    func versionsAreComparedByTheirNumbers(version: String, other: String, isOlder: Bool) {
        #expect(DaemonRecord(version: version, process: 1, started: 0).isOlder(than: other) == isOlder)
    }
}
