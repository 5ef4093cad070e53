/// Which quality a segment is to have, for a player that takes what it is given: a throughput rule that spends no more
/// than half of the buffer.
///
/// Pure. Of the qualities that there are, the best that the measured throughput is expected to deliver before the
/// playhead needs it (as dash.js's ThroughputRule and hls.js's findBestLevel decide), in half the time at most for which
/// the buffer lasts (as dash.js's InsufficientBufferRule reckons, with its safety factor of 0.5). To go up more of the
/// throughput must be left than to stay (hls.js's abrBandWidthUpFactor and abrBandWidthFactor), so that two qualities do
/// not take turns. What is stored at a better quality costs nothing, and goes before.
struct AdaptationRule {
    /// A quality in which the segment may be had.
    struct Option: Equatable {
        /// How long it is, known or estimated, in bytes.
        var bytes: Int64
        /// Whether it is in the store.
        var isStored: Bool
    }

    /// What is known at the moment.
    struct Moment {
        /// How long the segment plays, in seconds.
        var duration: Double
        /// The media ahead of the playhead, in seconds.
        var buffer: Double
        /// For how long the player waits for the first byte, in seconds: there is none before the last one has come.
        var patience: Double
        /// Bytes a second; nil before anything was measured.
        var throughput: Double?
        /// The place of the quality that the last segment had; nil for the first.
        var current: Int?
    }

    /// So much of the throughput is reckoned with for the quality that there is or a lower one, and for a higher one.
    static let share = 0.95
    static let shareUp = 0.7

    /// The place of the one to take.
    ///
    /// - Parameter options: never empty; the lowest bit rate first.
    static func choice(of options: [Option], at moment: Moment) -> Int {
        let stored = options.lastIndex(where: \.isStored)
        let delivered = options.indices.last { isInTime(options[$0], $0, moment) }
        switch (stored, delivered) {
        case (let stored?, let delivered?): return max(stored, delivered)
        case (let stored?, nil): return stored
        case (nil, let delivered?): return delivered
        case (nil, nil): return 0
        }
    }

    private static func isInTime(_ option: Option, _ place: Int, _ moment: Moment) -> Bool {
        guard let throughput = moment.throughput, throughput > 0 else { return false }
        let share = place > moment.current ?? 0 ? shareUp : share
        let time = Double(option.bytes) / (throughput * share)
        return time <= min(moment.patience, limit(moment))
    }

    /// How long a segment may take: with two segments ahead as long as it plays, with more half of what the buffer lasts,
    /// and with fewer so much less that the buffer grows. With none half as long as it plays.
    private static func limit(_ moment: Moment) -> Double {
        max(moment.buffer / 2, moment.duration / 2 + moment.buffer / 4)
    }

    /// Whether what is under way is to be given up for a lower quality, since it will not be there in time, and the
    /// lowest will be there in less than half that time (hls.js's abandon rule).
    ///
    /// - Parameters:
    ///   - remaining: bytes that are still to come of what is under way.
    ///   - instead: bytes of the lowest quality.
    ///   - throughput: bytes a second, of late.
    static func isHopeless(
        remaining: Int64, instead: Int64, buffer: Double, throughput: Double
    ) -> Bool {
        guard throughput > 0 else { return false }
        let (time, other) = (Double(remaining) / throughput, Double(instead) / throughput)
        return time > max(buffer, 0) && other < time / 2
    }
}
