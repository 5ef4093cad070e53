import Orders
import Testing

@testable import Store

/// Purge plans as a table, at noon of day 100. Each asset is a word: `a:10+5@90!` has ten downloaded and five cached bytes, was
/// last used at 90, and is important.
@Suite struct PurgePlanTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var assets: String
        var wanted: Int64
        var limit: PurgePlan.Limit
        var steps: String
        var testDescription: String { "\(wanted) of [\(assets)] up to \(limit.rawValue)" }

        init(_ assets: String, _ wanted: Int64, _ limit: PurgePlan.Limit, _ steps: String) {
            self.assets = assets
            self.wanted = wanted
            self.limit = limit
            self.steps = steps
        }
    }

    /// Parses `name:downloaded+cached@lastUse` and flags: `x` expired, `!` important, `p` played, `d` downloading, `r` recorded.
    private static func candidate(_ word: Substring) -> PurgePlan.Candidate {
        let parts = word.split { ":+@".contains($0) }
        let signs = String(parts[3].drop { $0.isNumber })
        let lastUse = Int64(parts[3].prefix { $0.isNumber }) ?? 0
        var candidate = PurgePlan.Candidate(
            id: String(parts[0]), created: 0, kept: Int64(parts[1]) ?? 0, cached: Int64(parts[2]) ?? 0)
        candidate.life.lastPlayed = lastUse
        candidate.life.policy.expires = signs.contains("x") ? 100 : nil
        candidate.life.policy.priority = signs.contains("!") ? .important : .default
        candidate.isPlaying = signs.contains("p")
        candidate.isDownloading = signs.contains("d")
        candidate.isIrreplaceable = signs.contains("r")
        return candidate
    }

    private static func plan(_ given: Case, hasCache: Bool = true) -> PurgePlan {
        PurgePlan(
            toFree: given.wanted, of: given.assets.split(separator: " ").map(candidate), limit: given.limit, at: 100,
            hasCache: hasCache)
    }

    private static func words(_ plan: PurgePlan) -> String {
        plan.steps.map { step in
            switch step {
            case .playCache(let bytes): "cache:\(bytes)"
            case .asset(let id, let bytes, let cause):
                "\(id):\(bytes)" + (cause == .expired ? "x" : cause == .spaceThoughImportant ? "!" : "")
            }
        }.joined(separator: " ")
    }

    @Test(arguments: [
        // Nothing to free, or nothing to purge.
        Case("", 10, .important, ""), Case("a:10+5@1", 0, .important, ""), Case("a:10+5@1", -7, .important, ""),
        Case("a:0+0@1x b:0+0@2", 10, .important, ""),
        // Expired assets first, each completely, and no more than needed.
        Case("a:10+5@1 b:10+0@2x", 5, .important, "b:10x"), Case("b:10+3@2x", 5, .expired, "b:13x"),
        Case("a:10+0@9x b:10+0@3x c:10+0@6x", 15, .expired, "b:10x c:10x"),
        Case("a:10+0@1x! b:10+0@9x", 5, .expired, "b:10x"), Case("a:10+0@1x! b:10+0@9x", 15, .expired, "b:10x a:10x"),
        Case("a:10+0@1xd", 5, .expired, "a:10x"), Case("a:10+0@1xr", 5, .expired, "a:10x"),
        // Then cached segments of all assets, as many bytes as are missing.
        Case("a:10+5@1 b:0+8@2", 4, .expired, "cache:4"), Case("a:10+5@1 b:0+8@2", 20, .expired, "cache:13"),
        Case("a:10+5@1x b:0+8@2", 20, .expired, "a:15x cache:5"), Case("a:0+5@1!", 3, .expired, "cache:3"),
        Case("a:0+5@1d", 3, .expired, "cache:3"), Case("a:3+5@1r", 9, .expired, "cache:5"),
        // Then downloads, if allowed: the least recently used first.
        Case("a:10+0@1 b:10+0@2", 5, .expired, ""), Case("a:10+0@1 b:10+0@2", 5, .default, "a:10"),
        Case("b:10+0@2 a:10+0@1", 15, .default, "a:10 b:10"),
        Case("a:10+5@3 b:10+0@2", 18, .default, "cache:5 b:10 a:10"),
        Case("a:10+0@3 b:10+0@3", 5, .default, "a:10"), Case("a:10+0@1d b:10+0@2", 15, .default, "b:10"),
        Case("a:5+5@1 b:9+0@2x", 30, .default, "b:9x cache:5 a:5"),
        // Then important assets and those that cannot be fetched again.
        Case("a:10+0@1! b:10+0@2", 15, .default, "b:10"), Case("a:10+0@1! b:10+0@2", 15, .important, "b:10 a:10!"),
        Case("a:10+0@1r b:10+0@2", 15, .default, "b:10"), Case("a:10+0@1r b:10+0@2", 15, .important, "b:10 a:10!"),
        Case("a:10+0@5! b:10+0@2!", 5, .important, "b:10!"), Case("a:10+0@5! b:10+0@2!", 15, .important, "b:10! a:10!"),
        Case("a:10+0@1!d", 5, .important, ""),
        // Never an asset in playback.
        Case("a:10+5@1p", 5, .important, ""), Case("a:10+5@1xp", 5, .important, ""),
        Case("a:10+5@1xp b:0+3@1 c:10+0@9", 5, .default, "cache:3 c:10"),
        Case("a:10+5@1!p b:10+0@9!", 5, .important, "b:10!"),
        // Everything, in order.
        Case("a:1+1@5x b:1+1@4 c:1+1@3! d:1+1@2p e:1+1@1r f:1+1@0d", 99, .important, "a:2x cache:4 b:1 e:1! c:1!"),
    ])
    func purgesInOrder(_ given: Case) {
        let plan = Self.plan(given)
        #expect(Self.words(plan) == given.steps)
        let freed = plan.steps.reduce(Int64(0)) { sum, step in
            switch step {
            case .playCache(let bytes), .asset(_, let bytes, _): sum + bytes
            }
        }
        #expect(plan.freed == freed)
    }

    @Test func skipsACacheThatCannotBeEvicted() {
        let given = Case("a:10+5@1 b:0+8@2", 4, .default, "a:10")
        #expect(Self.words(Self.plan(given, hasCache: false)) == given.steps)
    }

    /// A film downloaded this morning for tonight is not the least recently used one.
    @Test func countsTheRequestAsTheLastUseOfAnUnplayedAsset() {
        var new = PurgePlan.Candidate(id: "new", created: 90, kept: 10)
        var seen = PurgePlan.Candidate(id: "seen", created: 1, kept: 10)
        seen.life.lastPlayed = 50
        let plan = PurgePlan(toFree: 5, of: [new, seen], limit: .default, at: 100)
        #expect(plan.steps == [.asset(id: "seen", bytes: 10, .space)])
        new.created = 40
        let other = PurgePlan(toFree: 5, of: [new, seen], limit: .default, at: 100)
        #expect(other.steps == [.asset(id: "new", bytes: 10, .space)])
    }

    /// A window expires at the second of its end, as a date does.
    @Test func purgesExpiredWindowsFirst() {
        var rented = PurgePlan.Candidate(id: "rented", created: 99, kept: 10)
        rented.life.policy.afterFirstPlay = 48
        rented.life.firstPlayed = 52
        let other = PurgePlan.Candidate(id: "other", created: 1, kept: 10)
        let steps: (Int64) -> [PurgePlan.Step] = {
            PurgePlan(toFree: 5, of: [rented, other], limit: .default, at: $0).steps
        }
        #expect(steps(99) == [.asset(id: "other", bytes: 10, .space)])
        #expect(steps(100) == [.asset(id: "rented", bytes: 10, .expired)])
    }
}
