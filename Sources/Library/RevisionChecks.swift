import EventLoop
import Fetching
import HTTPMessage

/// When the stored content of assets was last compared with the origin's, in this process.
@LoopActor final class RevisionChecks {
    /// The validators of the segment that was compared, for a conditional request.
    struct Mark {
        let folder: String
        let file: String
        /// `If-None-Match` or `If-Modified-Since`, with the origin's value.
        let condition: FieldLine

        /// Takes the validators of a reply; nil if it has none. A weak entity tag is good enough: it stands for media
        /// that plays the same.
        init?(folder: String, file: String, tag: String?, modified: String?) {
            let text = tag.map { "If-None-Match: \($0)" } ?? modified.map { "If-Modified-Since: \($0)" }
            guard let condition = text.flatMap({ FieldLine($0.utf8) }) else { return nil }
            (self.folder, self.file, self.condition) = (folder, file, condition)
        }
    }

    private var times: [String: ContinuousClock.Instant] = [:]
    /// The times of requests; an asset without pieces is not compared.
    private var requests: [String: ContinuousClock.Instant] = [:]
    private var marks: [String: Mark] = [:]
    private var uncompared: [String: UncomparedPieces] = [:]
    let running = SharedTasks<ObjectIdentifier, Bool>()

    /// The time between two comparisons of an asset into which something is fetched.
    private static let interval = Duration.seconds(60)
    /// The time at the start of a download or a session: players open a playlist several times.
    private static let startInterval = Duration.seconds(2)
    /// A download that has taken longer since the last comparison is compared once more at its end.
    private static let endInterval = Duration.seconds(10)

    /// - Parameter isStart: true at the start of a download or a session, which the user begins.
    func isDue(_ asset: Asset, isStart: Bool = false, at now: ContinuousClock.Instant = .now) -> Bool {
        if isStart { return requests[asset.id].map { now - $0 >= Self.startInterval } ?? true }
        return times[asset.id].map { now - $0 >= Self.interval } ?? true
    }

    /// True if pieces were stored for so long that the content may have changed meanwhile.
    func isDueAtEnd(_ asset: Asset, at now: ContinuousClock.Instant = .now) -> Bool {
        let pieces = pieces(of: asset)
        guard !pieces.pieces.isEmpty else { return false }
        return pieces.isHinted || times[asset.id].map { now - $0 >= Self.endInterval } ?? true
    }

    func pieces(of asset: Asset) -> UncomparedPieces { uncompared[asset.id] ?? UncomparedPieces() }

    /// Records a stored piece. Returns true if the origin's times show that its content may be another now.
    func record(_ piece: UncomparedPieces.Piece, _ times: Fetch.OriginTimes?, of asset: Asset) -> Bool {
        uncompared[asset.id, default: UncomparedPieces()].record(piece, times)
    }

    /// Adds the last pieces of an earlier process.
    func restore(_ pieces: [UncomparedPieces.Piece], of asset: Asset) {
        uncompared[asset.id, default: UncomparedPieces()].restore(pieces)
    }

    /// Records that the content was the same when so many of the pieces had been stored.
    func recordSame(_ asset: Asset, first count: Int, at time: HTTPDate?) {
        uncompared[asset.id, default: UncomparedPieces()].recordSame(first: count, at: time)
    }

    func forgetPieces(of asset: Asset) { uncompared[asset.id] = nil }
    func settleHint(of asset: Asset) { uncompared[asset.id]?.settle() }

    func recordCheck(of asset: Asset, at now: ContinuousClock.Instant = .now) { times[asset.id] = now }

    func recordRequest(for asset: Asset, at now: ContinuousClock.Instant = .now) { requests[asset.id] = now }

    func mark(of asset: Asset) -> Mark? { marks[asset.id] }
    func record(_ mark: Mark?, of asset: Asset) { marks[asset.id] = mark }

    func forget(_ asset: Asset) {
        (times[asset.id], requests[asset.id], marks[asset.id], uncompared[asset.id]) = (nil, nil, nil, nil)
    }

    /// Makes all comparisons due: the network may be another one.
    func reset() { (times, requests) = ([:], [:]) }
}
