/// Chooses the elements of a queue to evict above a limit: the least recently used first, except needed ones.
///
/// Pure. Works in small turns, so that no turn of the loop takes long. A needed element is skipped and moves to the
/// end. Each new element permits a limited number of looks, so that a queue with many needed elements is not searched
/// again and again. A full round runs when many elements may have become evictable.
struct EvictionRounds {
    /// Maximum size in bytes; nil for no limit.
    var limit: Int64?
    /// Number of elements that may still be looked at.
    private(set) var looks = 0

    /// Number of looks that each new element permits. It exceeds the needed beginnings of many assets, or the needed
    /// pieces around a session's playhead.
    static let looksEach = 64
    /// Maximum number of looks and evictions in one turn.
    static let turn = (looks: 256, evictions: 8)

    /// True if the queue exceeds the limit.
    func isOver<Element>(_ queue: RecencyQueue<Element>) -> Bool { limit.map { queue.size > $0 } ?? false }

    /// Permits the looks for one new element.
    mutating func noteArrival() { looks += Self.looksEach }

    /// Permits a look at every element; `count` is their number.
    mutating func begin(_ count: Int) { looks = count }

    /// Removes the elements to evict now from the queue.
    ///
    /// - Parameter isNeeded: returns true if an element must stay.
    /// - Returns: the evicted elements in order, with their sizes, and true if the next turn should follow at once.
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
