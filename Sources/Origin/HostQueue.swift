import HTTPMessage

/// Hands out the places that each host has: at most so many requests at once to one (scheme, host, port).
///
/// Playback goes before background, and older transfers before younger ones, so that a retry does not lose its turn.
/// Background takes every place while nobody plays: where the way is long, each of them is a share of what it carries.
/// Playback that finds none left displaces the youngest of the background, once: from then on, until playback has been
/// quiet for a while, places stay in reserve for it.
struct HostQueue {
    private struct Entry {
        let id: UInt64
        var priority: OriginRequest.Priority
        let host: WebURL.Origin
        let isCounted: Bool
    }

    /// How long places stay in reserve after a transfer of playback. Players with full buffers ask once in a segment's
    /// time.
    static let reserveLife = Duration.seconds(60)

    private let places: Int
    private let reserve: Int
    /// The most places of one host that background may have for now; nil for no such bound.
    var backgroundPlaces: Int?
    private var waiting: [Entry] = []
    private var taken: [UInt64: Entry] = [:]
    private var counts: [WebURL.Origin: Int] = [:]
    /// Those that pause, whose places others may have.
    private var lent: Set<UInt64> = []
    /// The hosts that have places in reserve, and until when.
    private var reserved: [WebURL.Origin: ContinuousClock.Instant] = [:]

    /// - Parameter reserve: places per host that playback may take from the background, which keeps one at least.
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
        if let entry = taken.removeValue(forKey: id) {
            if lent.remove(id) == nil { count(entry.host, -1) }
        } else {
            waiting.removeAll { $0.id == id }
        }
    }

    /// Lets others have the place of a transfer that pauses, or takes it back: one too many may have it then, for a
    /// while.
    ///
    /// - Returns: whether that changes anything.
    mutating func lend(_ id: UInt64, _ isLent: Bool) -> Bool {
        guard let host = taken[id]?.host, isLent != lent.contains(id) else { return false }
        if isLent { lent.insert(id) } else { lent.remove(id) }
        count(host, isLent ? -1 : 1)
        return true
    }

    private mutating func count(_ host: WebURL.Origin, _ change: Int) {
        let left = (counts[host] ?? 0) + change
        counts[host] = left > 0 ? left : nil
    }

    /// Gives a transfer another priority: one that waits goes to where it belongs then, one that has a place keeps it.
    mutating func move(_ id: UInt64, to priority: OriginRequest.Priority) {
        taken[id]?.priority = priority
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        let entry = waiting.remove(at: index)
        enqueue(id, priority: priority, host: entry.host, isCounted: entry.isCounted)
    }

    /// Takes places from background where playback waits for one in vain.
    ///
    /// - Returns: who has lost its place. It is to leave the wire, and may wait for the next place.
    mutating func displace(now: ContinuousClock.Instant) -> [UInt64] {
        guard reserve > 0 else { return [] }
        var displaced: [UInt64] = []
        for entry in waiting where entry.priority == .playback && entry.isCounted {
            if isReserved(entry.host, now: now) { keepReserve(at: entry.host, now: now) }
            guard counts[entry.host] ?? 0 >= places else { continue }
            let others = taken.values.filter {
                $0.host == entry.host && $0.priority == .background && !lent.contains($0.id)
            }
            guard others.count > places - reserve, let youngest = others.map(\.id).max() else { continue }
            keepReserve(at: entry.host, now: now)
            release(youngest)
            displaced.append(youngest)
        }
        return displaced
    }

    /// The transfers that get a place now.
    mutating func grant(now: ContinuousClock.Instant) -> [UInt64] {
        var left: [Entry] = []
        var granted: [UInt64] = []
        for entry in waiting {
            if entry.isCounted {
                guard hasPlace(for: entry, now: now) else {
                    left.append(entry)
                    continue
                }
                counts[entry.host, default: 0] += 1
                taken[entry.id] = entry
            }
            granted.append(entry.id)
        }
        if !granted.isEmpty { waiting = left }
        return granted
    }

    private func hasPlace(for entry: Entry, now: ContinuousClock.Instant) -> Bool {
        let count = counts[entry.host] ?? 0
        guard entry.priority == .background else { return count < places }
        let kept = isReserved(entry.host, now: now) ? reserve : 0
        return count < min(places - kept, backgroundPlaces ?? places)
    }

    private func isReserved(_ host: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        reserved[host].map { now < $0 } ?? false
    }

    private mutating func keepReserve(at host: WebURL.Origin, now: ContinuousClock.Instant) {
        reserved = reserved.filter { now < $0.value }
        reserved[host] = now + Self.reserveLife
    }
}
