import EventLoop
import Fetching
import Library

/// A segment, and the initialization section that belongs to it, on their way in the quality that was chosen, until all
/// of it is there or that is given up.
@LoopActor final class Pursuit {
    /// What it came to.
    enum End {
        /// Both lie in the store, if they can.
        case arrived
        case failed(LibraryError)
        /// It would come too late.
        case hopeless
    }

    /// How far it has come.
    struct Progress {
        /// Since it began, in seconds.
        var elapsed: Double
        /// Bytes that came since.
        var bytes: Int64
        /// Bytes that are still to come, as far as is known.
        var remaining: Int64?
    }

    private let fetches: [Fetch]
    private let before: Int64
    private let began = ContinuousClock.now
    private var left: Int
    private var timer: LoopTimer?
    private var ended: ((End) -> Void)?

    /// How often it is looked whether it will be there in time.
    private static let pause = Duration.milliseconds(500)

    /// - Parameter fetches: retained for it.
    init(_ fetches: [Fetch]) {
        (self.fetches, left) = (fetches, fetches.count)
        before = fetches.reduce(0) { $0 + $1.written }
    }

    /// Waits for the end, which is told once; never after `release`.
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

    /// Its player is gone, or has its answer.
    ///
    /// - Parameter isInTheWay: as for a fetch.
    func release(isInTheWay: Bool = false) {
        guard ended != nil else { return }
        ended = nil
        timer?.cancel()
        for fetch in fetches { fetch.release(isInTheWay: isInTheWay) }
    }
}
