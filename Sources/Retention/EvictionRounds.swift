/// Chooses the elements of a queue that are evicted above a limit: the least recently used first, except needed ones.
///
/// Pure, and done in parts, so that no turn of a loop takes long. A needed element is passed over and moves behind all
/// others. Each new element permits a limited number of looks, so that a queue with many needed elements is not walked
/// again and again; a whole round is made when something may have changed.
struct EvictionRounds {
    /// The bytes that may stay; nil for no limit.
    var limit: Int64?
    /// The number of elements that may still be looked at.
    private(set) var looks = 0

    /// The number of looks that each new element permits: the beginnings of many others, or the pieces around a
    /// session's playhead.
    static let looksEach = 64
    /// The most looks and evictions of one turn.
    static let turn = (looks: 256, evictions: 8)

    /// True if a queue is over the limit.
    func isOver<Element>(_ queue: RecencyQueue<Element>) -> Bool { limit.map { queue.size > $0 } ?? false }

    /// Permits the looks of one new element.
    mutating func noteArrival() { looks += Self.looksEach }

    /// Permits a look at every element.
    mutating func begin(_ count: Int) { looks = count }

    /// Takes the elements that are evicted now out of the queue.
    ///
    /// - Parameter isNeeded: true if an element must stay.
    /// - Returns: the evicted elements in order, with their sizes, and true if there is more to do at once.
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
