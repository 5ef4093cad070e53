import Testing

@testable import Downloads

@Suite struct PlanTests {
    /// Segments of two seconds each, by index.
    private func segments(_ places: Range<Int>, file: Int? = nil, bytes: Int = 100) -> [Plan.Hole] {
        places.map { place in
            let part = file.map { Plan.FilePart(file: $0, bytes: place * bytes..<(place + 1) * bytes) }
            return Plan.Hole(.segment(place), time: Double(place * 2)..<Double(place * 2 + 2), part: part)
        }
    }

    /// The planned resources, batch by batch: `0:p1`, `1:3-5`.
    private func order(_ plan: Plan) -> [String] {
        var plan = plan
        var order = [String]()
        while let batch = plan.next() {
            let items = batch.holes.map { hole in
                switch hole.item {
                case .preliminary(let place): "p\(place)"
                case .segment(let place): "\(place)"
                }
            }
            let text = items.count == 1 ? items[0] : "\(items[0])-\(items[items.count - 1])"
            order.append("\(batch.track):\(text)")
        }
        #expect(plan.count == 0)
        return order
    }

    @Test func preliminariesComeFirstThenMediaByTime() {
        let sound = [Plan.Hole(.segment(0), time: 0..<3), Plan.Hole(.segment(1), time: 3..<6)]
        let plan = Plan([
            Plan.Track(preliminaries: [Plan.Hole(.preliminary(0), time: 0..<0)], segments: segments(0..<3)),
            Plan.Track(preliminaries: [Plan.Hole(.preliminary(2), time: 0..<0)], segments: sound),
        ])
        #expect(plan.count == 7)
        #expect(order(plan) == ["0:p0", "1:p2", "0:0", "1:0", "0:1", "1:1", "0:2"])
    }

    @Test func mediaAfterThePlayheadComesBeforeEarlierMedia() {
        let tracks = [Plan.Track(segments: segments(0..<4)), Plan.Track(segments: segments(1..<4))]
        #expect(order(Plan(tracks, playhead: 4)) == ["0:2", "1:2", "0:3", "1:3", "0:0", "0:1", "1:1"])
        // The playhead is inside a segment, so that segment is still needed.
        #expect(order(Plan(tracks, playhead: 3)).first == "0:1")
        #expect(order(Plan(tracks, playhead: 100)).first == "0:0")
        #expect(order(Plan(tracks, playhead: -1)) == order(Plan(tracks)))
    }

    @Test func preliminariesComeFirstForEveryPlayhead() {
        let track = Plan.Track(preliminaries: [Plan.Hole(.preliminary(0), time: 0..<0)], segments: segments(0..<2))
        #expect(order(Plan([track], playhead: 3)) == ["0:p0", "0:1", "0:0"])
    }

    @Test func aMovingPlayheadSkipsAndRepeatsNothing() {
        var plan = Plan([Plan.Track(segments: segments(0..<6))], playhead: 8)
        #expect(plan.next()?.holes.map(\.item) == [.segment(4)])
        plan.move(to: 2)
        #expect(plan.next()?.holes.map(\.item) == [.segment(1)])
        plan.move(to: 9)
        #expect(order(plan) == ["0:5", "0:0", "0:2", "0:3"])
    }

    /// Mission S9.
    @Test func selectionsFollowEachOther() {
        let key = Plan.Hole(.preliminary(0), time: 0..<0)
        let tracks = [
            Plan.Track(selection: 0, segments: segments(0..<2)), Plan.Track(selection: 0, segments: segments(1..<2)),
            Plan.Track(selection: 1, preliminaries: [key], segments: segments(0..<2)),
            Plan.Track(selection: 2, segments: segments(0..<1)),
        ]
        #expect(order(Plan(tracks)) == ["0:0", "0:1", "1:1", "2:p0", "2:0", "2:1", "3:0"])
        #expect(order(Plan(tracks, playhead: 2)) == ["0:1", "1:1", "0:0", "2:p0", "2:1", "2:0", "3:0"])
        var plan = Plan(tracks)
        #expect(plan.selection == 0)
        for _ in 0..<3 {
            _ = plan.next()
        }
        #expect(plan.selection == 1 && plan.next()?.selection == 1)
        #expect(Plan([]).selection == nil)
    }

    // MARK: Byte ranges

    @Test func adjacentRangesAreBatched() {
        #expect(order(Plan([Plan.Track(segments: segments(0..<4, file: 1))])) == ["0:0-3"])
        // Stored segments in between, another file, and whole files.
        let parts = [segments(0..<2, file: 1), segments(3..<4, file: 1), segments(4..<5, file: 2), segments(5..<7)]
        #expect(order(Plan([Plan.Track(segments: parts.flatMap(\.self))])) == ["0:0-1", "0:3", "0:4", "0:5", "0:6"])
    }

    @Test func separateOrReversedRangesAreNotBatched() {
        let holes = [(0, 0..<10), (1, 11..<20), (2, 5..<11), (3, 11..<12)].map { place, bytes in
            Plan.Hole(
                .segment(place), time: Double(place)..<Double(place + 1), part: Plan.FilePart(file: 1, bytes: bytes))
        }
        #expect(order(Plan([Plan.Track(segments: holes)])) == ["0:0", "0:1", "0:2-3"])
    }

    @Test(arguments: [
        (40, 1000, ["0:0-14", "0:15-29", "0:30-39"]),  // Limit: 30 s.
        (6, 1 << 20, ["0:0-3", "0:4-5"]),  // Limit: 4 MB.
        (2, 5 << 20, ["0:0", "0:1"]),
    ])
    func aBatchIsLimited(_ count: Int, _ bytes: Int, _ wanted: [String]) {
        #expect(order(Plan([Plan.Track(segments: segments(0..<count, file: 1, bytes: bytes))])) == wanted)
    }

    @Test func shortSegmentsAreLimitedByCount() {
        let holes = (0..<20).map { place in
            Plan.Hole(
                .segment(place), time: Double(place) / 10..<Double(place + 1) / 10,
                part: Plan.FilePart(file: 1, bytes: place..<place + 1))
        }
        #expect(order(Plan([Plan.Track(segments: holes)])) == ["0:0-15", "0:16-19"])
    }

    @Test func batchesDoNotReachAcrossThePlayhead() {
        let plan = Plan([Plan.Track(segments: segments(0..<6, file: 1))], playhead: 6)
        #expect(order(plan) == ["0:3-5", "0:0-2"])
    }

    @Test func anEmptyPlanHasNoBatches() {
        #expect(order(Plan([])) == [])
        #expect(order(Plan([Plan.Track(), Plan.Track()])) == [])
    }

    @Test func plansTenThousandSegmentsOfTenRenditionsInTurn() {
        let plan = Plan((0..<10).map { _ in Plan.Track(segments: segments(0..<10_000)) }, playhead: 10_000)
        let order = order(plan)
        #expect(order.count == 100_000)
        #expect(order[10] == "0:5001")
        #expect(order.last == "9:4999")
    }
}
