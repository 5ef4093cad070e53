import AccessLog

/// The sources of a session's segments, in order of delivery, as runs of segments with one rendition and one source.
/// Pure.
struct PieceTrail {
    private(set) var runs: [PieceRun] = []
    /// Limit for sessions that seek for days: the oldest runs are dropped.
    private static let limit = 1024

    /// - Parameter standIn: the rendition that the piece really belongs to; nil for `rendition`.
    mutating func add(_ number: Int, of rendition: String, from source: PieceSource, standIn: String? = nil) {
        if let last = runs.last, last.rendition == rendition, last.source == source, last.substitute == standIn,
            last.last + 1 == number
        {
            runs[runs.count - 1].last = number
            return
        }
        if runs.count >= Self.limit { runs.removeFirst(Self.limit / 2) }
        runs.append(
            PieceRun(rendition: rendition, first: number, last: number, source: source, substitute: standIn))
    }
}
