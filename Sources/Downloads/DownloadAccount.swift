import EventLoop
import HTTPMessage
import Origin

/// The account of a download from its order to its end: what was fetched, from whom, in which time.
///
/// The catalogue has its JSON: the names of properties never change.
package struct DownloadAccount: Codable, Equatable, Sendable {
    /// An origin and the bytes that it sent.
    package struct Origin: Codable, Equatable, Sendable {
        /// The host, with a port that is not the scheme's default.
        package var host: String
        package var requests: Int
        package var bytes: Int64
    }

    /// Time of the start, in seconds since 1970.
    package var began: Int64
    /// Time of the end, in seconds since 1970; 0 before the end.
    package var ended: Int64 = 0
    /// Seconds for which it ran.
    package var seconds = 0.0
    /// Bytes that were received and stored.
    package var bytes: Int64 = 0
    package var requests = 0
    /// Requests that were repeated after an error which passed.
    package var retries = 0
    /// Ends of the work after which it went on by itself.
    package var interruptions = 0
    /// The number of interstitials that are stored; nil if none were requested.
    package var interstitials: Int?
    /// A sentence for each interstitial that could not be stored; nil for none.
    package var interstitialFaults: [String]?
    /// The origin with the most bytes first.
    package var origins: [Origin] = []

    init(began: Int64) { self.began = began }

    /// True if something was fetched, or tried.
    var hasContent: Bool { requests > 0 || bytes > 0 || interruptions > 0 || interstitials != nil }
}

/// Keeps the account of a download while it runs, and the latest one that has ended. Pure.
struct DownloadBook {
    /// The counters of an asset at one moment.
    struct Traffic: Equatable {
        var counts: [WebURL.Origin: TrafficTally.Count] = [:]
        var retries = 0

        init() {}
        @LoopActor init(_ tally: TrafficTally) {
            counts = tally.counts
            retries = tally.retries
        }
    }

    /// The JSON of the stored account, read when it is needed.
    private var text: String?
    private var latest: DownloadAccount?
    private var open: DownloadAccount?
    /// The begin of the present run.
    private var run: (since: ContinuousClock.Instant, traffic: Traffic)?
    /// The time of the latest save of the present run, and the bytes then.
    private var saved: (at: ContinuousClock.Instant, bytes: Int64)?
    /// So much of a run is missing in the account after a crash, at most.
    static let saveInterval = Duration.seconds(5)

    init(stored text: String? = nil) { self.text = text }

    /// The account of the latest end; nil before the first.
    var account: DownloadAccount? {
        guard text != nil else { return latest }
        var copy = self
        copy.read()
        return copy.latest
    }

    /// The account to store, with what the present run has brought until now. One without content does not replace a former one.
    func stored(_ traffic: Traffic, now: ContinuousClock.Instant) -> DownloadAccount? {
        var copy = self
        copy.read()
        copy.stop(traffic, now: now)
        guard let open = copy.open, open.hasContent || copy.latest == nil else { return copy.latest }
        return open
    }

    /// True from time to time during a run that brings something: then the account is to be saved.
    mutating func mustSave(at now: ContinuousClock.Instant) -> Bool {
        guard let run, let open else { return false }
        let last = saved ?? (run.since, 0)
        guard now - last.at >= Self.saveInterval, open.bytes != last.bytes else { return false }
        saved = (now, open.bytes)
        return true
    }

    private mutating func read() {
        guard let text else { return }
        self.text = nil
        guard let account = DownloadAccount(stored: text) else { return }
        if account.ended == 0 {
            open = account
        } else {
            latest = account
        }
    }

    mutating func start(_ traffic: Traffic, at time: Int64, now: ContinuousClock.Instant) {
        read()
        open = open ?? DownloadAccount(began: time)
        run = (now, traffic)
        saved = nil
    }

    mutating func record(bytes: Int64) { open?.bytes &+= max(0, bytes) }
    mutating func record(interstitials: Int, faults: [String]) {
        open?.interstitials = interstitials
        open?.interstitialFaults = faults.isEmpty ? nil : faults
    }

    mutating func recordInterruption() { open?.interruptions += 1 }

    /// Adds what was counted since `start`.
    mutating func stop(_ traffic: Traffic, now: ContinuousClock.Instant) {
        guard let run, var account = open else { return }
        self.run = nil
        account.seconds += (now - run.since) / .seconds(1)
        account.retries += traffic.retries - run.traffic.retries
        for (origin, count) in traffic.counts {
            let before = run.traffic.counts[origin] ?? TrafficTally.Count()
            let requests = count.requests - before.requests
            let bytes = count.bytes - before.bytes
            guard requests > 0 || bytes > 0 else { continue }
            account.requests += requests
            let host = "\(origin)".split(separator: "/").last.map(String.init) ?? origin.host
            if let index = account.origins.firstIndex(where: { $0.host == host }) {
                account.origins[index].requests += requests
                account.origins[index].bytes += bytes
            } else {
                account.origins.append(.init(host: host, requests: requests, bytes: bytes))
            }
        }
        account.origins.sort { ($1.bytes, $0.host) < ($0.bytes, $1.host) }
        open = account
    }

    /// The download has ended. An end without a request, as of an order for what is stored, keeps the former account.
    mutating func end(at time: Int64) {
        read()
        guard var account = open else { return }
        open = nil
        guard account.hasContent || latest == nil else { return }
        account.ended = time
        latest = account
    }
}
