import Playheads
import Testing

@testable import Assets
@testable import Fetching
@testable import Retention

@Suite struct CacheNeedsTests {
    private func span(_ start: Double) -> SegmentSpan { SegmentSpan(number: 0, start: start, duration: 2) }

    @Test(arguments: [(87.9, false), (88.1, true), (100, true), (129.9, true), (130, false), (500, false)])
    func aSessionNeedsTheTimeAroundItsPositions(_ start: Double, _ isNeeded: Bool) {
        var needs = NeededTimes()
        #expect(needs.isEmpty && !needs.contains(span(start)))
        needs.add(around: 100)
        #expect(!needs.isEmpty && needs.contains(span(start)) == isNeeded && !needs.contains(nil))
        needs.add(around: 500)
        #expect(needs.contains(span(500)))
        needs.isEverything = true
        #expect(needs.contains(span(start)) && needs.contains(nil))
    }

    @Test(
        arguments: [
            (PieceName.Role.segment(0), "v", 10.0, true), (.segment(0), "v", 8.0, false), (.segment(0), "v", 8.1, true),
            (.segment(0), "v", 20, false), (.segment(0), "v", nil, true), (.segment(0), "a", 100, true),
            (.segment(0), "s", 10, false), (.initialization(0), "v", nil, true), (.initialization(0), "s", nil, false),
            (.key(0), "keys", nil, true), (.data(0), "data", nil, true),
        ] as [(PieceName.Role, String, Double?, Bool)])
    func pinnedContentIncludesKeysAndInitializationSections(
        _ role: PieceName.Role, _ folder: String, _ start: Double?, _ isPinned: Bool
    ) {
        let content = PinnedContent.renditions(["v": .parts([10..<20]), "a": .all])
        #expect(content.contains(role, of: folder, start.map(span)) == isPinned)
        #expect(PinnedContent.everything.contains(role, of: folder, nil))
        #expect(!PinnedContent.nothing.contains(role, of: folder, nil))
    }

    @Test func aStartingSessionNeedsTheBeginningForAMinute() {
        var sessions = StartingSessions()
        let begin = ContinuousClock.now
        sessions.add("a1", of: "film", isOffline: false, at: begin)
        func needs(of asset: String, after seconds: Double, playing: String = "") -> NeededTimes {
            var needs = NeededTimes()
            sessions.addNeeds(of: asset, to: &needs, at: begin + .seconds(seconds)) { $0 == playing }
            return needs
        }
        #expect(needs(of: "film", after: 59).contains(span(0)) && !needs(of: "film", after: 59).isEverything)
        #expect(needs(of: "other", after: 0).isEmpty && needs(of: "film", after: 61).isEmpty)
        #expect(needs(of: "film", after: 61, playing: "a1").isEmpty)
        sessions.add("o1", of: "film", isOffline: true, at: begin)
        #expect(needs(of: "film", after: 59).isEverything && !needs(of: "film", after: 61).isEverything)
        #expect(needs(of: "film", after: 600, playing: "o1").isEverything)
    }

    @Test func sessionsWithMadeUpIdsReplaceEachOther() {
        var sessions = StartingSessions()
        let now = ContinuousClock.now
        for number in 0..<1000 {
            sessions.add("s\(number)", of: "a\(number)", isOffline: true, at: now)
        }
        func isNeeded(_ asset: String) -> Bool {
            var needs = NeededTimes()
            sessions.addNeeds(of: asset, to: &needs, at: now) { _ in false }
            return needs.isEverything
        }
        #expect(!isNeeded("a743") && isNeeded("a744") && isNeeded("a999"))
    }
}
