import EventLoop
import Fetching
import Playheads

/// The segments that a session's player waits for. libavformat asks for a segment before it has the one before it: it opens a
/// second connection, and reads nothing there meanwhile. It begins with two segments of each rendition. The later one of two
/// yields, until a trial shows that they do not share a link.
@LoopActor final class AwaitedSegments {
    private struct Item {
        weak var fetch: Fetch?
        let number: Int
        let folder: ObjectIdentifier
    }

    /// A pair of which is not known whether they share a link.
    private struct Trial {
        weak var first: Fetch?
        weak var second: Fetch?
        var contention: SegmentContention
    }

    private var items: [Item] = []
    private var trial: Trial?
    private var timer: LoopTimer?
    private var verdict: (isShared: Bool, at: ContinuousClock.Instant)?
    private let start = ContinuousClock.now
    private let session: String
    private unowned let playheads: PlayheadTracker
    /// A player may change the network, and the origin its connections.
    private static let verdictLife = Duration.seconds(60)
    private static let tick = Duration.milliseconds(250)

    init(of session: String, _ playheads: PlayheadTracker) { (self.session, self.playheads) = (session, playheads) }

    /// Adds the fetch of a segment that the player has requested.
    func add(_ fetch: Fetch, _ number: Int, in folder: PieceFolder) {
        let folder = ObjectIdentifier(folder)
        var earlier: (number: Int, fetch: Fetch)?
        var left: [Item] = []
        for item in items {
            guard let other = item.fetch, other !== fetch, !other.isComplete, other.outcome == nil else { continue }
            left.append(item)
            if item.folder == folder, item.number < number, item.number >= earlier?.number ?? item.number {
                earlier = (item.number, other)
            }
        }
        items = left + [Item(fetch: fetch, number: number, folder: folder)]
        if let earlier {
            order(fetch, behind: earlier.fetch)
        }
    }

    private func order(_ second: Fetch, behind first: Fetch) {
        if let verdict, .now - verdict.at < Self.verdictLife {
            if verdict.isShared {
                second.trail(behind: first)
            }
            return
        }
        second.trail(behind: first)
        guard running == nil else { return }
        trial = Trial(first: first, second: second, contention: SegmentContention(sample(second)))
        if timer == nil {
            timer = LoopTimer { [weak self] in self?.ticked() }
        }
        timer?.schedule(after: Self.tick)
    }

    /// While the player opens renditions, other requests begin and end, so that the rates say nothing about a pair.
    private var isOpening: Bool { playheads.reading(of: session)?.isOpening ?? false }

    /// The trial, while a player waits for both.
    private var running: (first: Fetch, second: Fetch)? {
        guard let first = trial?.first, let second = trial?.second, first.isDelivering, second.isDelivering else {
            return nil
        }
        return (first, second)
    }

    private func sample(_ second: Fetch) -> SegmentContention.Sample {
        .init(all: second.clientBytes, one: second.written, time: (.now - start).inSeconds)
    }

    private func ticked() {
        guard let (first, second) = running else { return trial = nil }
        if isOpening {
            if !second.isTrailing {
                second.trail(behind: first)
            }
            trial?.contention = SegmentContention(sample(second))
        }
        switch trial?.contention.record(sample(second)) ?? .wait {
        case .wait: break
        case .resume: second.stopTrailing()
        case .pause: second.trail(behind: first)
        case .shared: return end(isShared: true)
        case .separate:
            for item in items {
                item.fetch?.stopTrailing()
            }
            return end(isShared: false)
        case .unknown:
            second.trail(behind: first)
            return trial = nil
        }
        timer?.schedule(after: Self.tick)
    }

    private func end(isShared: Bool) {
        verdict = (isShared, .now)
        trial = nil
    }
}
