import HTTPMessage

/// Hands out the places that each host has: at most so many requests at once to one (scheme, host, port).
///
/// Playback goes before background, and older transfers before younger ones, so that a retry does not lose its turn. Background
/// never takes the places in reserve: a player's miss finds one free in the midst of a download.
struct HostQueue {
    private struct Entry {
        let id: UInt64
        var priority: OriginRequest.Priority
        let host: WebURL.Origin
        let isCounted: Bool
    }

    private let places: Int
    private let reserve: Int
    private var waiting: [Entry] = []
    private var taken: [UInt64: WebURL.Origin] = [:]
    private var counts: [WebURL.Origin: Int] = [:]

    /// - Parameter reserve: places per host that only playback may take; background keeps one at least.
    init(places: Int, reserve: Int) {
        self.places = max(1, places)
        self.reserve = min(max(0, reserve), self.places - 1)
    }

    /// Wants a place for a transfer, which must have none. Identities grow with age.
    ///
    /// - Parameter isCounted: false for one that takes no place, and never waits for one.
    mutating func enqueue(
        _ id: UInt64, priority: OriginRequest.Priority, host: WebURL.Origin, isCounted: Bool = true
    ) {
        let entry = Entry(id: id, priority: priority, host: host, isCounted: isCounted)
        let index = waiting.firstIndex { $0.priority < priority || ($0.priority == priority && $0.id > id) }
        waiting.insert(entry, at: index ?? waiting.endIndex)
    }

    /// Gives a place back, or gives up waiting for one.
    mutating func release(_ id: UInt64) {
        if let host = taken.removeValue(forKey: id) {
            let left = (counts[host] ?? 1) - 1
            counts[host] = left > 0 ? left : nil
        } else {
            waiting.removeAll { $0.id == id }
        }
    }

    /// Moves a transfer that waits to where its new priority belongs.
    mutating func move(_ id: UInt64, to priority: OriginRequest.Priority) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        let entry = waiting.remove(at: index)
        enqueue(id, priority: priority, host: entry.host, isCounted: entry.isCounted)
    }

    /// The transfers that get a place now.
    mutating func grant() -> [UInt64] {
        var granted: [UInt64] = []
        waiting.removeAll { entry in
            guard entry.isCounted else {
                granted.append(entry.id)
                return true
            }
            let count = counts[entry.host] ?? 0
            guard count < (entry.priority == .playback ? places : places - reserve) else { return false }
            counts[entry.host] = count + 1
            taken[entry.id] = entry.host
            granted.append(entry.id)
            return true
        }
        return granted
    }
}
