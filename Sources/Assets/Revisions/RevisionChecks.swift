import EventLoop
import Fetching
import HTTPMessage
import Store

/// When the stored content of assets was last compared with the origin's, in this process.
@LoopActor final class RevisionChecks {
    private var times: [String: ContinuousClock.Instant] = [:]
    /// The ends of comparisons at the start of a download or a session.
    private var starts: [String: ContinuousClock.Instant] = [:]
    /// The assets whose origin sent a whole segment when it was asked for its beginning.
    private var costly: Set<String> = []
    private var uncompared: [String: UncomparedPieces] = [:]
    let running = SharedTasks<ObjectIdentifier, Bool>()
    /// The searches for pieces of new content, after a change was proven.
    let searches = SharedTasks<ObjectIdentifier, Void>()
    /// The loading of entry playlists of new revisions.
    let creations = SharedTasks<ObjectIdentifier, Result<Asset, LibraryError>>()
    /// The removals of abandoned revisions, by the assets that they revise.
    let removals = SharedTasks<ObjectIdentifier, Void>()

    /// The time between two comparisons of an asset into which something is fetched.
    private static let interval = Duration.seconds(60)
    /// The time at the start of a download or a session: players open a playlist several times.
    private static let startInterval = Duration.seconds(2)

    /// - Parameter isStart: true at the start of a download or a session, which the user begins.
    func isDue(_ asset: Asset, isStart: Bool = false, at now: ContinuousClock.Instant) -> Bool {
        if isStart {
            guard let latest = starts[asset.id] else { return true }
            return now - latest >= Self.startInterval
        }
        // Much of the segment is under way before the origin hears that a few bytes are enough: not once a minute.
        if costly.contains(asset.id) {
            return false
        }
        guard let time = times[asset.id] else { return true }
        return now - time >= Self.interval
    }

    /// True if no comparison of the asset was tried in this process.
    func isFirst(of asset: Asset) -> Bool { times[asset.id] == nil }

    /// True if pieces were stored since the last comparison, so that the content may have changed between them.
    func hasUncompared(_ asset: Asset) -> Bool { !(uncompared[asset.id]?.isEmpty ?? true) }

    func pieces(of asset: Asset) -> UncomparedPieces { uncompared[asset.id] ?? UncomparedPieces() }

    /// Records a stored piece, with what the reply that brought it says. Returns true if that gives reason to compare.
    func record(
        _ piece: UncomparedPieces.Piece, _ times: Fetch.OriginTimes?, version: UncomparedPieces.FileVersion?,
        file: WebURL, tag: EntityTag?, of asset: Asset
    ) -> Bool {
        uncompared[asset.id, default: UncomparedPieces()].record(piece, times, version: version, of: file, tag: tag)
    }

    /// Takes a reply whose body is arriving. Returns true if it shows that the content may be another now.
    func notice(
        _ times: Fetch.OriginTimes?, version: UncomparedPieces.FileVersion?, ofFile file: WebURL, of asset: Asset
    ) -> Bool {
        uncompared[asset.id, default: UncomparedPieces()].notice(times, version, of: file)
    }

    /// True if a stored piece must not be sent before a comparison or a search has ended.
    func isSuspect(_ piece: UncomparedPieces.Piece, of asset: Asset) -> Bool {
        guard let pieces = uncompared[asset.id] else { return false }
        guard !asset.hasOtherSegments else { return pieces.contains(piece.file, of: piece.folder) }
        return pieces.isSuspect(piece)
    }

    /// Adds the last pieces of an earlier process.
    func restore(_ earlier: UncomparedPieces, of asset: Asset) {
        uncompared[asset.id, default: UncomparedPieces()].restore(earlier)
    }

    /// Records that the content of some folders was the same when the pieces before a number had been stored.
    func recordSame(_ asset: Asset, in folders: Set<String>, before number: Int, at time: HTTPDate?) {
        let former = pieces(of: asset)
        uncompared[asset.id, default: UncomparedPieces()].recordSame(in: folders, before: number, at: time)
        releaseElsewhere(consume former)
    }

    func forgetPieces(of asset: Asset) {
        let former = pieces(of: asset)
        uncompared[asset.id, default: UncomparedPieces()].clear()
        releaseElsewhere(consume former)
    }

    func settleHint(of asset: Asset) { uncompared[asset.id]?.settle() }

    func recordCheck(of asset: Asset, at now: ContinuousClock.Instant) { times[asset.id] = now }

    func recordStart(of asset: Asset, at now: ContinuousClock.Instant) { starts[asset.id] = now }

    /// Records the strong entity tag with which the origin sends a stored piece now.
    func record(_ tag: EntityTag?, of piece: UncomparedPieces.Piece, of asset: Asset) {
        uncompared[asset.id, default: UncomparedPieces()].record(tag, of: piece)
    }

    /// Records the cost of a comparison: true if the origin sent a whole segment in place of its beginning.
    func recordCost(of asset: Asset, isHigh: Bool) {
        if isHigh {
            costly.insert(asset.id)
        } else {
            costly.remove(asset.id)
        }
    }

    func forget(_ asset: Asset) {
        times[asset.id] = nil
        starts[asset.id] = nil
        costly.remove(asset.id)
        uncompared[asset.id] = nil
    }

    /// Makes all comparisons due: the network may be another one.
    func reset() {
        times = [:]
        starts = [:]
        costly = []
    }
}
