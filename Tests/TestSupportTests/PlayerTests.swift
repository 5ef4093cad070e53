import TestSupport
import Testing

/// The table of what players do with a plain origin, held against the players themselves.
@Suite("Players on a plain origin")
struct PlayerTests {
    @Test("do what the baseline says", arguments: PlayerBaseline.all)
    func baseline(row: PlayerBaseline) async throws {
        let origin = try await TestOrigin()
        let positions = row.seeks ? [8, 2] : []
        let report = try await row.player.play(origin.master(row.fixture), seekingTo: positions)
        #expect(row.shortcoming(of: report, seekingTo: positions) == nil)
    }

    @Test("a missing segment does not pass for an unhurt presentation", arguments: [Player.vlc, .chromium])
    func missingSegment(player: Player) async throws {
        let origin = try await TestOrigin()
        try await origin.add(OriginRule("/ts/*/3.ts") { $0.status = 404 })
        let report = try await player.play(origin.master("ts"), within: .seconds(30))
        #expect(PlayerBaseline(player, "ts").shortcoming(of: report) != nil)
    }
}
