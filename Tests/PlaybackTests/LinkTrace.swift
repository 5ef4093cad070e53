import Testing

/// A link with a known rate at every time. Times are in seconds.
struct LinkTrace: CustomTestStringConvertible, Sendable {
    /// A period of constant rate.
    struct Stretch {
        var until: Double
        /// Bytes per second.
        var rate: Double
        /// Time from a request to its first byte.
        var roundTrip = 0.05
    }

    let testDescription: String
    /// The last stretch has no end.
    let stretches: [Stretch]

    init(_ description: String, _ stretches: [Stretch]) {
        testDescription = description
        self.stretches = stretches
    }

    /// Time of the first byte of a request made at an instant.
    func answer(to asked: Double) -> Double {
        asked + (stretches.first { asked < $0.until } ?? stretches[stretches.count - 1]).roundTrip
    }

    /// Time at which a number of bytes of a request made at an instant have arrived.
    func end(of bytes: Double, askedAt asked: Double) -> Double {
        var time = answer(to: asked)
        var left = bytes
        for stretch in stretches.dropLast() where stretch.until > time {
            let span = stretch.until - time
            if left <= span * stretch.rate {
                return time + left / stretch.rate
            }
            time = stretch.until
            left = left - span * stretch.rate
        }
        return time + left / stretches[stretches.count - 1].rate
    }

    /// The bytes that the link can carry between two times.
    func bytes(from start: Double = 0, until end: Double) -> Double {
        var time = start
        var sum = 0.0
        for stretch in stretches where time < min(stretch.until, end) {
            sum += (min(stretch.until, end) - time) * stretch.rate
            time = stretch.until
        }
        return sum + max(0, end - time) * stretches[stretches.count - 1].rate
    }
}
