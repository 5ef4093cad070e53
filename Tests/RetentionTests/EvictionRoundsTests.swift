import Testing

@testable import Retention

@Suite struct EvictionRoundsTests {
    /// A queue of pieces of ten bytes, named by letters, and the eviction turns over it.
    private struct Table {
        var queue = RecencyQueue<String>()
        var rounds: EvictionRounds

        init(_ pieces: String, limit: Int64?) {
            for piece in pieces {
                _ = queue.append(String(piece), size: 10, lastUse: 0)
            }
            rounds = EvictionRounds(limit: limit)
        }

        /// Runs turns until no work is left.
        ///
        /// - Returns: the evicted pieces of each turn.
        mutating func work(needing needed: String = "") -> [String] {
            var turns: [String] = []
            while true {
                let (evicted, hasMore) = rounds.turn(over: &queue) { needed.contains($0) }
                turns.append(evicted.map(\.element).joined())
                if !hasMore {
                    return turns
                }
            }
        }

        var rest: String { queue.slots.compactMap { queue[$0] }.joined() }
    }

    @Test(
        arguments: [
            ("abcde", nil, "", "", "abcde"), ("abcde", 50, "", "", "abcde"), ("abcde", 49, "", "a", "bcde"),
            ("abcde", 20, "", "abc", "de"), ("abcde", 0, "", "abcde", ""), ("abcde", 0, "bd", "ace", "bd"),
            // Needed pieces count towards the limit, and move behind the examined pieces.
            ("abcde", 30, "ab", "cd", "eab"), ("abcde", 30, "abcde", "", "abcde"), ("abcde", 10, "abd", "ce", "abd"),
            ("", 0, "", "", ""),
        ] as [(String, Int64?, String, String, String)])
    func evictsTheLeastRecentlyUsedExceptNeededPieces(
        _ pieces: String, _ limit: Int64?, _ needed: String, _ evicted: String, _ rest: String
    ) {
        var table = Table(pieces, limit: limit)
        table.rounds.begin(table.queue.count)
        #expect(table.work(needing: needed).joined() == evicted)
        #expect(table.rest == rest || limit.map { table.queue.size > $0 } ?? false && table.rest.count == rest.count)
        #expect(table.queue.size == Int64(10 * rest.count))
    }

    @Test func oneTurnEvictsAFewOnly() {
        var table = Table(String(repeating: "x", count: 20), limit: 0)
        table.rounds.begin(20)
        #expect(table.work().map(\.count) == [8, 8, 4])
        table = Table(String(repeating: "x", count: 600), limit: 0)
        table.rounds.begin(600)
        #expect(table.work(needing: "x") == ["", "", ""])
    }

    @Test func eachArrivalPermitsALimitedNumberOfLooks() {
        var table = Table(String(repeating: "n", count: 100) + "e", limit: 1000)
        table.rounds.permitLooks()
        #expect(table.work(needing: "n") == [""] && table.queue.size == 1010)
        // The next turn continues at the piece where the last turn ended.
        table.rounds.permitLooks()
        #expect(table.work(needing: "n") == ["e"] && table.rounds.looks == 0)
        table.rounds.permitLooks()
        #expect(table.work() == [""] && table.rounds.looks == 0)
    }
}
