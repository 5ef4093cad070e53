/// The holes that a download has yet to fill, by track. Pure.
///
/// A plan is made anew whenever the store may have changed under it: at the start, after a jump, and when all that it names has been
/// fetched and a hole is left. Such rounds must have fewer holes each time, so that they end.
struct DownloadRound {
    private var plan = Plan([])
    private var playhead: Double
    /// The holes of each track that are not filled.
    private var left: [Int] = []
    /// The selections of the tracks.
    private var selections: [Int] = []
    /// The selection whose holes are fetched.
    private var current = 0
    /// The number of holes at the start of the round.
    private var holes = Int.max

    init(at playhead: Double = 0) { self.playhead = playhead }

    /// Begins a round with the holes that are there now. Returns true if they are fewer than at the start of the last one.
    @discardableResult mutating func begin(_ tracks: [Plan.Track]) -> Bool {
        plan = Plan(tracks, playhead: playhead)
        left = tracks.map { $0.preliminaries.count + $0.segments.count }
        selections = tracks.map(\.selection)
        let before = holes
        // One of several that are listed alike is fetched for all.
        holes = tracks.reduce(plan.count) { $0 + $1.repeated }
        return holes < before
    }

    /// The playhead has moved; the next holes are those behind it.
    mutating func move(to playhead: Double) {
        self.playhead = playhead
        plan.move(to: playhead)
    }

    /// Returns the next holes. None while those of another selection are on their way: one selection follows the other.
    mutating func next(isIdle: Bool) -> Plan.Batch? {
        guard isIdle || plan.selection == current, let batch = plan.next() else { return nil }
        current = batch.selection
        return batch
    }

    /// Records that a hole is filled. Returns true if its track has no other.
    @discardableResult mutating func recordFilled(in track: Int) -> Bool {
        left[track] -= 1
        return left[track] == 0
    }

    /// The selections that lack something.
    var openSelections: Set<Int> {
        var open: Set<Int> = []
        for (selection, count) in zip(selections, left) where count > 0 {
            open.insert(selection)
        }
        return open
    }
}
