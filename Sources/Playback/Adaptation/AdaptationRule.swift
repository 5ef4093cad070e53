/// Chooses the quality of a segment for a player that cannot adapt: a throughput rule that uses at most half of the
/// buffer. Pure. It picks the best quality that the measured throughput is expected to deliver in time (dash.js's
/// ThroughputRule, hls.js's findBestLevel), and in at most half of the buffer (dash.js's InsufficientBufferRule). Going
/// up needs a larger reserve of throughput than staying (hls.js's abrBandWidthUpFactor), so that two qualities do not
/// alternate. A better quality that is stored costs nothing and is preferred. While the player has less than two segments, what is
/// stored comes first in any quality: playback begins at once, and its buffer grows.
struct AdaptationRule {
    struct Option: Equatable {
        /// Size in bytes, known or estimated.
        var bytes: Int64
        var isStored: Bool
    }

    struct Moment {
        var duration: Double
        /// Media ahead of the playhead, in seconds.
        var buffer: Double
        /// How long the player waits, in seconds, for the first byte, which is sent when the last one has arrived.
        var playerTimeout: Double
        /// Bytes per second; nil before the first measurement.
        var throughput: Double?
        /// Index of the quality of the previous segment; nil for the first segment.
        var current: Int?
        /// True for the first segment after a seek: the viewer sees nothing before it has arrived.
        var isJump = false
    }

    /// Share of the throughput that is assumed for the current or a lower quality; `shareUp` for a higher one.
    static let share = 0.95
    static let shareUp = 0.7

    /// Returns the index of the quality to use.
    /// - Parameter options: never empty; sorted by bit rate, the lowest first.
    static func choice(of options: [Option], at moment: Moment) -> Int {
        let stored = options.lastIndex(where: \.isStored)
        if let stored, !moment.isJump, moment.buffer < 2 * moment.duration {
            return stored
        }
        let limit = limit(moment, hasStored: stored != nil)
        let delivered = options.indices.last { isInTime(options[$0], at: $0, moment, limit: limit) }
        return [stored, delivered].compactMap(\.self).max() ?? 0
    }

    private static func isInTime(_ option: Option, at index: Int, _ moment: Moment, limit: Double) -> Bool {
        guard let throughput = moment.throughput, throughput > 0 else { return false }
        let current = moment.current ?? 0
        let share = index > current ? shareUp : share
        let time = Double(option.bytes) / (throughput * share)
        return time <= min(moment.playerTimeout, limit)
    }

    /// A wait that a viewer does not notice, in seconds. After a seek only such a wait is worth a better quality.
    private static let unnoticed = 0.2
    /// As `unnoticed`, instead of a stored quality, which comes at once. The rule does not know the latency of the origin.
    private static let instant = 0.05

    /// Maximum time for a segment, in seconds: half of the buffer. With fewer than two segments ahead it shrinks so that
    /// the buffer grows, down to half of the duration.
    private static func limit(_ moment: Moment, hasStored: Bool) -> Double {
        if moment.isJump {
            return hasStored ? instant : unnoticed
        }
        return max(moment.buffer / 2, moment.duration / 2 + moment.buffer / 4)
    }

    /// True if a running fetch must be abandoned for a lower quality: it will not arrive in time, and the lowest
    /// quality will arrive in less than half that time (hls.js's abandon rule).
    /// - Parameters:
    ///   - remaining: bytes that the running fetch still lacks.
    ///   - instead: bytes of the lowest quality.
    ///   - throughput: recent bytes per second.
    static func isHopeless(remaining: Int64, instead: Int64, buffer: Double, throughput: Double) -> Bool {
        guard throughput > 0 else { return false }
        let time = Double(remaining) / throughput
        let other = Double(instead) / throughput
        return time > max(buffer, 0) && other < time / 2
    }
}
