import EventLoop
import Fetching

/// The segments that a session's player waits for. libavformat asks for a segment before it has the one before it: it opens a
/// second connection, and reads nothing there meanwhile. It begins with two segments of each rendition. The later one of two
/// yields until the earlier one has arrived, which is shown first.
@LoopActor final class AwaitedSegments {
    private struct Item {
        weak var fetch: Fetch?
        let number: Int
        let folder: ObjectIdentifier
    }

    private var items: [Item] = []

    /// Adds the fetch of a segment that the player has requested.
    func add(_ fetch: Fetch, _ number: Int, in folder: PieceFolder) {
        let folder = ObjectIdentifier(folder)
        var earlier: (number: Int, fetch: Fetch)?
        var left: [Item] = []
        for item in items {
            guard let other = item.fetch, other !== fetch, !other.isComplete, other.outcome == nil else { continue }
            left.append(item)
            if item.folder == folder, item.number < number, item.number >= earlier?.number ?? item.number {
                earlier = (item.number, other)
            }
        }
        items = left + [Item(fetch: fetch, number: number, folder: folder)]
        if let earlier {
            fetch.hold(behind: earlier.fetch)
        }
    }
}
