import TestSupport
import Testing

/// Compares the baseline table with the players' behaviour on a plain origin.
@Suite("Players on a plain origin")
struct PlayerTests {
    /// One fixture per container: players treat the others alike.
    private static let rows = PlayerBaseline.all.filter { ["ts", "cmaf", "audio"].contains($0.fixture) }

    @Test("match the baseline", arguments: rows)
    func matchesBaseline(row: PlayerBaseline) async throws {
        // Players run in real time and can fail on a busy machine.
        var found = try await shortcoming(row)
        if found != nil { found = try await shortcoming(row) }
        #expect(found == nil)
    }

    private func shortcoming(_ row: PlayerBaseline) async throws -> String? {
        let origin = try await TestOrigin()
        let positions = row.seeks ? [8, 2] : []
        let report = try await row.player.play(origin.master(row.fixture), seekingTo: positions)
        return row.shortcoming(of: report, seekingTo: positions)
    }

    @Test("report a missing segment", arguments: [Player.vlc, .chromium])
    func reportsMissingSegment(player: Player) async throws {
        let origin = try await TestOrigin()
        try await origin.add(OriginRule("/ts/*/3.ts") { $0.status = 404 })
        let report = try await player.play(origin.master("ts"), within: .seconds(30))
        #expect(PlayerBaseline(player, "ts").shortcoming(of: report) != nil)
    }
}
