import Assets
import EventLoop
import Fetching
import Playheads
import Sessions
import Substitution

/// Chooses the quality of one session's segments by `AdaptationRule`.
@LoopActor final class Adapter {
    let link = SessionLink()
    let playerTimeout: Duration?
    private var current: String?
    /// The number of the latest segment.
    private var last: Int?
    /// Consecutive failures per rendition: the origin did not deliver, or the piece could not be stored or spliced.
    private var failures: [String: Int] = [:]
    private static let failureLimit = 3

    /// - Parameter client: the player's User-Agent.
    init(client: String? = nil) { playerTimeout = KnownPlayer(client: client).timeout }

    struct Situation {
        var buffer: Double
        /// As for `AdaptationRule.Moment`, like `buffer`, in seconds.
        var playerTimeout: Double
        var mayAsk: Bool
        /// The rendition that was abandoned for this segment: only lower ones are considered; nil if none was.
        var ceiling: String?
        var isJump = false
        /// The rendition that the URL names, which can always be sent; nil for the lowest.
        var own: String?
    }

    /// Records the number of a requested segment; true if it does not follow the latest one.
    func recordRequest(of number: Int) -> Bool {
        defer { last = number }
        guard let last else { return false }
        return number != last && number != last + 1
    }

    /// Returns the quality to use; nil if there is none.
    /// - Parameter qualities: sorted, the best last.
    func choose(from qualities: [Quality], _ situation: Situation) -> Quality? {
        let below = qualities.prefix { $0.rendition.name.id != situation.ceiling }
        let open = below.enumerated().filter { index, quality in
            index == 0 || quality.isStored || quality.rendition.name.id == situation.own
                || situation.mayAsk && !hasFailedOften(quality.rendition.name.id)
        }.map(\.element)
        guard let lowest = open.first else { return nil }
        link.sampleBeforeChoice()
        let moment = AdaptationRule.Moment(
            duration: lowest.duration, buffer: situation.buffer, playerTimeout: situation.playerTimeout,
            throughput: link.rate, current: open.firstIndex { $0.rendition.name.id == current },
            isJump: situation.isJump)
        let options = open.map { AdaptationRule.Option(bytes: $0.bytes, isStored: $0.isStored) }
        return open[AdaptationRule.choice(of: options, at: moment)]
    }

    func use(_ rendition: String) {
        current = rendition
        failures[rendition] = nil
    }

    func recordFailure(_ rendition: String) { failures[rendition, default: 0] += 1 }
    private func hasFailedOften(_ rendition: String) -> Bool { failures[rendition, default: 0] >= Self.failureLimit }
}

/// The fetches of a segment and its initialization section in the chosen quality, until both are complete or abandoned.
@LoopActor final class AdaptiveFetch {
    enum End {
        /// Both are complete, and stored if the store accepts them.
        case arrived
        case failed(LibraryError)
        case hopeless
    }

    struct Progress {
        /// Seconds since the start, or since it last yielded to the segment before it.
        var elapsed: Double
        /// Bytes received in that time.
        var bytes: Int64
        /// Bytes received since the start.
        var allBytes: Int64
        /// Bytes that are still missing, if known.
        var remaining: Int64?
    }

    private let fetches: [Fetch]
    /// Bytes that were there at the start.
    private let initial: Int64
    /// The beginning of the measurement: bytes and time.
    private var before: Int64
    private var began = ContinuousClock.now
    private var left: Int
    private var timer: LoopTimer?
    private var isOver = false
    private static let pause = Duration.milliseconds(500)

    /// - Parameter fetches: retained by the caller; released here.
    init(_ fetches: [Fetch]) {
        self.fetches = fetches
        left = fetches.count
        initial = fetches.reduce(0) { $0 + $1.written }
        before = initial
    }

    private var written: Int64 { fetches.reduce(0) { $0 + $1.written } }

    /// Calls `ended` once with the result; never after `release`.
    func follow(isHopeless: @escaping (Progress) -> Bool, ended: @escaping (End) -> Void) {
        for fetch in fetches {
            fetch.whenEnded { [weak self] result in self?.fetchEnded(result, ended) }
        }
        guard !isOver else { return }
        timer = LoopTimer { [weak self] in
            guard let self else { return }
            // One that yields to the segment before it is not slow.
            let isTrailing = fetches.contains(where: \.isTrailing)
            if isTrailing {
                before = written
                began = .now
            }
            if !isTrailing, isHopeless(progress) {
                return finish(.hopeless, ended)
            }
            timer?.schedule(after: Self.pause)
        }
        timer?.schedule(after: Self.pause)
    }

    private var progress: Progress {
        var remaining: Int64?
        if let last = fetches.last, let length = last.length {
            remaining = max(0, length - last.written)
        }
        return Progress(
            elapsed: (ContinuousClock.now - began).inSeconds, bytes: written - before, allBytes: written - initial,
            remaining: remaining)
    }

    private func fetchEnded(_ result: Result<Void, FetchError>, _ ended: (End) -> Void) {
        if case .failure(let error) = result {
            return finish(.failed(LibraryError(error)), ended)
        }
        left -= 1
        if left == 0 {
            finish(.arrived, ended)
        }
    }

    private func finish(_ end: End, _ ended: (End) -> Void) {
        guard !isOver else { return }
        if case .hopeless = end {
            release(isInTheWay: true)
        } else {
            release()
        }
        ended(end)
    }

    func release(isInTheWay: Bool = false) {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        timer = nil
        for fetch in fetches {
            fetch.release(.playback, isInTheWay: isInTheWay)
        }
    }
}
