import Fetching
import Testing

@testable import Playback

@Suite struct SegmentSourceTests {
    /// A row of the table: the facts, and the sources in the order in which they are tried if each is unavailable.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: SegmentFacts
        let sources: [SegmentSource]

        init(_ name: String, _ sources: SegmentSource..., facts change: (inout SegmentFacts) -> Void) {
            var facts = SegmentFacts()
            change(&facts)
            testDescription = name
            self.facts = facts
            self.sources = sources
        }

        /// A row for a piece that is not stored.
        init(
            missing name: String, _ splicing: SplicingState.Stage = .unspliced, _ sources: SegmentSource...,
            facts change: (inout SegmentFacts.Missing) -> Void = { _ in }
        ) {
            var facts = SegmentFacts()
            var missing = SegmentFacts.Missing()
            change(&missing)
            facts.splicing = splicing
            facts.missing = missing
            testDescription = "missing, \(name)"
            self.facts = facts
            self.sources = sources
        }
    }

    private static let low = SegmentForm(substitute: "low", isSpliced: true)
    private static let any = SegmentSource.substitute(of: nil)

    static let stored = [
        Row("stored", .piece) { _ in },
        Row("stored, where another may come", .splicedPiece, .piece) { $0.splicing = .expected },
        Row("stored, behind another", .splicedPiece, .piece) { $0.splicing = .spliced },
        Row("stored, behind another, cannot be spliced", .piece) { ($0.splicing, $0.isSpliceable) = (.spliced, false) },
        Row("begun with another", .substitute(of: "low"), .splicedPiece, .piece) {
            ($0.splicing, $0.recorded) = (.spliced, low)
        },
        Row("a stored quality is chosen", .substitute(of: "high"), .piece) {
            $0.quality = SegmentFacts.Quality(rendition: "high", isStored: true)
        },
        Row("another quality is chosen", .otherQuality, .piece) {
            $0.quality = SegmentFacts.Quality(rendition: "high", isStored: false)
        },
        Row("another quality is chosen, behind another", .otherQuality, .splicedPiece, .piece) {
            $0.quality = SegmentFacts.Quality(rendition: "high", isStored: false)
            $0.splicing = .spliced
        },
        Row("begun with another, not stored", .substitute(of: "low"), .fetch(.none, isSentComplete: false)) {
            ($0.splicing, $0.recorded, $0.missing) = (.spliced, low, SegmentFacts.Missing())
        },
        Row("sent unchanged before, behind another since", .piece) { ($0.splicing, $0.recorded) = (.spliced, .own) },
        Row("sent spliced before", .splicedPiece, .piece) { $0.recorded = SegmentForm(isSpliced: true) },
        Row("sent unchanged before, not stored", .fetch(.untilBegun, isSentComplete: false)) {
            ($0.splicing, $0.recorded) = (.spliced, .own)
            $0.missing = SegmentFacts.Missing(hasSubstitute: true, hasBuffer: true, isSplicedComplete: true)
        },
        Row("sent spliced before, not stored", .fetch(.none, isSentComplete: true)) {
            ($0.recorded, $0.missing) = (SegmentForm(isSpliced: true), SegmentFacts.Missing())
        },
    ]

    static let missing = [
        Row(missing: "alone", .unspliced, .fetch(.none, isSentComplete: false)),
        Row(missing: "where another may come", .expected, .fetch(.none, isSentComplete: false)) {
            $0.isSplicedComplete = true
        },
        Row(missing: "behind another", .spliced, .fetch(.none, isSentComplete: true)) { $0.isSplicedComplete = true },
        Row(missing: "behind another that needs no boxes", .spliced, .fetch(.none, isSentComplete: false)),
        Row(missing: "with a substitute", .unspliced, .fetch(.untilBegun, isSentComplete: false)) {
            $0.hasSubstitute = true
        },
        Row(missing: "with a substitute and a buffer", .unspliced, .fetch(.untilComplete, isSentComplete: true)) {
            ($0.hasSubstitute, $0.hasBuffer) = (true, true)
        },
        Row(missing: "with a substitute, behind another", .spliced, .fetch(.untilComplete, isSentComplete: true)) {
            ($0.hasSubstitute, $0.isSplicedComplete) = (true, true)
        },
        Row(missing: "the origin did not answer a moment ago", .unspliced, any, .fetch(.none, isSentComplete: false)) {
            ($0.hasSubstitute, $0.isPresumedAbsent) = (true, true)
        },
        Row(missing: "the same without a substitute", .unspliced, .fetch(.none, isSentComplete: false)) {
            $0.isPresumedAbsent = true
        },
        Row(missing: "offline", .unspliced, .refuse(.notStored)) { $0.mayAsk = false },
        Row(missing: "offline, with a substitute", .unspliced, any, .refuse(.notStored)) {
            ($0.mayAsk, $0.hasSubstitute) = (false, true)
        },
        Row(missing: "not listed", .unspliced, .refuse(.unlisted)) { $0.isListed = false },
        Row(missing: "not listed, with a substitute", .unspliced, any, .refuse(.unlisted)) {
            ($0.isListed, $0.hasSubstitute) = (false, true)
        },
        Row(missing: "asked for in vain", .unspliced, .refuse(.failed)) { $0.hasFailed = true },
        Row(missing: "asked for in vain, with a substitute", .unspliced, any, .refuse(.failed)) {
            ($0.hasFailed, $0.hasSubstitute, $0.hasBuffer) = (true, true, true)
        },
        Row(missing: "asked for in vain, behind another", .spliced, any, .refuse(.failed)) {
            ($0.hasFailed, $0.hasSubstitute, $0.isPresumedAbsent) = (true, true, true)
        },
        Row(missing: "sound, asked for in vain, that another group has", .unspliced, .standIn, .refuse(.failed)) {
            ($0.hasFailed, $0.hasStandIn) = (true, true)
        },
        Row(missing: "cues", .unspliced, .fetch(.none, isSentComplete: false)) { $0.isCueFile = true },
        Row(missing: "cues, asked for in vain", .unspliced, .noCues) { ($0.isCueFile, $0.hasFailed) = (true, true) },
        Row(missing: "cues, offline", .unspliced, .noCues) { ($0.isCueFile, $0.mayAsk) = (true, false) },
        Row(missing: "cues that the origin does not have", .unspliced, .noCues) {
            ($0.isCueFile, $0.isGivenUp) = (true, true)
        },
        Row(missing: "cues in a gap, which is no resource", .unspliced, .noCues) {
            ($0.isCueFile, $0.isGivenUp, $0.isListed) = (true, true, false)
        },
        Row(missing: "an expired key", .unspliced, .fetch(.none, isSentComplete: false)) { $0.isExpiredKey = true },
        Row(missing: "an expired key, offline", .unspliced, .refuse(.keyExpired)) {
            ($0.isExpiredKey, $0.mayAsk) = (true, false)
        },
        Row(missing: "an expired key that is not listed", .unspliced, .refuse(.unlisted)) {
            ($0.isExpiredKey, $0.isListed) = (true, false)
        },
    ]

    @Test(arguments: stored + missing) func sourcesInOrder(row: Row) {
        var facts = row.facts
        for source in row.sources {
            #expect(SegmentSource(facts) == source)
            facts.exclude(source)
        }
    }

    /// All combinations of facts. Excluding each source, adding the facts of a missing piece, and recording the failure
    /// of each fetch ends with a refusal.
    @Test func eachChoiceEnds() {
        for quality in [nil, true, false] {
            for splicing in [SplicingState.Stage.unspliced, .expected, .spliced] {
                for bits in 0..<8192 {
                    func bit(_ place: Int) -> Bool { bits >> place & 1 == 1 }
                    var facts = SegmentFacts()
                    facts.quality = quality.map { SegmentFacts.Quality(rendition: "high", isStored: $0) }
                    facts.splicing = splicing
                    facts.recorded = bit(0) ? Self.low : bit(10) ? .own : nil
                    let missing = SegmentFacts.Missing(
                        isListed: bit(1), mayAsk: bit(2), hasSubstitute: bit(3), isPresumedAbsent: bit(4),
                        hasFailed: bit(5), hasBuffer: bit(6), isSplicedComplete: bit(7), isExpiredKey: bit(8),
                        isCueFile: bit(11), isGivenUp: bit(11) && bit(12))
                    if bit(9) {
                        facts.missing = missing
                    }
                    #expect(steps(facts, missing) <= 7)
                }
            }
        }
    }

    /// Number of sources up to the refusal.
    private func steps(_ facts: SegmentFacts, _ missing: SegmentFacts.Missing) -> Int {
        var facts = facts
        var count = 1
        while count < 100 {
            let source = SegmentSource(facts)
            switch source {
            case .refuse, .noCues: return count
            case .piece: facts.missing = missing
            case .fetch: facts.missing?.hasFailed = true
            default: break
            }
            facts.exclude(source)
            count += 1
        }
        return count
    }
}
