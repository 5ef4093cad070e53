/// How often and for how long a failed GET is tried again.
///
/// Both bounds count from the last progress: a byte that the receiver did not have yet sets them back. The first pauses
/// are short, since a player behind them gives up after eight to ten seconds: 0.25, 0.5, 1, 2 and 4 s, each shortened
/// at random by up to half so that transfers that failed together do not return together. An origin's Retry-After is
/// kept, up to `longestPause`.
public struct RetryPolicy: Hashable, Sendable {
    /// Tries after the first one.
    public var attempts = 5
    /// No try begins later than this after the last progress; nil for no bound but `attempts`.
    public var patience: Duration?
    /// The first pause.
    public var firstPause = Duration.milliseconds(250)
    /// What a pause grows to by doubling, and the longest that a Retry-After is honoured for.
    public var longestPause = Duration.seconds(60)

    /// The defaults.
    public init() {}

    /// Fails at the first failure.
    public static var never: RetryPolicy {
        var policy = RetryPolicy()
        policy.attempts = 0
        return policy
    }

    /// For a player that has got the beginning of a body, or that has nothing else to play: to break off is to lose what
    /// is missing, since ffmpeg and VLC do not ask for the rest, and a refusal ends VLC and Chromium. So a network that is
    /// away is waited for. Trying costs little.
    public static var behindAReply: RetryPolicy {
        var policy = RetryPolicy()
        (policy.attempts, policy.patience, policy.longestPause) = (.max, .seconds(60), .seconds(2))
        return policy
    }

    /// The pause before the next try, or nil to give up.
    ///
    /// - Parameters:
    ///   - failures: how many tries failed since the last progress, this one included.
    ///   - jitter: 0 to 1: how much of the random half is taken off.
    func pause(afterFailures failures: Int, silentFor silence: Duration, retryAfter: Duration?, jitter: Double)
        -> Duration?
    {
        guard failures <= attempts else { return nil }
        var pause = firstPause
        for _ in 1..<max(failures, 1) where pause < longestPause { pause = pause * 2 }
        pause = min(pause, longestPause) * (1 - min(max(jitter, 0), 1) / 2)
        if let retryAfter { pause = min(max(pause, retryAfter), longestPause) }
        if let patience, silence + pause > patience { return nil }
        return pause
    }
}
