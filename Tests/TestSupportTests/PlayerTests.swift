import TestSupport
import Testing

/// Compares the baseline table with the players' behaviour on a plain origin.
@Suite("Players on a plain origin")
struct PlayerTests {
    /// One fixture per container: players treat the others alike.
    private static let fixtures = ["ts", "cmaf", "audio"]

    @Test("match the baseline", .namingCases, arguments: Player.allCases)
    func matchesBaseline(player: Player) async {
        await sideBySide(Self.fixtures.map { PlayerBaseline(player, $0) }) { row in
            // Players run in real time and can fail on a busy machine.
            var found = try await shortcoming(row)
            if found != nil {
                found = try await shortcoming(row)
            }
            #expect(found == nil)
        }
    }

    private func shortcoming(_ row: PlayerBaseline) async throws -> String? {
        let origin = try await TestOrigin()
        let positions = row.seeks ? [8, 2] : []
        let report = try await row.player.play(origin.master(row.fixture), seekingTo: positions)
        return row.shortcoming(of: report, seekingTo: positions)
    }

    @Test("report a missing segment", .namingCases)
    func reportsMissingSegment() async {
        await sideBySide([Player.vlc, .chromium]) { player in
            let origin = try await TestOrigin()
            try await origin.add(OriginRule("/ts/*/3.ts") { $0.status = 404 })
            let report = try await player.play(origin.master("ts"), within: .seconds(30))
            #expect(PlayerBaseline(player, "ts").shortcoming(of: report) != nil)
        }
    }
}
