import HTTPMessage

/// Limits concurrent requests per (scheme, host, port) and schedules waiting transfers. Playback precedes background,
/// and older transfers precede younger ones, so that a retry does not lose its turn. Background may use every slot
/// while nothing plays: on a long path each connection adds throughput. Playback that finds no free slot displaces the
/// youngest background transfer once; then slots stay reserved until playback has been idle for `reserveLife`.
///
/// An origin with HTTP/2 has more slots, which are streams of one connection. Each stream has the same share of it, so
/// background keeps only as many as it would have connections while slots are reserved.
struct HostQueue {
    private struct Entry {
        let id: UInt64
        var priority: OriginRequest.Priority
        let host: WebURL.Origin
        let isCounted: Bool
    }

    /// How long slots stay reserved after playback. Players with full buffers send one request per segment duration.
    static let reserveLife = Duration.seconds(60)
    private let slots: Int
    private let reserve: Int
    /// The slots of an origin with HTTP/2.
    let streams: Int
    /// Most slots of one host for background at the moment; nil for no such limit.
    var backgroundSlots: Int?
    private var waiting: [Entry] = []
    private var active: [UInt64: Entry] = [:]
    private var counts: [WebURL.Origin: Int] = [:]
    /// Paused transfers whose slots others may use.
    private var lentSlots: Set<UInt64> = []
    /// Hosts with reserved slots, and the end of the reservation.
    private var reserved: [WebURL.Origin: ContinuousClock.Instant] = [:]

    /// Playback may take `reserve` slots per host from background, which keeps at least one.
    init(slots: Int, reserve: Int, streams: Int? = nil) {
        self.slots = max(1, slots)
        self.streams = max(self.slots, streams ?? 0)
        self.reserve = min(max(0, reserve), self.slots - 1)
    }

    /// Enqueues a transfer that has no slot. Ids increase with time. One that is not counted needs no slot.
    mutating func enqueue(_ id: UInt64, priority: OriginRequest.Priority, host: WebURL.Origin, isCounted: Bool = true) {
        let entry = Entry(id: id, priority: priority, host: host, isCounted: isCounted)
        let index = waiting.firstIndex { $0.priority < priority || ($0.priority == priority && $0.id > id) }
        waiting.insert(entry, at: index ?? waiting.endIndex)
    }

    mutating func release(_ id: UInt64) {
        if let entry = active.removeValue(forKey: id) {
            if lentSlots.remove(id) == nil {
                count(entry.host, -1)
            }
        } else {
            waiting.removeAll { $0.id == id }
        }
    }

    /// Lends or reclaims a paused transfer's slot; true if changed. The host may exceed its limit by one for a while.
    mutating func lendSlot(_ id: UInt64, _ isLent: Bool) -> Bool {
        guard let host = active[id]?.host, isLent != lentSlots.contains(id) else { return false }
        if isLent {
            lentSlots.insert(id)
            count(host, -1)
        } else {
            lentSlots.remove(id)
            count(host, 1)
        }
        return true
    }

    private mutating func count(_ host: WebURL.Origin, _ change: Int) {
        let left = (counts[host] ?? 0) + change
        if left > 0 {
            counts[host] = left
        } else {
            counts[host] = nil
        }
    }

    /// Changes a transfer's priority. A waiting transfer moves in the queue; one with a slot keeps it.
    mutating func move(_ id: UInt64, to priority: OriginRequest.Priority) {
        active[id]?.priority = priority
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        let entry = waiting.remove(at: index)
        enqueue(id, priority: priority, host: entry.host, isCounted: entry.isCounted)
    }

    /// Displaces background transfers for waiting playback. Those returned must stop, and may be enqueued again.
    /// - Parameters:
    ///   - isMultiplexed: true for an origin with HTTP/2.
    ///   - mayStop: false for a transfer that would lose too much.
    mutating func displace(
        now: ContinuousClock.Instant, isMultiplexed: (WebURL.Origin) -> Bool = { _ in false },
        mayStop: (UInt64) -> Bool = { _ in true }
    ) -> [UInt64] {
        guard reserve > 0 else { return [] }
        var displaced: [UInt64] = []

        for entry in waiting where entry.priority == .playback && entry.isCounted {
            if isReserved(entry.host, now: now) {
                keepReserve(at: entry.host, now: now)
            }
            guard counts[entry.host] ?? 0 >= slots else { continue }
            let others = active.values.filter {
                $0.host == entry.host && $0.priority == .background && !lentSlots.contains($0.id)
            }
            guard others.count > slots - reserve else { continue }
            keepReserve(at: entry.host, now: now)

            // One connection is enough for the player's request, but each stream takes its share of the only one.
            var count = 1
            if isMultiplexed(entry.host) {
                count = others.count - (slots - reserve)
            }

            let youngest = others.map(\.id).filter(mayStop).sorted().suffix(count)
            youngest.forEach { release($0) }
            displaced += youngest
        }
        return displaced
    }

    mutating func grant(
        now: ContinuousClock.Instant, isMultiplexed: (WebURL.Origin) -> Bool = { _ in false }
    ) -> [UInt64] {
        var left: [Entry] = []
        var granted: [UInt64] = []
        for entry in waiting {
            if entry.isCounted {
                let all = isMultiplexed(entry.host) ? streams : slots
                guard hasSlot(for: entry, among: all, now: now) else {
                    left.append(entry)
                    continue
                }
                counts[entry.host, default: 0] += 1
                active[entry.id] = entry
            }
            granted.append(entry.id)
        }
        if !granted.isEmpty {
            waiting = left
        }
        return granted
    }

    private func hasSlot(for entry: Entry, among all: Int, now: ContinuousClock.Instant) -> Bool {
        let count = counts[entry.host] ?? 0
        guard entry.priority == .background else { return count < all }
        let most = isReserved(entry.host, now: now) ? slots - reserve : all
        return count < min(most, backgroundSlots ?? most)
    }

    private func isReserved(_ host: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        guard let end = reserved[host] else { return false }
        return now < end
    }

    private mutating func keepReserve(at host: WebURL.Origin, now: ContinuousClock.Instant) {
        reserved = reserved.filter { now < $0.value }
        reserved[host] = now + Self.reserveLife
    }
}
