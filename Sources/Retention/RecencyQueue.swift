/// Elements in the order of their last use, each with its size. The least recently used is the first to be evicted.
///
/// Pure. A linked list whose links are indices into an array: inserting, using and removing an element takes constant
/// time and moves nothing in memory. The overhead is 32 bytes per element.
struct RecencyQueue<Element> {
    /// Identifies an element while it is in the queue. Later the slot may be reused.
    typealias Slot = Int32

    private struct Node {
        var element: Element?
        var size: Int64
        /// Time of the last use, in seconds since 1970.
        var lastUse: Int64
        /// The slots of the neighbours in the order of use.
        var older: Slot
        var newer: Slot
    }

    private var nodes: [Node] = []
    private var free: [Slot] = []
    private var newest = Self.none
    /// The slot of the least recently used element; nil if the queue is empty.
    var oldest: Slot? { first == Self.none ? nil : first }
    private var first = Self.none
    /// Number of elements.
    private(set) var count = 0
    /// Sum of the sizes.
    private(set) var size: Int64 = 0

    private static var none: Slot { -1 }

    // MARK: Elements

    /// The element in a slot.
    subscript(_ slot: Slot) -> Element? { nodes[Int(slot)].element }

    /// The size of the element in a slot.
    func size(of slot: Slot) -> Int64 { nodes[Int(slot)].size }

    /// The time of the element's last use, in seconds since 1970.
    func lastUse(of slot: Slot) -> Int64 { nodes[Int(slot)].lastUse }

    /// All slots, the least recently used first. Takes linear time.
    var slots: [Slot] {
        var slots: [Slot] = []
        var slot = first
        while slot != Self.none {
            slots.append(slot)
            slot = nodes[Int(slot)].newer
        }
        return slots
    }

    /// Adds an element as the most recently used.
    mutating func append(_ element: Element, size: Int64, lastUse: Int64) -> Slot {
        let node = Node(element: element, size: size, lastUse: lastUse, older: Self.none, newer: Self.none)
        let slot: Slot
        if let place = free.popLast() {
            slot = place
            nodes[Int(place)] = node
        } else {
            slot = Slot(nodes.count)
            nodes.append(node)
        }
        link(slot)
        count += 1
        self.size += size
        return slot
    }

    /// Makes an element the most recently used.
    mutating func use(_ slot: Slot, at lastUse: Int64) {
        nodes[Int(slot)].lastUse = lastUse
        rotate(slot)
    }

    /// Moves an element to the end without changing its time of last use, so that it is looked at after all others.
    mutating func rotate(_ slot: Slot) {
        guard newest != slot else { return }
        unlink(slot)
        link(slot)
    }

    /// Removes an element.
    mutating func remove(_ slot: Slot) {
        unlink(slot)
        nodes[Int(slot)].element = nil
        size -= nodes[Int(slot)].size
        count -= 1
        free.append(slot)
    }

    /// Sorts all elements by the time of last use. The sort is stable.
    mutating func sort() {
        // A separate array, so that comparisons touch no other memory.
        var order = slots.enumerated().map { (time: lastUse(of: $1), place: $0, slot: $1) }
        order.sort { ($0.time, $0.place) < ($1.time, $1.place) }
        (first, newest) = (Self.none, Self.none)
        for entry in order { link(entry.slot) }
    }

    // MARK: Links

    private mutating func link(_ slot: Slot) {
        (nodes[Int(slot)].older, nodes[Int(slot)].newer) = (newest, Self.none)
        if newest == Self.none { first = slot } else { nodes[Int(newest)].newer = slot }
        newest = slot
    }

    private mutating func unlink(_ slot: Slot) {
        let (older, newer) = (nodes[Int(slot)].older, nodes[Int(slot)].newer)
        if older == Self.none { first = newer } else { nodes[Int(older)].newer = newer }
        if newer == Self.none { newest = older } else { nodes[Int(newer)].older = older }
    }
}
