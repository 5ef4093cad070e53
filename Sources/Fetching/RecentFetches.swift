import EventLoop

/// Keeps ended fetches that are not stored, for players that request the resource a little later.
///
/// Limited by age, because a live stream's players are some seconds apart at most; by number, because each holds a
/// descriptor; and by bytes, because each holds its file, which may be in memory.
@LoopActor final class RecentFetches {
    /// The limits of age, number and bytes.
    struct Limits {
        var age = Duration.seconds(60)
        var count = 128
        var bytes: Int64 = 128 << 20
    }

    private let limits: Limits
    private var fetches: [Loader.Key: Fetch] = [:]
    /// Oldest first.
    private var order: [(key: Loader.Key, ended: ContinuousClock.Instant)] = []
    private var bytes: Int64 = 0
    private var expiry: LoopTimer?

    init(_ limits: Limits = Limits()) {
        self.limits = limits
        expiry = LoopTimer { [weak self] in self?.expire() }
    }

    subscript(_ key: Loader.Key) -> Fetch? { fetches[key] }

    /// Inserts a fetch that has just ended, unless it is larger than the limit of bytes.
    func insert(_ fetch: Fetch, _ key: Loader.Key) {
        guard fetch.written <= limits.bytes else { return }
        remove { $0 == key }
        fetches[key] = fetch
        order.append((key, .now))
        bytes += fetch.written
        while order.count > limits.count || bytes > limits.bytes { removeOldest() }
        if order.count == 1 { expiry?.schedule(after: limits.age) }
    }

    /// Removes the fetches with matching keys.
    func remove(where isMeant: (Loader.Key) -> Bool) {
        guard !order.isEmpty else { return }
        for (key, _) in order where isMeant(key) { bytes -= fetches.removeValue(forKey: key)?.written ?? 0 }
        order.removeAll { fetches[$0.key] == nil }
    }

    private func removeOldest() { bytes -= fetches.removeValue(forKey: order.removeFirst().key)?.written ?? 0 }

    private func expire() {
        let limit = ContinuousClock.now - limits.age
        while let oldest = order.first, oldest.ended <= limit { removeOldest() }
        if let oldest = order.first { expiry?.schedule(after: oldest.ended - limit) }
    }
}
