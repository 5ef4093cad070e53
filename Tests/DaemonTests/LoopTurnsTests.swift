import Testing

@testable import Daemon

@Suite struct LoopTurnsTests {
    private func text(_ buckets: [(String, Int)], count: Int, longest: String = "0.25") -> String {
        buckets.map { "weir_loop_turn_seconds_bucket{le=\"\($0)\"} \($1)\n" }.joined()
            + "weir_loop_turn_seconds_count \(count)\nweir_loop_longest_turn_seconds \(longest)\n"
    }

    @Test func theUsualBoundHoldsNinetyNineOfAHundredTurns() throws {
        let turns = try #require(LoopTurns(text([("0.001", 980), ("0.005", 995), ("+Inf", 1000)], count: 1000)))
        #expect(turns.usual == 0.005 && turns.longestWords == "250 ms")
    }

    @Test func turnsBeyondTheLastBoundHaveNone() throws {
        let turns = try #require(LoopTurns(text([("10", 900), ("+Inf", 1000)], count: 1000, longest: "31.5")))
        #expect(turns.usual == nil && turns.longestWords == "31 s")
        let odd = try #require(LoopTurns(text([("1e300", 1000), ("nan", 1000)], count: 1000)))
        #expect(odd.usual == nil)
    }

    @Test(arguments: [
        "", "weir_loop_turn_seconds_count 0\nweir_loop_longest_turn_seconds 0\n", "weir_loop_turn_seconds_count x\n",
    ])
    func aTextWithoutTurnsSaysNothing(text: String) { #expect(LoopTurns(text) == nil) }
}
