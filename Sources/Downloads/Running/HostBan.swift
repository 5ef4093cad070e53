import HTTPMessage

/// Distinguishes a host that bans its client for a while (403) from one that refuses single URLs. Pure.
struct HostBan {
    private struct Refusal {
        let url: WebURL
        let time: ContinuousClock.Instant
    }

    /// The latest refusal of each host.
    private var latest: [WebURL.Origin: Refusal] = [:]
    private static let span = Duration.seconds(1)

    /// Records that a URL was refused. Returns true if the host has refused another URL within the last second: a single URL
    /// may be wrong, or have expired.
    mutating func record(_ url: WebURL, at time: ContinuousClock.Instant) -> Bool {
        let former = latest[url.origin]
        latest[url.origin] = Refusal(url: url, time: time)
        guard let former, former.url != url else { return false }
        return time - former.time <= Self.span
    }
}
