/// What the link to the origins carries, measured: the windowed maximum of the rate at which bytes come, as BBR takes
/// it for its bottleneck bandwidth (draft-ietf-ccwg-bbr, "MaxBwFilter").
///
/// Pure. A rate that was low because nobody asked for more says nothing about the link, and so only the highest of late
/// counts.
struct LinkMeter {
    private var peaks: [(at: ContinuousClock.Instant, rate: Double)] = []
    private var last: (at: ContinuousClock.Instant, bytes: Int64)?

    /// For so long a rate counts, and for so long while others say more.
    private static let span = Duration.seconds(10)
    private static let busySpan = Duration.seconds(3)
    /// No rate is told from less time than this.
    static let shortest = Duration.milliseconds(400)

    /// Takes the number of bytes that have come since the start, of all transfers together.
    ///
    /// - Parameter isBusy: somebody wanted more all the time, so that it is the link's own rate, and older ones may be
    ///   over.
    mutating func note(_ bytes: Int64, isBusy: Bool, at now: ContinuousClock.Instant) {
        guard let last else { return self.last = (now, bytes) }
        guard now - last.at >= Self.shortest else { return }
        let rate = Double(bytes - last.bytes) / (now - last.at).inSeconds
        self.last = (now, bytes)
        let span = isBusy ? Self.busySpan : Self.span
        peaks.removeAll { now - $0.at > span || $0.rate <= rate }
        if rate > 0 { peaks.append((now, rate)) }
    }

    /// What comes next has waited on this machine, and its rate is not the link's: begins a new measurement after that.
    mutating func skip() { last = nil }

    /// Bytes a second; nil before anything was measured.
    var rate: Double? { peaks.first?.rate }
}
