/// The requests of a download that are under way, and the number that may be. Pure.
///
/// Keys and initialization sections are small, so they do not count. One request more may begin near the end of each: the link has
/// nothing to carry while the next one is on its way, and requests that began together end together.
///
/// A class, because a value would be copied for each question that a piece asks.
final class DownloadRequests {
    private var parallel: ParallelRequests
    /// The fetches of each request that lack bytes.
    private var fetches: [Int: Int] = [:]
    /// The requests for keys and initialization sections.
    private var small: Set<Int> = []
    private var last = 0
    /// The shortest time from a request to its first byte.
    private var latency: Duration?
    /// The latest request for a segment that has ended since the last measurement.
    private var latest: ParallelRequests.Request?
    private static let farLatency = Duration.milliseconds(50)

    init(at now: ContinuousClock.Instant) { parallel = ParallelRequests(at: now) }

    // MARK: Requests

    /// Forgets what was measured.
    func restart(at now: ContinuousClock.Instant) { parallel = ParallelRequests(at: now) }

    /// Begins a request, and returns its number. It counts once it has fetches.
    func begin(isSmall: Bool) -> Int {
        last += 1
        if isSmall {
            small.insert(last)
        }
        return last
    }

    /// Records that a request brings one more resource.
    func addFetch(to request: Int) { fetches[request, default: 0] += 1 }

    /// Records that one of its resources has arrived, or is not wanted any more.
    func endFetch(of request: Int) {
        let count = (fetches[request] ?? 1) - 1
        guard count > 0 else {
            fetches[request] = nil
            small.remove(request)
            return
        }
        fetches[request] = count
    }

    func removeAll() {
        fetches = [:]
        small = []
    }

    // MARK: Measurement

    /// True if the next first byte says how far the origin is.
    var measuresLatency: Bool { parallel.width == 1 }

    func recordFirstByte(after time: Duration) { latency = min(latency ?? time, time) }

    /// Records that a request for one segment has ended.
    /// - Parameters:
    ///   - wait: the time to its first byte; nil if it was not measured.
    ///   - time: the whole time that it took.
    func recordEnd(of request: Int, after wait: Duration?, of time: Duration, bytes: Int64) {
        guard let wait, fetches[request] == 1, !small.contains(request) else { return }
        latest = ParallelRequests.Request(wait: wait, body: time - wait, bytes: bytes)
    }

    /// Records the totals of the download.
    /// - Parameter most: the most requests; nil beside players, where the client decides.
    /// - Returns: true if those beyond the width are to stop.
    func measure(bytes: Int64, pieces: Int, most: Int?, now: ContinuousClock.Instant) -> Bool {
        let count = ParallelRequests.Count(
            bytes: bytes, pieces: pieces, at: now, request: latest.take())
        guard let most else {
            parallel.skip(count)
            return false
        }
        return parallel.record(count, most: most)
    }

    // MARK: Width

    /// The number of requests at once.
    func width(atMost most: Int) -> Int { min(parallel.width, most) }

    /// True if another request may begin.
    /// - Parameter ending: the number of those that end soon.
    func mayBegin(atMost most: Int, ending: Int) -> Bool {
        fetches.count < widthNow(atMost: most, ending: ending)
    }

    /// As `width`, with those that are small, and those that begin early.
    private func widthNow(atMost most: Int, ending: Int) -> Int {
        let width = width(atMost: most)
        var early = 0
        if asksEarly(atMost: most) {
            early = min(width, ending)
        }
        return min(most, width + small.count + early)
    }

    /// True if the next request is sent before a present one ends. Where several are under way, the others fill the time that a
    /// near origin needs.
    func asksEarly(atMost most: Int) -> Bool {
        let width = parallel.width
        if width == 1 {
            return true
        }
        guard width < most, let latency else { return false }
        return latency >= Self.farLatency
    }

    /// True if the rest of a request takes no longer than another one needs for its first byte.
    func isEnding(_ request: Int, missing: Int64, rate: Double) -> Bool {
        guard fetches[request] == 1, let latency else { return false }
        return Double(missing) <= rate * (latency / .seconds(1))
    }

    /// The latest requests beyond the width. One that began early for another that ends would begin again at once, and stays.
    func surplus(atMost most: Int, ending: Int) -> Set<Int> {
        let kept = max(width(atMost: most), widthNow(atMost: most, ending: ending) - small.count)
        return Set(fetches.keys.filter { !small.contains($0) }.sorted().dropFirst(kept))
    }
}
