public import EventLoop
public import HTTPMessage

/// Counts the requests for an asset that no player waits for, by origin.
@LoopActor public final class TrafficTally {
    /// The requests to one origin, and the bytes of their bodies as they arrived, decoded.
    public struct Count: Equatable, Sendable {
        /// Requests, repeated ones included.
        public var requests: Int
        /// Bytes of bodies.
        public var bytes: Int64

        /// Counts a number of requests.
        public init(requests: Int = 0, bytes: Int64 = 0) {
            self.requests = requests
            self.bytes = bytes
        }
    }

    /// The counts since the process began.
    public var counts: [WebURL.Origin: Count] {
        guard let latest else { return earlier }
        return earlier.merging([latest.origin: latest.count]) { $1 }
    }
    /// The latest origin with its count so far: each part of a body counts, and nearly all come from one origin.
    private var latest: (origin: WebURL.Origin, count: Count)?
    /// The counts of the other origins.
    private var earlier: [WebURL.Origin: Count] = [:]
    /// Requests that followed an error which may pass.
    public private(set) var retries = 0

    /// True if requests count at any urgency: a recording raises what is about to leave the origin's playlist.
    let countsEveryUrgency: Bool

    /// Creates an empty tally.
    public nonisolated init(countsEveryUrgency: Bool = false) {
        self.countsEveryUrgency = countsEveryUrgency
    }

    func recordRequest(to origin: WebURL.Origin) {
        select(origin)
        latest?.count.requests += 1
    }

    func recordRetry() { retries += 1 }

    func record(bytes: Int, from origin: WebURL.Origin) {
        select(origin)
        latest?.count.bytes &+= Int64(clamping: bytes)
    }

    private func select(_ origin: WebURL.Origin) {
        guard latest?.origin != origin else { return }
        if let latest {
            earlier[latest.origin] = latest.count
        }
        latest = (origin, earlier.removeValue(forKey: origin) ?? Count())
    }
}
