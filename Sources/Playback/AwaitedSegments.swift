import EventLoop
import Fetching

/// The segments that a session's player waits for. Some players ask for a segment before they have the one before it (libavformat
/// does, on a second connection, and reads nothing there meanwhile): the later one yields.
@LoopActor struct AwaitedSegments {
    private struct Item {
        weak var fetch: Fetch?
        let number: Int
        let folder: ObjectIdentifier
    }

    private var items: [Item] = []

    /// Adds the fetch of a segment that the player has requested.
    mutating func add(_ fetch: Fetch, _ number: Int, in folder: PieceFolder) {
        let folder = ObjectIdentifier(folder)
        items.removeAll { item in item.fetch.map { $0.isComplete || $0.outcome != nil || $0 === fetch } ?? true }
        let earlier = items.filter { $0.folder == folder && $0.number < number }.max { $0.number < $1.number }
        if let first = earlier?.fetch { fetch.trail(behind: first) }
        items.append(Item(fetch: fetch, number: number, folder: folder))
    }
}
