import TestSupport
import Testing

@Suite("Every player through Weir")
struct PlayersTests {
    /// What is worse than from a plain origin; nil when nothing is.
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

    @Test("plays each fixture to the end, and seeks, as from a plain origin", arguments: PlayerBaseline.all)
    func plays(row: PlayerBaseline) async throws {
        var found = try await shortcoming(row)
        // They play in real time, and stumble by themselves on a busy machine: what Weir causes shows again.
        if found != nil { found = try await shortcoming(row) }
        #expect(found == nil)
    }
}
