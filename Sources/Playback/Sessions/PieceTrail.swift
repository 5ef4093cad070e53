import AccessLog

/// Where the segments came from that a session got: runs of segments of one rendition and one source, in the order in
/// which they came. Pure.
struct PieceTrail {
    private(set) var runs: [PieceRun] = []
    /// A session that hops about for days keeps the last of them.
    private static let limit = 1024

    /// - Parameter standIn: the rendition whose piece it was in truth; nil for its own.
    mutating func add(_ number: Int, of rendition: String, from source: PieceSource, standIn: String? = nil) {
        if let last = runs.last, last.rendition == rendition, last.source == source, last.standIn == standIn,
            last.last + 1 == number
        {
            runs[runs.count - 1].last = number
            return
        }
        if runs.count >= Self.limit { runs.removeFirst(Self.limit / 2) }
        runs.append(
            PieceRun(rendition: rendition, first: number, last: number, source: source, standIn: standIn))
    }
}
