/// What a player says of a playback of its own, as it stands: what is inferred from its requests otherwise.
///
/// Counters begin with the playback and do not fall, so that a report that is lost, or comes twice, does no harm. Times are
/// seconds.
public struct PlayerReport: Codable, Equatable, Sendable {
    /// Where it is, in media time; from 0 on.
    public var playhead: Double
    /// How fast it plays from there on: 1 is real time, 0 that it stands. At most 16.
    public var rate: Double
    /// Whether it stands for want of media.
    public var isStalled: Bool
    /// How often it stood for want of media; neither the start nor a seek is one of them.
    public var stalls: Int
    /// For how long, altogether.
    public var stallTime: Double
    /// How many pictures it did not show in time; absent where it does not know.
    public var framesDropped: Int?
    /// From when it was told to play to the first picture; absent before that.
    public var startup: Double?

    /// A report.
    public init(
        playhead: Double, rate: Double, isStalled: Bool = false, stalls: Int = 0, stallTime: Double = 0,
        framesDropped: Int? = nil, startup: Double? = nil
    ) {
        (self.playhead, self.rate, self.isStalled) = (playhead, rate, isStalled)
        (self.stalls, self.stallTime) = (stalls, stallTime)
        (self.framesDropped, self.startup) = (framesDropped, startup)
    }

    /// The greatest time: a year and more.
    public static let longest = 4e7
    /// The greatest count.
    public static let most = 1_000_000_000
    /// The greatest rate, as with CMCD's `pr`.
    public static let fastest = 16.0

    /// The first key whose value is out of its range; nil where all are in theirs.
    public var keyOutOfRange: String? {
        let times = [("playhead", playhead), ("stallTime", stallTime), ("startup", startup ?? 0)]
        if let time = times.first(where: { !(0...Self.longest).contains($0.1) }) { return time.0 }
        if !(0...Self.fastest).contains(rate) { return "rate" }
        return [("stalls", stalls), ("framesDropped", framesDropped ?? 0)].first { !(0...Self.most).contains($0.1) }?.0
    }

    /// What has come about since an earlier report of the same playback.
    public func since(_ earlier: PlayerReport?) -> PlayerReport {
        guard let earlier else { return self }
        var rest = self
        rest.stalls = max(0, stalls - earlier.stalls)
        rest.stallTime = max(0, stallTime - earlier.stallTime)
        rest.framesDropped = framesDropped.map { max(0, $0 - (earlier.framesDropped ?? 0)) }
        // Its start was the earlier session's.
        rest.startup = nil
        return rest
    }
}
