import HTTPMessage

/// Remembers the hosts that requests are redirected to, by the origin and folder of their URLs: the URLs of an advertisement often
/// lead to another host than those of the film beside them. Pure.
struct RedirectMemory {
    private struct Location: Hashable {
        let origin: WebURL.Origin
        let folder: Substring

        init(_ url: WebURL) {
            origin = url.origin
            // A handler's URL may have no path.
            folder = url.path[..<(url.path.lastIndex(of: "/") ?? url.path.startIndex)]
        }
    }

    private struct Entry {
        /// Nil if the latest request was not redirected to another host.
        var target: WebURL.Origin?
        var time: ContinuousClock.Instant

        func isRecent(_ now: ContinuousClock.Instant) -> Bool { now - time < GiveUpRule.lookPause }
    }

    private var entries: [Location: Entry] = [:]
    /// Bounds the memory: a playlist may name folders without end.
    private static let maximumCount = 1_000

    /// The host that a request for a URL like this one was redirected to a moment ago; nil if it was not, or if that is unknown. A
    /// balancer may redirect the next one elsewhere.
    func target(of url: WebURL, now: ContinuousClock.Instant) -> WebURL.Origin? {
        guard !entries.isEmpty, let known = entries[Location(url)] else { return nil }
        guard known.isRecent(now) else { return nil }
        return known.target
    }

    /// The hosts that requests were redirected to a moment ago.
    func targets(now: ContinuousClock.Instant) -> [WebURL.Origin] {
        entries.values.filter { $0.isRecent(now) }.compactMap(\.target)
    }

    mutating func recordRedirect(of url: WebURL, to target: WebURL.Origin, now: ContinuousClock.Instant) {
        insert(Entry(target: target, time: now), at: Location(url))
    }

    /// Records a reply without a redirect. Only URLs that were looked at, or redirected before, are remembered.
    mutating func recordDirectReply(from url: WebURL, now: ContinuousClock.Instant) {
        guard !entries.isEmpty, let known = entries[Location(url)], known.target != nil else { return }
        entries[Location(url)] = Entry(target: nil, time: now)
    }

    /// Begins a look at where a URL leads. Returns false if that is known from a moment ago.
    mutating func beginLook(
        at url: WebURL, isDead: (WebURL.Origin) -> Bool, now: ContinuousClock.Instant
    ) -> Bool {
        let location = Location(url)
        if let known = entries[location] {
            let isLost = known.target.map(isDead) ?? false
            let pause = isLost ? GiveUpRule.lookPause : GiveUpRule.recentReply
            if now - known.time < pause {
                return false
            }
        }
        insert(Entry(target: entries[location]?.target, time: now), at: location)
        return true
    }

    private mutating func insert(_ entry: Entry, at location: Location) {
        if entries.count >= Self.maximumCount, entries[location] == nil {
            entries = [:]
        }
        entries[location] = entry
    }
}
