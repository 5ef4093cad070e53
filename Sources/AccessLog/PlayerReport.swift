package import SafeText

/// A player's report on its own playback; without reports these figures are inferred from its requests. Counters start
/// with the playback and do not fall. Times are seconds.
public struct PlayerReport: Codable, Equatable, Sendable {
    /// Position in media time; 0 or more.
    package var playhead: Seconds
    /// Playback rate from the position on: 1 is real time, 0 is paused. At most 16.
    package var rate: Ratio
    /// True if playback waits for media.
    package var isStalled: Bool
    /// Number of stalls, without the start and seeks.
    package var stalls: Int
    package var stallTime: Seconds
    /// Number of pictures that were not shown in time; absent if the player does not know.
    package var framesDropped: Int?
    /// Time from the play command to the first picture; absent before that.
    package var startup: Seconds?

    package init(
        playhead: Seconds, rate: Ratio, isStalled: Bool = false, stalls: Int = 0, stallTime: Seconds = 0,
        framesDropped: Int? = nil, startup: Seconds? = nil
    ) {
        self.playhead = playhead
        self.rate = rate
        self.isStalled = isStalled
        self.stalls = stalls
        self.stallTime = stallTime
        self.framesDropped = framesDropped
        self.startup = startup
    }

    /// Maximum of all times: a little more than a year.
    package static let longest: Seconds = 4e7
    package static let most = 1_000_000_000
    /// Maximum rate, as for CMCD's `pr`.
    package static let fastest: Ratio = 16

    /// The first key whose value is out of range; nil if there is none.
    package var keyOutOfRange: String? {
        let times = [("playhead", playhead), ("stallTime", stallTime), ("startup", startup ?? 0)]
        if let time = times.first(where: { $0.1 > Self.longest }) {
            return time.0
        }
        if rate > Self.fastest {
            return "rate"
        }

        let counts = [("stalls", stalls), ("framesDropped", framesDropped ?? 0)]
        return counts.first { !(0...Self.most).contains($0.1) }?.0
    }

    /// The difference to an earlier report of the same playback.
    package func since(_ earlier: PlayerReport?) -> PlayerReport {
        guard let earlier else { return self }
        var rest = self
        rest.stalls = max(0, stalls - earlier.stalls)
        rest.stallTime = Seconds(clamping: stallTime.value - earlier.stallTime.value)
        if let framesDropped {
            let before = earlier.framesDropped ?? 0
            rest.framesDropped = max(0, framesDropped - before)
        }
        // The startup belongs to the earlier session.
        rest.startup = nil
        return rest
    }
}
