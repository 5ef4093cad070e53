/// Keeps background transfers from filling the queue of a slow link, in which a player's next request would have to
/// wait.
///
/// Pure. What a receiver promises to take lies in the bottleneck's queue before long ("bufferbloat"), and cannot be
/// called back when a player comes. Six connections promise at least 384 KB at once: four seconds of 3G. LEDBAT (RFC
/// 6817) bounds the delay that a background transfer adds; so does this, by the window.
///
/// It costs no speed. It holds only where the way is short and the measured rate low, and allows twice what that rate
/// can have on its way: if the link has more, the rate grows until the bound is gone.
struct QueueBound {
    private var rates: [Double] = []
    private var last: (at: ContinuousClock.Instant, bytes: Int64)?
    private var roundTrips: [Duration] = []

    /// Bytes a second from which a link is not slow: what the systems promise by themselves passes in a moment.
    private static let slow = 256_000.0
    /// The longest way for which it holds.
    private static let roundTrip = Duration.milliseconds(300)
    private static let sampleTime = Duration.milliseconds(500)
    private static let samples = 8
    private static let connections = 8
    private static let smallest: Int64 = 32 << 10

    /// The bytes that may be on their way to all transfers together; nil for no bound.
    var window: Int64? {
        guard let rate = rates.max(), rates.count > 1, rate < Self.slow else { return nil }
        guard let way = roundTrips.min(), way < Self.roundTrip else { return nil }
        return max(Self.smallest, Int64(2 * rate * (Self.roundTrip / .seconds(1))))
    }

    /// Takes how long a new connection took to stand: a round trip, or more where the way is busy.
    mutating func connected(in time: Duration) {
        roundTrips.append(time)
        if roundTrips.count > Self.connections { roundTrips.removeFirst() }
    }

    /// Takes the bytes that have come since the start. True when there is something new to know.
    mutating func note(_ bytes: Int64, at now: ContinuousClock.Instant) -> Bool {
        guard let last else {
            self.last = (now, bytes)
            return false
        }
        let time = now - last.at
        guard time >= Self.sampleTime else { return false }
        self.last = (now, bytes)
        // Nothing was under way for most of it.
        if time > Self.sampleTime * 3 {
            rates = []
            return true
        }
        rates.append(Double(bytes - last.bytes) / (time / .seconds(1)))
        if rates.count > Self.samples { rates.removeFirst() }
        return true
    }
}
