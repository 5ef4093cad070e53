/// Which elements of a queue make way for a limit: the longest unused first, but for those that are needed.
///
/// Pure, and done in parts, so that no turn of a loop takes long. What is needed is passed over, and stands behind all
/// others then. So that a queue of which much is needed is not gone through again and again for every element that
/// comes, each of them brings leave to look at so many only; a whole round is made when something may have changed.
struct EvictionRounds {
    /// The bytes that may stay; nil for any number.
    var limit: Int64?
    /// How many elements may still be looked at.
    private(set) var looks = 0

    /// So many may be looked at for each that comes: the beginnings of many others, or what a session has around its
    /// playhead.
    static let looksEach = 64
    /// So much is done in one turn.
    static let turn = (looks: 256, evictions: 8)

    /// Whether a queue is over the limit.
    func isOver<Element>(_ queue: RecencyQueue<Element>) -> Bool { limit.map { queue.size > $0 } ?? false }

    /// Something came.
    mutating func noteArrival() { looks += Self.looksEach }

    /// All may be looked at once more.
    mutating func begin(_ count: Int) { looks = count }

    /// Takes what makes way now out of the queue.
    ///
    /// - Parameter isNeeded: whether an element must stay.
    /// - Returns: what makes way, in this order, with its size, and whether there is more to do at once.
    mutating func turn<Element>(
        over queue: inout RecencyQueue<Element>, isNeeded: (Element) -> Bool
    ) -> (evicted: [(element: Element, size: Int64)], hasMore: Bool) {
        var evicted: [(element: Element, size: Int64)] = []
        looks = min(looks, queue.count)
        var left = Self.turn.looks
        while isOver(queue), looks > 0, left > 0, evicted.count < Self.turn.evictions, let slot = queue.oldest {
            (looks, left) = (looks - 1, left - 1)
            guard let element = queue[slot] else { break }
            if isNeeded(element) {
                queue.rotate(slot)
            } else {
                evicted.append((element, queue.size(of: slot)))
                queue.remove(slot)
            }
        }
        if !isOver(queue) { looks = 0 }
        return (evicted, looks > 0)
    }
}
