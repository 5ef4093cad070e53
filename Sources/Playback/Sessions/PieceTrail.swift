/// Where the segments came from that a session got: runs of segments of one rendition and one source, in the order in
/// which they came. Pure.
struct PieceTrail {
    private(set) var runs: [PieceRun] = []
    /// A session that hops about for days keeps the last of them.
    private static let limit = 1024

    mutating func add(_ number: Int, of rendition: String, from source: PieceSource) {
        if let last = runs.last, last.rendition == rendition, last.source == source, last.last + 1 == number {
            runs[runs.count - 1].last = number
            return
        }
        if runs.count >= Self.limit { runs.removeFirst(Self.limit / 2) }
        runs.append(PieceRun(rendition: rendition, first: number, last: number, source: source))
    }
}

/// Some segments in sequence that came from one source.
public struct PieceRun: Codable, Equatable, Sendable {
    /// The rendition's id.
    public var rendition: String
    /// The first one's media sequence number.
    public var first: Int
    /// The last one's.
    public var last: Int
    /// Where they came from.
    public var source: PieceSource
}
