import Testing

@testable import Retention

@Suite struct RecencyQueueTests {
    private var queue = RecencyQueue<String>()
    private var slots: [String: RecencyQueue<String>.Slot] = [:]

    private mutating func enter(_ names: String...) {
        for name in names {
            slots[name] = queue.append(name, size: Int64(name.utf8.count), lastUse: 0)
        }
    }

    private var order: String { queue.slots.compactMap { queue[$0] }.joined(separator: " ") }

    @Test mutating func theLeastRecentlyUsedIsTheFirst() throws {
        enter("a", "bb", "ccc")
        #expect(order == "a bb ccc" && queue.oldest == slots["a"] && queue.count == 3 && queue.size == 6)
        queue.use(try #require(slots["a"]), at: 7)
        let slot = try #require(slots["a"])
        #expect(order == "bb ccc a" && queue.lastUse(of: slot) == 7)
        queue.use(slot, at: 8)
        #expect(order == "bb ccc a")
        queue.use(try #require(slots["ccc"]), at: 9)
        #expect(order == "bb a ccc" && queue.size == 6)
    }

    @Test(arguments: [("a", "bb ccc"), ("bb", "a ccc"), ("ccc", "a bb")])
    mutating func removalLeavesTheOthersInOrder(_ name: String, _ rest: String) throws {
        enter("a", "bb", "ccc")
        let slot = try #require(slots[name])
        queue.remove(slot)
        #expect(order == rest && queue.count == 2 && queue.size == Int64(6 - name.utf8.count) && queue[slot] == nil)
        // The next element reuses the slot.
        enter("d")
        #expect(order == rest + " d" && slots["d"] == slot)
    }

    @Test mutating func isEmptyAfterTheLastRemovalAndReusable() {
        enter("a", "bb")
        for slot in slots.values {
            queue.remove(slot)
        }
        #expect(queue.oldest == nil && queue.count == 0 && queue.size == 0 && order.isEmpty)
        enter("c")
        #expect(order == "c")
    }

    @Test mutating func sortsByLastUseAndKeepsTheOrderOfEqualTimes() {
        for (name, time) in [("a", 5), ("b", 3), ("c", 5), ("d", 1), ("e", 3)] {
            slots[name] = queue.append(name, size: 1, lastUse: Int64(time))
        }
        queue.sort()
        #expect(order == "d b e a c" && queue.count == 5 && queue.size == 5)
        queue.rotate(slots["d"] ?? 0)
        #expect(order == "b e a c d" && queue.lastUse(of: slots["d"] ?? 0) == 1)
    }

    /// Another thread sorts, and the queue is used meanwhile.
    @Test mutating func whatChangesDuringASortStaysBehindTheSorted() throws {
        for (name, time) in [("a", 5), ("b", 3), ("c", 4), ("d", 1), ("e", 2)] {
            slots[name] = queue.append(name, size: 1, lastUse: Int64(time))
        }
        let uses = queue.sorted()
        queue.use(try #require(slots["e"]), at: 8)
        queue.remove(try #require(slots["b"]))
        slots["f"] = queue.append("f", size: 1, lastUse: 9)
        #expect(slots["f"] == slots["b"])
        for use in uses.reversed() {
            queue.lead(use)
        }
        #expect(order == "d c a e f" && queue.count == 5)
    }

    @Test mutating func sortsManyElements() {
        // More than one block, and not a multiple of any.
        let count: Int64 = 9001
        for number in 0..<count {
            _ = queue.append("", size: 1, lastUse: -number)
        }
        queue.sort()
        let times = queue.slots.map { queue.lastUse(of: $0) }
        #expect(times == Array(1 - count...0) && queue.size == count)
    }

    @Test mutating func behavesAsAPlainListUnderRandomOperations() {
        var random = SystemRandomNumberGenerator()
        var plain: [Int] = []
        var queue = RecencyQueue<Int>()
        var slots: [Int: RecencyQueue<Int>.Slot] = [:]
        for number in 0..<4000 {
            let chosen = plain.randomElement(using: &random)
            switch (Int.random(in: 0..<5, using: &random), chosen) {
            case (0, let chosen?):
                plain.removeAll { $0 == chosen }
                if let slot = slots.removeValue(forKey: chosen) {
                    queue.remove(slot)
                }
            case (1...2, let chosen?):
                plain.removeAll { $0 == chosen }
                plain.append(chosen)
                if let slot = slots[chosen] {
                    queue.use(slot, at: Int64(number))
                }
            default:
                plain.append(number)
                slots[number] = queue.append(number, size: 2, lastUse: Int64(number))
            }
            if number % 97 == 0 {
                #expect(queue.slots.compactMap { queue[$0] } == plain)
            }
        }
        #expect(queue.slots.compactMap { queue[$0] } == plain && queue.size == Int64(2 * plain.count))
    }
}
