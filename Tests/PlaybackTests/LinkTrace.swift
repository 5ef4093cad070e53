import Testing

/// A link whose rate changes with time, and that is known for all time. Times are in seconds.
struct LinkTrace: CustomTestStringConvertible, Sendable {
    /// A link that stays the same until an instant.
    struct Stretch {
        var until: Double
        /// Bytes a second.
        var rate: Double
        /// From a request to its first byte.
        var roundTrip = 0.05
    }

    let testDescription: String
    /// The last one lasts for ever.
    let stretches: [Stretch]

    init(_ description: String, _ stretches: [Stretch]) {
        (testDescription, self.stretches) = (description, stretches)
    }

    /// Time of the first byte of a request made at an instant.
    func answer(to asked: Double) -> Double {
        asked + (stretches.first { asked < $0.until } ?? stretches[stretches.count - 1]).roundTrip
    }

    /// Time at which a number of bytes of a request made at an instant have arrived.
    func end(of bytes: Double, askedAt asked: Double) -> Double {
        var (time, left) = (answer(to: asked), bytes)
        for stretch in stretches.dropLast() where stretch.until > time {
            let span = stretch.until - time
            if left <= span * stretch.rate { return time + left / stretch.rate }
            (time, left) = (stretch.until, left - span * stretch.rate)
        }
        return time + left / stretches[stretches.count - 1].rate
    }

    /// The bytes that come from one instant to another, if any are wanted.
    func bytes(from start: Double = 0, until end: Double) -> Double {
        var (time, sum) = (start, 0.0)
        for stretch in stretches where time < min(stretch.until, end) {
            sum += (min(stretch.until, end) - time) * stretch.rate
            time = stretch.until
        }
        return sum + max(0, end - time) * stretches[stretches.count - 1].rate
    }
}
