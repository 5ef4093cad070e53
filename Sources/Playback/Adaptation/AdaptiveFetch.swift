import EventLoop
import Fetching
import Library

/// The fetches of a segment and its initialization section in the chosen quality, until both are complete or abandoned.
@LoopActor final class AdaptiveFetch {
    /// Result of the fetches.
    enum End {
        /// Both are complete, and stored if the store accepts them.
        case arrived
        case failed(LibraryError)
        /// The segment would arrive too late.
        case hopeless
    }

    /// Progress of the fetches.
    struct Progress {
        /// Time since the start, in seconds.
        var elapsed: Double
        /// Bytes received since the start.
        var bytes: Int64
        /// Bytes that are still missing, if known.
        var remaining: Int64?
    }

    private let fetches: [Fetch]
    private let before: Int64
    private let began = ContinuousClock.now
    private var left: Int
    private var timer: LoopTimer?
    private var ended: ((End) -> Void)?

    /// Interval between checks.
    private static let pause = Duration.milliseconds(500)

    /// - Parameter fetches: retained by the caller; released here.
    init(_ fetches: [Fetch]) {
        (self.fetches, left) = (fetches, fetches.count)
        before = fetches.reduce(0) { $0 + $1.written }
    }

    /// Calls `ended` once with the result; never after `release`.
    func follow(isHopeless: @escaping (Progress) -> Bool, ended: @escaping (End) -> Void) {
        self.ended = ended
        for fetch in fetches { fetch.whenEnded { [weak self] result in self?.settled(result) } }
        guard self.ended != nil else { return }
        timer = LoopTimer { [weak self] in
            guard let self else { return }
            if isHopeless(progress) { finish(.hopeless) } else { timer?.schedule(after: Self.pause) }
        }
        timer?.schedule(after: Self.pause)
    }

    private var progress: Progress {
        let (written, last) = (fetches.reduce(0) { $0 + $1.written }, fetches.last)
        return Progress(
            elapsed: (ContinuousClock.now - began).inSeconds, bytes: written - before,
            remaining: last?.length.map { max(0, $0 - (last?.written ?? 0)) })
    }

    private func settled(_ result: Result<Void, FetchError>) {
        if case .failure(let error) = result { return finish(.failed(LibraryError(error))) }
        left -= 1
        if left == 0 { finish(.arrived) }
    }

    private func finish(_ end: End) {
        let ended = ended
        if case .hopeless = end { release(isInTheWay: true) } else { release() }
        ended?(end)
    }

    /// Releases the fetches because the player disconnected or was answered.
    ///
    /// - Parameter isInTheWay: passed on to `Fetch.release`.
    func release(isInTheWay: Bool = false) {
        guard ended != nil else { return }
        ended = nil
        timer?.cancel()
        for fetch in fetches { fetch.release(isInTheWay: isInTheWay) }
    }
}
