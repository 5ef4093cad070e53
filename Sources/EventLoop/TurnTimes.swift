import Glibc

/// The lengths of the loop's turns, either by the clock, so long everything else that was due waited, or in processor time. A turn
/// is all that the loop does between two polls for events.
public struct TurnTimes: Sendable {
    /// The upper bounds of the counts, in seconds; a last count is for longer turns.
    public static let bounds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
    /// The number of turns by their length.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// The sum of all lengths, in seconds.
    public private(set) var sum = 0.0
    /// The longest turn, in seconds.
    public private(set) var longest = 0.0

    /// Creates the times before the first turn.
    public init() {}

    /// The number of turns.
    public var count: Int { counts.reduce(0, +) }

    /// - Parameter total: what the turn adds to the sum, if that is not its own length.
    mutating func record(_ seconds: Double, adding total: Double? = nil) {
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += total ?? seconds
        longest = max(longest, seconds)
    }

    /// The smallest bound, in seconds, that a share of the turns does not exceed; the longest turn beyond the last bound. Nil
    /// before the first turn.
    /// - Parameter share: such as 0.99.
    public func quantile(_ share: Double) -> Double? {
        let wanted = Double(count) * share
        guard wanted > 0 else { return nil }
        var sum = 0
        for (index, bound) in Self.bounds.enumerated() {
            sum += counts[index]
            if Double(sum) >= wanted {
                return bound
            }
        }
        return longest
    }

    /// Seconds of a clock that only runs forward.
    static var now: Double { seconds(of: CLOCK_MONOTONIC) }

    /// Seconds for which the calling thread has run on a processor. Unlike `now` it costs a system call.
    static var processorTime: Double { seconds(of: CLOCK_THREAD_CPUTIME_ID) }

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
