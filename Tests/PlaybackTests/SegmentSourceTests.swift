import Testing

@testable import Playback

@Suite struct SegmentSourceTests {
    /// A row of the table: the situation, and the decision without and with a substitute.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let situation: SegmentSource.Situation
        let alone: SegmentSource
        let withSubstitute: SegmentSource

        init(
            _ name: String, _ alone: SegmentSource, _ withSubstitute: SegmentSource? = nil,
            _ change: (inout SegmentSource.Situation) -> Void
        ) {
            var situation = SegmentSource.Situation()
            change(&situation)
            (testDescription, self.situation) = (name, situation)
            (self.alone, self.withSubstitute) = (alone, withSubstitute ?? alone)
        }
    }

    static let rows = [
        Row("stored", .piece(isSpliced: false)) { $0.isStored = true },
        Row("stored, offline", .piece(isSpliced: false)) { ($0.isStored, $0.mayAsk) = (true, false) },
        Row("stored, where another may come", .piece(isSpliced: true)) {
            ($0.isStored, $0.joining) = (true, .perhaps)
        },
        Row("stored, behind another", .piece(isSpliced: true)) { ($0.isStored, $0.joining) = (true, .joined) },
        Row("stored since another was begun with", .piece(isSpliced: true), .substitute) {
            ($0.isStored, $0.joining, $0.continuesSubstitute) = (true, .joined, true)
        },
        Row("absent", .fetch(isSpliced: false)) { _ in },
        Row("absent, where another may come", .fetch(isSpliced: false)) { $0.joining = .perhaps },
        Row("absent, behind another", .fetch(isSpliced: true)) { $0.joining = .joined },
        Row("absent, another begun with", .fetch(isSpliced: true), .substitute) {
            ($0.joining, $0.continuesSubstitute) = (.joined, true)
        },
        Row("absent, offline", .refused, .substitute) { $0.mayAsk = false },
        Row("absent, asked for in vain", .refused, .substitute) { $0.hasFailed = true },
        Row("absent, asked for in vain, behind another", .refused, .substitute) {
            ($0.hasFailed, $0.joining) = (true, .joined)
        },
    ]

    @Test(arguments: rows) func source(row: Row) {
        #expect(SegmentSource(row.situation, hasSubstitute: false) == row.alone)
        #expect(SegmentSource(row.situation, hasSubstitute: true) == row.withSubstitute)
    }

    @Test func substitutesAreSearchedOnlyIfTheyMatter() {
        var looked = 0
        func look() -> Bool {
            looked += 1
            return true
        }
        for row in Self.rows where row.alone == row.withSubstitute {
            _ = SegmentSource(row.situation, hasSubstitute: look())
        }
        #expect(looked == 0)
    }
}
