import EventLoop
import Library

/// Chooses the quality of one session's segments, by `AdaptationRule`.
@LoopActor final class Adapter {
    /// What the link gives it.
    let link = SessionLink()
    /// For how long the player waits for a first byte, where that is known.
    let patience: Duration?
    /// The rendition that the last segment was of.
    private var current: String?
    /// How often it came to nothing to fetch a segment of a rendition, one time after the other: the origin did not
    /// give it, or it could not be kept or put in.
    private var failures: [String: Int] = [:]
    /// After so many a rendition is not asked for any more.
    private static let failureLimit = 3

    /// - Parameter client: what the player calls itself.
    init(client: String? = nil) { patience = PlayerPatience.of(client: client) }

    /// What is known when a segment is asked for.
    struct Situation {
        /// The media ahead of the playhead, in seconds.
        var buffer: Double
        /// For how long the player waits for the first byte: there is none before the last one has come.
        var patience: Double
        /// Whether the origin may be asked.
        var mayAsk: Bool
        /// The rendition that was given up for this segment: only lower ones count; nil for none.
        var ceiling: String?
    }

    /// The quality to take; nil where there are none.
    ///
    /// - Parameter qualities: the rendition's own first, the best last.
    func choose(from qualities: [Quality], _ situation: Situation) -> Quality? {
        let below = qualities.prefix { $0.rendition.name.id != situation.ceiling }
        let open = below.enumerated().filter { place, quality in
            place == 0 || quality.isStored || situation.mayAsk && !isGivenUp(quality.rendition.name.id)
        }.map(\.element)
        guard let own = open.first else { return nil }
        link.sampleBeforeChoice()
        let moment = AdaptationRule.Moment(
            duration: own.duration, buffer: situation.buffer, patience: situation.patience, throughput: link.rate,
            current: open.firstIndex { $0.rendition.name.id == current })
        let options = open.map { AdaptationRule.Option(bytes: $0.bytes, isStored: $0.isStored) }
        return open[AdaptationRule.choice(of: options, at: moment)]
    }

    /// A segment is answered in the quality of a rendition.
    func took(_ rendition: String) {
        current = rendition
        failures[rendition] = nil
    }

    /// A segment of a rendition was fetched in vain.
    func failed(_ rendition: String) { failures[rendition, default: 0] += 1 }

    private func isGivenUp(_ rendition: String) -> Bool { failures[rendition, default: 0] >= Self.failureLimit }
}
