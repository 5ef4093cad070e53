import TestSupport
import Testing

/// The table of what players do with a plain origin, held against the players themselves.
@Suite("Players on a plain origin")
struct PlayerTests {
    /// One fixture of each container: the others differ in what Weir makes of them, and not in what players do.
    private static let rows = PlayerBaseline.all.filter { ["ts", "cmaf", "audio"].contains($0.fixture) }

    @Test("do what the baseline says", arguments: rows)
    func baseline(row: PlayerBaseline) async throws {
        // They play in real time, and stumble by themselves on a busy machine.
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

    @Test("a missing segment does not pass for an unhurt presentation", arguments: [Player.vlc, .chromium])
    func missingSegment(player: Player) async throws {
        let origin = try await TestOrigin()
        try await origin.add(OriginRule("/ts/*/3.ts") { $0.status = 404 })
        let report = try await player.play(origin.master("ts"), within: .seconds(30))
        #expect(PlayerBaseline(player, "ts").shortcoming(of: report) != nil)
    }
}
