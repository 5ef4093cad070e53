import TestSupport
import Testing

@Suite("Every player through Weir")
struct PlayersTests {
    @Test("plays each fixture to the end, and seeks, as from a plain origin", arguments: PlayerBaseline.all)
    func plays(row: PlayerBaseline) async throws {
        try await Scene.with { scene in
            let positions = row.seeks ? [8, 2] : []
            let report = try await row.player.play(scene.master(row.fixture), seekingTo: positions)
            #expect(row.shortcoming(of: report, seekingTo: positions) == nil)
            #expect(try await scene.repetitions() == [:])
        }
    }
}
