import TestSupport
import Testing

@Suite("Every player through Weir")
struct PlayersTests {
    @Test(
        "plays each fixture to the end, and seeks, as with a plain origin", .namingCases, arguments: Player.allCases)
    func playsAndSeeks(player: Player) async {
        await sideBySide(PlayerBaseline.all.filter { $0.player == player }) { row in
            var found = try await shortcoming(row)
            // Players run in real time and can fail on a busy machine. A failure caused by Weir repeats.
            if found != nil {
                found = try await shortcoming(row)
            }
            #expect(found == nil)
        }
    }

    /// A result that is worse than with a plain origin; nil if there is none.
    private func shortcoming(_ row: PlayerBaseline) async throws -> String? {
        var shortcoming: String?
        try await Scene.with { scene in
            let positions = row.seeks ? [8, 2] : []
            let report = try await row.player.play(scene.master(row.fixture), seekingTo: positions)
            shortcoming = row.shortcoming(of: report, seekingTo: positions)
            #expect(try await scene.repetitions() == [:])
        }
        return shortcoming
    }
}
