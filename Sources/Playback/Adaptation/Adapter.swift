import EventLoop
import Library
import Substitution

/// Chooses the quality of one session's segments by `AdaptationRule`.
@LoopActor final class Adapter {
    /// Measures the session's throughput.
    let link = SessionLink()
    /// How long the player waits for the first byte, if known.
    let playerTimeout: Duration?
    /// The rendition of the previous segment.
    private var current: String?
    /// Consecutive failures per rendition: the origin did not deliver, or the piece could not be stored or spliced.
    private var failures: [String: Int] = [:]
    /// After this many failures a rendition is not requested any more.
    private static let failureLimit = 3

    /// - Parameter client: the player's User-Agent.
    init(client: String? = nil) { playerTimeout = PlayerTimeout.of(client: client) }

    /// Inputs of one choice.
    struct Situation {
        /// Media ahead of the playhead, in seconds.
        var buffer: Double
        /// How long the player waits for the first byte, in seconds. The reply's first byte is sent only when the last
        /// one has arrived.
        var playerTimeout: Double
        /// True if the origin may be asked.
        var mayAsk: Bool
        /// The rendition that was abandoned for this segment: only lower ones are considered; nil if none was.
        var ceiling: String?
    }

    /// Returns the quality to use; nil if there is none.
    ///
    /// - Parameter qualities: sorted; the rendition's own first, the best last.
    func choose(from qualities: [Quality], _ situation: Situation) -> Quality? {
        let below = qualities.prefix { $0.rendition.name.id != situation.ceiling }
        let open = below.enumerated().filter { place, quality in
            place == 0 || quality.isStored || situation.mayAsk && !isGivenUp(quality.rendition.name.id)
        }.map(\.element)
        guard let own = open.first else { return nil }
        link.sampleBeforeChoice()
        let moment = AdaptationRule.Moment(
            duration: own.duration, buffer: situation.buffer, playerTimeout: situation.playerTimeout,
            throughput: link.rate,
            current: open.firstIndex { $0.rendition.name.id == current })
        let options = open.map { AdaptationRule.Option(bytes: $0.bytes, isStored: $0.isStored) }
        return open[AdaptationRule.choice(of: options, at: moment)]
    }

    /// Records that a segment is answered from this rendition.
    func took(_ rendition: String) {
        current = rendition
        failures[rendition] = nil
    }

    /// Records that a fetch of a segment of this rendition failed.
    func failed(_ rendition: String) { failures[rendition, default: 0] += 1 }

    private func isGivenUp(_ rendition: String) -> Bool { failures[rendition, default: 0] >= Self.failureLimit }
}
