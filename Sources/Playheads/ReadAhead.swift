/// The properties of a player that decide what its requests and its sockets show.
public struct PlayerTraits: Equatable, Sendable {
    /// True if it plays the part of a segment that it has. Scripts in browsers hand over whole segments.
    public var playsParts: Bool
    /// Media that it gathers after it ran dry before it plays on, in seconds.
    public var resume: Double
    /// True if it keeps its connections open while it runs, paused too, and closes them when it ends.
    public var keepsConnections: Bool
    /// True if its connections outlive a playback, as those of browsers do.
    public var poolsConnections: Bool

    /// Makes the traits of an unknown player.
    public init(
        playsParts: Bool = false, resume: Double = 0, keepsConnections: Bool = false, poolsConnections: Bool = false
    ) {
        self.playsParts = playsParts
        self.resume = resume
        self.keepsConnections = keepsConnections
        self.poolsConnections = poolsConnections
    }
}

/// The amount of media that a player keeps ahead of its playhead. Pure.
///
/// Most players read until they have enough (hls.js 30 s, VLC 35 s, ffplay a few), and then request the next segment each time
/// they have played one. The buffer at these requests is the same each time. A smaller one shows a pause: the playhead is
/// further back than real time says. A larger one, several times, shows a higher speed. No request at all shows that the
/// player has stopped. A player that reads everything at once (mpv, up to 150 MB) shows nothing of this.
struct ReadAhead {
    /// The buffer at which the player requests more, in seconds; nil while that is unknown.
    private(set) var target: Double?
    /// True while the player requests a segment only when it has played one.
    private(set) var isSteady = false
    private var excesses = 0
    /// The buffer at the latest request, until a second one confirms it.
    private var candidate: Double?
    /// A player that lets at least this share of a segment's duration pass after a delivery waits for its buffer.
    private static let waitingShare = 0.4
    /// A larger buffer this many times in a row shows a higher speed.
    private static let convincing = 3

    /// Smaller differences between two buffers mean nothing, in seconds.
    static func tolerance(_ segment: Double) -> Double { min(1.5, max(0.5, 0.4 * segment)) }

    /// Records a request for the next segment.
    /// - Parameters:
    ///   - buffer: the inferred buffer at that moment, in seconds.
    ///   - wait: time since the last delivery, in seconds.
    /// - Returns: the true buffer if the inferred one is wrong; nil if it is right or cannot be judged.
    mutating func requested(buffer: Double, after wait: Double, segment: Double) -> Double? {
        let tolerance = Self.tolerance(segment)
        guard wait >= Self.waitingShare * segment, buffer > tolerance else {
            isSteady = false
            return nil
        }

        let wasSteady = isSteady
        isSteady = true

        guard let target else {
            if let candidate, wasSteady, abs(buffer - candidate) <= tolerance {
                target = candidate
            }
            candidate = buffer
            return nil
        }

        // It has filled its buffer further than before.
        if !wasSteady, buffer > target + tolerance {
            self.target = buffer
        }
        if wasSteady, buffer > target + tolerance {
            excesses += 1
        } else {
            excesses = 0
        }

        guard buffer < target - tolerance || excesses >= Self.convincing else { return nil }
        return target
    }

    /// Records a seek or a stall: the player fills its buffer again.
    mutating func restart() {
        isSteady = false
        excesses = 0
    }
}
