/// Finds out whether a transfer takes bandwidth from the others. Many origins limit each connection by itself: there, one that pauses
/// gives nothing to the others.
///
/// Pure. The one is held at first: on a fast link the others are done before that is over. Then all run for a moment, and then the
/// one pauses: they share a link if the others get its part.
struct SegmentContention {
    enum Step: Equatable {
        /// Nothing to do before the next record.
        case wait
        /// The one, which was held, must run now.
        case resume
        /// The one must pause now.
        case pause
        /// It shares a link with the others.
        case shared
        /// It has a limit of its own.
        case separate
        /// The pause had no effect, or it is too small a part of all to be missed.
        case unknown
    }

    /// Bytes so far, and the time in seconds.
    struct Sample {
        /// Those of all transfers, this one included.
        var all: Int64
        var one: Int64
        var time: Double
    }

    private enum Phase {
        case held
        case beginning
        case together
        /// With the measurements that are left.
        case apart(spans: Int)
    }

    private var phase = Phase.held
    /// The beginning of the measurement.
    private var mark: Sample
    /// In bytes per second, before the pause.
    private var one = 0.0
    private var others = 0.0
    /// Length of the hold and of each measurement, in seconds.
    static let span = 1.0
    /// Bytes that may still come over the link after a pause: the kernel's first window and what it makes of it at a low rate.
    private static let window = 100_000.0
    /// The most seconds that these are waited for.
    private static let longestWait = 5.0
    /// Rates vary: a smaller part of all cannot be told from that.
    private static let leastPart = 0.25

    /// Begins with the one held.
    init(_ start: Sample) { mark = start }

    mutating func record(_ sample: Sample) -> Step {
        switch phase {
        case .held:
            guard sample.time - mark.time >= Self.span else { return .wait }
            phase = .beginning
            mark = sample
            return .resume
        case .beginning:
            guard sample.one > mark.one, sample.all - mark.all > sample.one - mark.one else { return .wait }
            phase = .together
            mark = sample
            return .wait
        case .together:
            guard sample.time - mark.time >= Self.span else { return .wait }
            (one, others) = rates(until: sample)
            guard one >= (one + others) * Self.leastPart else { return .unknown }
            // The window is an estimate: a part of a span more would let segments of six seconds end before the verdict.
            let wait = min(Self.longestWait, Self.window / max(one, 1)) / Self.span
            phase = .apart(spans: Int(wait.rounded()) + 1)
            mark = sample
            return .pause
        case .apart(let spans):
            guard sample.time - mark.time >= Self.span else { return .wait }
            let now = rates(until: sample)
            phase = .apart(spans: spans - 1)
            mark = sample
            if now.one > one / 2 {
                return spans > 1 ? .wait : .unknown
            }
            if now.others - others >= one / 2 {
                return .shared
            }
            return spans > 1 ? .wait : .separate
        }
    }

    private func rates(until sample: Sample) -> (one: Double, others: Double) {
        let seconds = sample.time - mark.time
        let one = Double(sample.one - mark.one) / seconds
        return (one, Double(sample.all - mark.all) / seconds - one)
    }
}
