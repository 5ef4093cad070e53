/// Limits how often and for how long a failed GET is retried.
///
/// Both limits count from the last progress: a byte that the receiver did not have yet. The first pauses are short,
/// since a player gives up after eight to ten seconds: 0.25, 0.5, 1, 2 and 4 s, each shortened at random by up to half,
/// so that transfers that failed together do not return together. An origin's Retry-After is honoured up to
/// `longestPause`.
public struct RetryPolicy: Hashable, Sendable {
    /// Attempts after the first.
    public var attempts = 5
    /// No attempt begins later than this after the last progress; nil for no limit but `attempts`.
    public var timeLimit: Duration?
    /// The first pause.
    public var firstPause = Duration.milliseconds(250)
    /// The limit of a doubled pause and of an honoured Retry-After.
    public var longestPause = Duration.seconds(60)

    /// The defaults.
    public init() {}

    /// No retries.
    public static var never: RetryPolicy {
        var policy = RetryPolicy()
        policy.attempts = 0
        return policy
    }

    /// For a player that has received the beginning of a body, or that has nothing else to play. Aborting would lose
    /// the rest, since ffmpeg and VLC do not request it again, and an error ends VLC and Chromium. So the transfer
    /// waits for the network to return; its attempts cost little.
    public static var whilePlayerWaits: RetryPolicy {
        var policy = RetryPolicy()
        (policy.attempts, policy.timeLimit, policy.longestPause) = (.max, .seconds(60), .seconds(2))
        return policy
    }

    /// The pause before the next attempt; nil to give up.
    ///
    /// - Parameters:
    ///   - failures: failed attempts since the last progress, this one included.
    ///   - jitter: 0 to 1, the share of the random half that is subtracted.
    func pause(afterFailures failures: Int, silentFor silence: Duration, retryAfter: Duration?, jitter: Double)
        -> Duration?
    {
        guard failures <= attempts else { return nil }
        var pause = firstPause
        for _ in 1..<max(failures, 1) where pause < longestPause { pause = pause * 2 }
        pause = min(pause, longestPause) * (1 - min(max(jitter, 0), 1) / 2)
        if let retryAfter { pause = min(max(pause, retryAfter), longestPause) }
        if let timeLimit, silence + pause > timeLimit { return nil }
        return pause
    }
}
