/// Elements in the order of their last use, each with its size. Pure.
///
/// A linked list whose links are indices into an array of blocks: inserting, using and removing an element takes constant time
/// and moves nothing in memory; an array that grows to a million elements would be moved as a whole. The overhead is 32 bytes per
/// element.
struct RecencyQueue<Element: Sendable>: Sendable {
    /// Identifies an element while it is in the queue. Later the slot may be reused.
    typealias Slot = Int32

    private struct Node: Sendable {
        var element: Element?
        var size: Int64
        /// Time of the last use, in seconds since 1970.
        var lastUse: Int64
        var older: Slot
        var newer: Slot
    }

    /// The nodes by their slots, in blocks of one size: the last one alone may have room.
    private struct Nodes: Sendable {
        private var blocks: [[Node]] = []
        private static var blockSize: Int { 4096 }

        subscript(slot: Slot) -> Node {
            get { blocks[Int(slot) / Self.blockSize][Int(slot) % Self.blockSize] }
            _modify { yield &blocks[Int(slot) / Self.blockSize][Int(slot) % Self.blockSize] }
        }

        mutating func append(_ node: Node) -> Slot {
            if blocks.last?.count ?? Self.blockSize == Self.blockSize {
                var block: [Node] = []
                block.reserveCapacity(Self.blockSize)
                blocks.append(block)
            }
            let last = blocks.count - 1
            blocks[last].append(node)
            return Slot(last * Self.blockSize + blocks[last].count - 1)
        }
    }

    private var nodes = Nodes()
    private var free: [Slot] = []
    private var newest = Self.none
    var oldest: Slot? {
        guard first != Self.none else { return nil }
        return first
    }
    private var first = Self.none
    private(set) var count = 0
    private(set) var size: Int64 = 0

    private static var none: Slot { -1 }

    // MARK: Elements

    subscript(_ slot: Slot) -> Element? { nodes[slot].element }

    func size(of slot: Slot) -> Int64 { nodes[slot].size }

    /// Sets what an element counts for.
    mutating func setSize(_ size: Int64, of slot: Slot) {
        self.size += size - nodes[slot].size
        nodes[slot].size = size
    }

    /// In seconds since 1970.
    func lastUse(of slot: Slot) -> Int64 { nodes[slot].lastUse }

    var slots: [Slot] {
        var slots: [Slot] = []
        var slot = first
        while slot != Self.none {
            slots.append(slot)
            slot = nodes[slot].newer
        }
        return slots
    }

    mutating func append(_ element: Element, size: Int64, lastUse: Int64) -> Slot {
        let node = Node(element: element, size: size, lastUse: lastUse, older: Self.none, newer: Self.none)
        let slot: Slot
        if let unused = free.popLast() {
            slot = unused
            nodes[unused] = node
        } else {
            slot = nodes.append(node)
        }
        link(slot)
        count += 1
        self.size += size
        return slot
    }

    mutating func use(_ slot: Slot, at lastUse: Int64) {
        nodes[slot].lastUse = lastUse
        rotate(slot)
    }

    /// Moves an element to the end but keeps its time of last use, so that it is looked at after all others.
    mutating func rotate(_ slot: Slot) {
        guard newest != slot else { return }
        unlink(slot)
        link(slot)
    }

    mutating func remove(_ slot: Slot) {
        unlink(slot)
        nodes[slot].element = nil
        size -= nodes[slot].size
        count -= 1
        free.append(slot)
    }

    // MARK: Order

    /// The last use of an element.
    struct Use: Sendable {
        let slot: Slot
        let lastUse: Int64
    }

    /// The elements, stably sorted by the time of last use, oldest first.
    func sorted() -> [Use] {
        var order = slots.enumerated().map { (index: $0, use: Use(slot: $1, lastUse: lastUse(of: $1))) }
        order.sort { ($0.use.lastUse, $0.index) < ($1.use.lastUse, $1.index) }
        return order.map(\.use)
    }

    /// Makes an element the oldest one, if it was not used and not replaced since `sorted`. With all of them, newest first, the queue is
    /// sorted; what was used or added meanwhile stays behind them.
    mutating func lead(_ use: Use) {
        let isPresent = self[use.slot] != nil
        guard isPresent, lastUse(of: use.slot) == use.lastUse, first != use.slot else { return }
        unlink(use.slot)
        linkFirst(use.slot)
    }

    /// Sorts stably by the time of last use.
    mutating func sort() {
        for use in sorted().reversed() {
            lead(use)
        }
    }

    // MARK: Links

    private mutating func link(_ slot: Slot) {
        nodes[slot].older = newest
        nodes[slot].newer = Self.none
        if newest == Self.none {
            first = slot
        } else {
            nodes[newest].newer = slot
        }
        newest = slot
    }

    private mutating func linkFirst(_ slot: Slot) {
        nodes[slot].older = Self.none
        nodes[slot].newer = first
        if first == Self.none {
            newest = slot
        } else {
            nodes[first].older = slot
        }
        first = slot
    }

    private mutating func unlink(_ slot: Slot) {
        let older = nodes[slot].older
        let newer = nodes[slot].newer
        if older == Self.none {
            first = newer
        } else {
            nodes[older].newer = newer
        }
        if newer == Self.none {
            newest = older
        } else {
            nodes[newer].older = older
        }
    }
}

/// Chooses the elements of a queue to evict above a limit: the least recently used first, except needed ones. Pure.
///
/// Works in small turns, so that no turn of the loop takes long. A needed element moves to the end. Each new element
/// permits a limited number of looks, so that a queue with many needed elements is not searched again and again.
struct EvictionRounds {
    /// An element that was removed from the queue, and the slot that it had.
    struct Evicted<Element: Sendable> {
        let element: Element
        let size: Int64
        let slot: RecencyQueue<Element>.Slot
    }

    /// Maximum size in bytes; nil for no limit.
    var limit: Int64?
    private(set) var looks = 0

    /// More than the needed beginnings of many assets, or the needed pieces around a session's playhead.
    static let looksEach = 64
    /// Maximum number of looks and evictions in one turn.
    static let turn = (looks: 256, evictions: 8)

    func isOver<Element: Sendable>(_ queue: RecencyQueue<Element>) -> Bool {
        guard let limit else { return false }
        return queue.size > limit
    }

    mutating func permitLooks() { looks += Self.looksEach }

    mutating func begin(_ count: Int) { looks = count }

    /// Removes the elements to evict now, in order. `hasMore` is true if the next turn should follow at once.
    mutating func turn<Element: Sendable>(
        over queue: inout RecencyQueue<Element>, isNeeded: (Element) -> Bool
    ) -> (evicted: [Evicted<Element>], hasMore: Bool) {
        var evicted: [Evicted<Element>] = []
        looks = min(looks, queue.count)
        var left = Self.turn.looks
        while isOver(queue), looks > 0, left > 0, evicted.count < Self.turn.evictions, let slot = queue.oldest {
            looks = looks - 1
            left = left - 1
            guard let element = queue[slot] else { break }
            if isNeeded(element) {
                queue.rotate(slot)
            } else {
                evicted.append(Evicted(element: element, size: queue.size(of: slot), slot: slot))
                queue.remove(slot)
            }
        }
        if !isOver(queue) {
            looks = 0
        }
        return (evicted, looks > 0)
    }
}
