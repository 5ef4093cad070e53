import EventLoop
import Fetching
import Playheads

/// The segments that a session's player waits for. Some players ask for a segment before they have the one before it (libavformat
/// does, on a second connection, and reads nothing there meanwhile): where both share a slow link, the later one yields.
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
        /// The second one, and those of other pairs, until the second one has to run.
        var held: [Held] = []
    }

    private struct Held {
        weak var fetch: Fetch?
    }

    private var items: [Item] = []
    private var trial: Trial?
    private var timer: LoopTimer?
    private var verdict: (isShared: Bool, at: ContinuousClock.Instant)?
    private let start = ContinuousClock.now
    /// A player may change the network, and the origin its connections.
    private static let verdictLife = Duration.seconds(60)
    private static let tick = Duration.milliseconds(250)

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
        if let earlier { order(fetch, behind: earlier.fetch) }
    }

    private func order(_ second: Fetch, behind first: Fetch) {
        if let verdict, .now - verdict.at < Self.verdictLife {
            if verdict.isShared { second.trail(behind: first) }
        } else if running == nil {
            endHold()
            trial = Trial(first: first, second: second, contention: SegmentContention(sample(second)))
            hold(second, behind: first)
            if timer == nil { timer = LoopTimer { [weak self] in self?.ticked() } }
            timer?.schedule(after: Self.tick)
        } else if let trial, !trial.held.isEmpty {
            // libavformat begins with two segments of each rendition.
            hold(second, behind: first)
        }
    }

    private func hold(_ second: Fetch, behind first: Fetch) {
        second.trail(behind: first)
        trial?.held.append(Held(fetch: second))
    }

    private func endHold() {
        for held in trial?.held ?? [] { held.fetch?.stopTrailing() }
        trial?.held = []
    }

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
        guard let (first, second) = running, let step = trial?.contention.record(sample(second)) else {
            endHold()
            return trial = nil
        }
        switch step {
        case .wait: break
        case .resume: endHold()
        case .pause: second.trail(behind: first)
        case .shared, .separate:
            verdict = (step == .shared, .now)
            if step == .separate { second.stopTrailing() }
            return trial = nil
        case .unknown: return trial = nil
        }
        timer?.schedule(after: Self.tick)
    }
}
