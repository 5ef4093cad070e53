/// Decides when to give up on an origin: all time limits, and what follows when one has passed.
///
/// Pure: a transfer, a fetch, a reply, a download and a recording keep timers, report what happened, and do what the rule
/// answers. Each level has a clock of its own, because a different party waits there:
///
/// | level | clock | limit | then |
/// |---|---|---|---|
/// | request | the host's name | `resolveLimit`, 15 s | retry |
/// | request | TCP connection | `connectLimit`, 5 s for all addresses | retry |
/// | request | TLS handshake, way through a proxy | `handshakeLimit`, 10 s | retry |
/// | request | arrival at the peer | `unacknowledgedLimit`, 15 s | retry |
/// | request | reply's head | `firstByteLimit`, 30 s; less for the first try if there is a `Doubt`: 10 or 15 s | retry |
/// | request | body | `stallBytes` in each `stallSpan`, 30 s; see also `silenceSpan` | retry |
/// | request | body, silent where the media can end before the stated length | `silenceAtEnd`, 5 s | retry |
/// | request | body, silent behind a stated length that is in doubt, or that of a stream | `silenceBehindLength`, 0.2 s | end of the body |
/// | transfer | retries | 5 with pauses up to 4 s; `whilePlayerWaits`: begun within 60 s of the last byte | refuse |
/// | origin | absence | 2 transfers in a row could not reach it: `absencePauses`, 5 to 60 s | refuse at once |
/// | origin | death (`HostReach`) | it refuses or has no address while others answer: `deadPause`, 30 s | refuse at once |
/// | entry of a session | silence, if something stored plays | `entrySilence`, 1 s | play that |
/// | entry of a session | an error, if something stored plays | one request | play that |
/// | comparison with a stored segment | reply | `comparisonLimit`, 10 s; `comparisonLimitWhileAwaited`, 4 s | go on |
/// | fetch | silence | `originSilence`, 4 s | switch source, or send the head |
/// | reply | first byte | `playerTimeout`, 8 s | send the head, or refuse |
/// | reply that needs all bytes | progress | `stallLimit`, 4 s | substitute |
/// | download, recording | failures | `downloadRetries`; `RecordingLimits` | refuse |
///
/// A redirect counts as one more request. Time does not count while Weir pauses a transfer or lets it wait for one of the
/// host's slots. "Refuse" gives a player a substitute if there is one.
///
/// **Worst case for a player.** A segment request has its answer within 8 s: bytes, a substitute, a head or an error. It
/// comes at once from the store, or as a substitute while the origin is presumed absent, and after 4 s if the origin has
/// sent only its head. It comes later in two cases. A reply that needs all bytes waits while they arrive; it is replaced
/// 4.5 s after the last one, or else fails with the fetch, at most 150 s after that byte. A player whose quality Weir
/// chooses may wait 8 s, or 20 s if it is known to wait longer, before these 8 s begin. A body that has begun is cut off
/// after 150 s without a byte from an absent origin (the last attempt begins within 60 s, and has 30 s for its connection,
/// 30 s for its head and 30 s for a byte), or as a download's transfer if the origin answers with errors. A playlist takes
/// at most 60 s, and 4 s for each other mirror; the entry of a session 1 s if something stored can be played. A live playlist
/// is shown unchanged for up to 300 s.
///
/// **Worst case for a download.** A transfer without a reply fails after 188 s: 6 attempts of 30 s and pauses of 7.75 s.
/// Stalling bodies lengthen that to 368 s after the last byte: a stall is noticed within 60 s, and five more attempts take
/// 60 s each. An origin that asks for pauses of a minute (Retry-After) lengthens it to 510 s. The download then pauses, for
/// 2 to 60 s, and begins again: without end for an absent origin; twice after an error that may pass, so that it fails
/// after 300 s of 5xx, and within 1266 s. Each attempt that needs a new connection adds the time for it, at most 30 s: 15 s
/// for the name, 5 s for TCP and 10 s for TLS. Any other error ends a download at once, or after a second look 2 s later. A recording ends after 60 s of 404
/// or 410, and after 600 s, or three target durations, without a new segment.
public struct GiveUpRule: Sendable {
    /// The next step for whoever waits.
    public enum Decision: Hashable, Sendable {
        case wait
        /// Send the request again after this time.
        case retry(after: Duration)
        /// Cancel the request and ask the next source; a player gets a substitute if there is none.
        case switchSource
        /// Send the player the head of its reply, so that it waits for the body.
        case sendHead
        /// Answer with other media.
        case substitute
        /// Give up. A player gets a substitute, or else an error.
        case refuse
    }

    // MARK: Limits of transfers

    /// Limit for resolving the host's name.
    public var resolveLimit = Duration.seconds(15)
    /// Limit for TCP, which tries several addresses: each gets half of the time that is left, and the last one all of it.
    public var connectLimit = Duration.seconds(5)
    /// Limit for TLS, and for the way through a proxy, once TCP is connected.
    public var handshakeLimit = Duration.seconds(10)
    /// From the first byte of the request to its reply's head.
    public var firstByteLimit = Duration.seconds(30)
    /// `firstByteLimit` for the first attempt of a transfer with the default policy, if the name has another address that
    /// has not failed: some edges of a CDN accept requests and never answer.
    public var otherAddressLimit = Duration.seconds(10)
    /// As `firstByteLimit`, if not even the request has arrived: the network has lost it.
    public var unacknowledgedLimit = Duration.seconds(15)
    /// While a request on a connection that was used before has had no reply for this long, new requests to its origin go by
    /// connections that were used since: after a change of networks all earlier ones are dead.
    public var suspectSilence = Duration.seconds(4)
    /// If a request is given up on a connection that it shares, and nothing has arrived there for this long, the connection is
    /// presumed lost.
    public var sharedSilence = Duration.seconds(2)
    /// A body must deliver `stallBytes` in each span of this length.
    public var stallSpan = Duration.seconds(30)
    /// 1 KB/s over 30 s.
    public var stallBytes: Int64 = 30 * 1024
    /// If nothing of a body arrives in this time, and a player waits for it and has nothing else, the body is continued on
    /// another connection: after a change of networks nothing reports that the old connection is dead. Doubles with
    /// each failure, up to eightfold.
    public var silenceSpan = Duration.seconds(8)
    /// If nothing of a body arrives in this time where the media can end, the body is requested again.
    public var silenceAtEnd = Duration.seconds(5)
    /// If a stated length is in doubt, and the origin keeps the connection, nothing may arrive behind that length for this
    /// long before it counts as right. What an origin sends behind a length that is too small follows at once.
    public var silenceBehindLength = Duration.milliseconds(200)
    /// The default of requests without their own policy.
    public var retries = RetryPolicy()
    /// The policy while a player waits for the rest of a body and the origin is away.
    public var retriesWhilePlayerWaits = RetryPolicy.whilePlayerWaits
    /// Consecutive transfers that fail to reach an origin before it is presumed absent.
    public var absenceThreshold = 2
    /// First and longest time for which an origin is presumed absent.
    public var absencePauses = Duration.seconds(5)...Duration.seconds(60)
    /// Time after which a dead host is looked at again.
    public var deadPause = Duration.seconds(30)
    /// Time for a look at a host that has not answered yet.
    public var lookLimit = Duration.seconds(1)
    /// Time between two looks at a host that stays silent.
    static let lookPause = Duration.seconds(30)
    /// A host that refuses connections this long after it answered may be restarting.
    static let restartTime = Duration.seconds(6)
    /// A reply of a host that is younger than this makes a look at it needless.
    static let recentReply = Duration.seconds(60)
    /// Time for which an absent origin is probed after its last request.
    public var absenceInterest = Duration.seconds(600)
    /// Time limit of a request for a playlist, retries included, if the caller has nothing in place of it.
    public var playlistDeadline = Duration.seconds(60)
    /// Time limit of a request by which stored content is compared with the origin's.
    public var comparisonLimit = Duration.seconds(10)
    /// Limit of such a request while a player or a download waits for it.
    public var comparisonLimitWhileAwaited = Duration.seconds(4)
    /// The time for which a body that was paused by us may be silent when it goes on: the system has what came meanwhile.
    static let resumedLimit = Duration.seconds(3)
    /// Time for an unwanted body to end, so that its connection can be kept.
    static let skipLimit = Duration.seconds(2)
    /// libcurl closes connections that are idle for longer (CURLOPT_MAXAGE_CONN).
    static let connectionLife = Duration.seconds(118)

    /// The defaults.
    public init() {}

    // MARK: Requests and transfers

    /// The party that waits for a transfer, as far as retries depend on it.
    enum Waiter {
        /// A download, or a player that has an alternative.
        case anyone
        /// A player that has no alternative once the first byte has arrived.
        case playerOnceBegun
        /// A player that has no alternative.
        case player
    }

    /// A failed attempt, with the time since the last byte that was new.
    struct Failure {
        var code: OriginError.Code
        /// Failed attempts since that byte, this one included.
        var count: Int
        var silence: Duration
        var retryAfter: Duration?
        var isBegun = false
        var isHostDead = false
    }

    /// Decides to retry or to refuse after a failed attempt.
    /// - Parameters:
    ///   - policy: the request's own policy; nil for the default. An origin that is away is waited for longer by a player
    ///     without an alternative.
    ///   - jitter: 0 to 1, the share of the random half of a pause that is subtracted.
    func decision(
        after failure: Failure, for waiter: Waiter, policy: RetryPolicy?, jitter: @autoclosure () -> Double
    ) -> Decision {
        // A body that a player has begun is waited for in any case: an end would lose the rest.
        if failure.isHostDead, !failure.isBegun {
            return .refuse
        }
        let isInsisting = waiter == .player || waiter == .playerOnceBegun && failure.isBegun
        var chosen = policy ?? retries
        if failure.code.isAway, isInsisting {
            chosen = retriesWhilePlayerWaits
        }
        let pause = chosen.pause(
            afterFailures: failure.count, silentFor: failure.silence, retryAfter: failure.retryAfter, jitter: jitter())
        guard let pause else { return .refuse }
        return .retry(after: pause)
    }

    /// The span in which a body must make progress, with the next check of it.
    struct BodyWatch: Equatable {
        /// Bytes received at the start of the span, and at the latest check.
        var start, latest: Int64
        /// Time until the next check, and the rest of the span after it.
        var pause, left: Duration
    }

    /// Begins a span. With `isInsisting`, a player without an alternative waits, so that silence is noticed earlier.
    func watch(bodyAt received: Int64, failures: Int, isInsisting: Bool) -> BodyWatch {
        watch(since: received, received, stallSpan, failures: failures, isInsisting: isInsisting)
    }

    /// Continues the span after a check, or begins the next one; nil if the request must be retried. A transfer that
    /// cannot be resumed is not stopped within its span.
    func watch(
        after check: BodyWatch, bodyAt received: Int64, isResumable: Bool, failures: Int, isInsisting: Bool
    ) -> BodyWatch? {
        guard check.left == .zero else {
            guard received > check.latest || !isResumable else { return nil }
            return watch(since: check.start, received, check.left, failures: failures, isInsisting: isInsisting)
        }
        guard received - check.start >= stallBytes else { return nil }
        return watch(bodyAt: received, failures: failures, isInsisting: isInsisting)
    }

    private func watch(
        since start: Int64, _ received: Int64, _ span: Duration, failures: Int, isInsisting: Bool
    ) -> BodyWatch {
        var pause = span
        if isInsisting {
            pause = min(span, silenceSpan * (1 << min(failures, 3)))
        }
        return BodyWatch(start: start, latest: received, pause: pause, left: span - pause)
    }

    // MARK: Origins

    /// True if an origin that was unreachable this many times in a row is presumed absent.
    func isAbsent(afterFailures failures: Int) -> Bool { failures >= max(1, absenceThreshold) }

    /// How long an origin stays absent, if it was for `previous` the last time.
    func absence(after previous: Duration) -> Duration {
        min(max(previous * 2, absencePauses.lowerBound), absencePauses.upperBound)
    }

    /// True if a transfer that still waits has failed as often as any other would, so that the absence is known.
    func isAbsenceReported(afterFailures failures: Int) -> Bool { failures - 1 == retries.attempts }

    /// Maximum age in seconds of a connection that is reused, if a request timed out this long ago; nil for any age.
    static func connectionAge(sinceTimeout elapsed: Duration) -> Int? {
        guard elapsed < connectionLife else { return nil }
        return Int(elapsed.components.seconds)
    }

    // MARK: Fetches and players

    /// An origin may be silent for this long before a player is given its head, or another source is asked. Players give
    /// up on a server that is silent for 10 s (hls.js, GStreamer's hlsdemux2).
    package static let originSilence = Duration.seconds(4)
    /// A player waits this long for the first byte; hls.js and GStreamer give up after 10 s.
    public static let playerTimeout = Duration.seconds(8)
    /// Lower bound for players that were observed to wait for 25 s.
    package static let longPlayerTimeout = Duration.seconds(20)
    /// The entry playlist may be silent for this long before a session plays what is stored.
    package static let entrySilence = Duration.seconds(1)
    /// A live playlist may be shown unchanged for this long while each newer segment is a dead host's, as in an advertisement.
    package static let omissionLimit = Duration.seconds(300)
    /// Maximum time without progress of a reply that needs all bytes: short enough for a player with one segment left.
    static let stallLimit = Duration.seconds(4)
    /// Interval between checks of the progress.
    package static let stallCheck = Duration.milliseconds(500)

    /// A fetch and its most demanding reader.
    package struct Fetching {
        /// True if a player waits; false for a download, which has no clock but its transfer's.
        package var isPlayer: Bool
        /// True if the player can play other media.
        package var hasFallback: Bool
        /// True if another source of the resource is known.
        package var hasUntriedSource: Bool
        /// True if the name stands for the same bytes for ever. A live segment is gone when the network is back.
        package var isLasting: Bool
        /// True if bytes are sent as they arrive.
        package var isStreamed: Bool

        package init(isPlayer: Bool, hasFallback: Bool, hasUntriedSource: Bool, isLasting: Bool, isStreamed: Bool) {
            self.isPlayer = isPlayer
            self.hasFallback = hasFallback
            self.hasUntriedSource = hasUntriedSource
            self.isLasting = isLasting
            self.isStreamed = isStreamed
        }

        /// True if the present source need not be insisted on.
        package var hasAlternative: Bool { hasFallback || hasUntriedSource }
    }

    /// True if an absent origin is waited for: a player has nothing else to play, and the bytes are worth the wait.
    package static func isInsisting(_ fetching: Fetching) -> Bool {
        fetching.isPlayer && fetching.isLasting && !fetching.hasAlternative
    }

    /// Decides what happens once the origin was silent for `originSilence`, before its head or between head and body.
    package static func decision(afterSilenceOf fetching: Fetching, hasHead: Bool) -> Decision {
        guard fetching.isPlayer else { return .wait }
        if hasHead {
            guard fetching.isStreamed, !fetching.hasFallback else { return .wait }
            return .sendHead
        }
        guard fetching.hasAlternative else { return .wait }
        return .switchSource
    }

    /// Decides what a player gets that has waited for `playerTimeout`; `needsAll` if its reply needs all bytes, and
    /// `isAwaited` if it has nothing else to play, and the origin may still answer. Most players wait for ever then
    /// (`isPatient`), and the others for longer once they have the head.
    package static func decision(
        afterTimeoutOf needsAll: Bool, hasBytes: Bool, isAwaited: Bool, isPatient: Bool = false
    ) -> Decision {
        if needsAll {
            guard hasBytes || isAwaited && isPatient else { return .refuse }
            return .wait
        }
        guard isAwaited else { return .refuse }
        return .sendHead
    }

    /// Decides what happens to a reply that needs all bytes when none has arrived for this long.
    package static func decision(withoutProgressFor elapsed: Duration) -> Decision {
        guard elapsed >= stallLimit else { return .wait }
        return .substitute
    }

    /// The content that the caller has in place of the playlist that it requests, which limits the time for it.
    package enum PlaylistAlternative {
        /// A part of the asset is stored: the origin gets as long as players wait.
        case part
        /// All of it is stored.
        case complete
        /// Another mirror; `limit` applies without one, and nil stands for `playlistDeadline`.
        case mirror(limit: Duration?)
        /// The known playlist; only the URLs in it are refused.
        case refusedURLs
        /// The player plays on without the list of an interstitial's assets.
        case programme
        /// The known live playlist, for another of its target durations.
        case olderPlaylist(targetDuration: Duration)
        /// Nothing: the origin holds the response until there is a change (rfc8216bis §6.2.5.2), for up to three target
        /// durations, and the network needs time too.
        case heldBack(targetDuration: Duration)
    }

    /// The time limit of a request for a playlist, retries included.
    package static func deadline(with alternative: PlaylistAlternative) -> Duration {
        switch alternative {
        case .part, .programme: .seconds(8)
        case .complete, .refusedURLs: .seconds(3)
        case .mirror(let limit): min(limit ?? .seconds(4), .seconds(4))
        case .olderPlaylist(let targetDuration): max(targetDuration, .seconds(2))
        case .heldBack(let targetDuration): targetDuration * 3 + .seconds(5)
        }
    }

    /// The age up to which a known live playlist is shown while its origin does not answer. Its segments stay available
    /// for its duration (RFC 8216 §6.2.2); after some minutes without a change, an error is better for the player.
    package static func livePlaylistLife(duration: Duration, targetDuration: Duration) -> Duration {
        min(max(duration, targetDuration * 3), .seconds(300))
    }

    // MARK: Downloads and recordings

    /// Number of retries of a download after errors that may pass. Each transfer has already been retried by then.
    package static let downloadRetries = 2
    /// Number of retries after an answer that is rarely wrong, such as 404.
    package static let downloadSecondLooks = 1
    /// The first pause of a download before it begins again, and the longest. Pauses double in between.
    package static let downloadPauses = Duration.seconds(2)...Duration.seconds(60)

    /// The reason why a piece of a download could not be fetched.
    package enum DownloadFault {
        /// The origin cannot be reached, or may not be asked.
        case absent
        case transient
        /// The origin answers for this piece with an error or with something else. Busy edges do so for a moment.
        case doubtful
        /// The origin refuses the piece. Signed URLs may be valid for only a few requests.
        case refused
        /// The origin refuses a key: the user may be given access later.
        case refusedKey
        case permanent
    }

    /// Decides to retry or to refuse after a failed piece. `failures` counts earlier ones since the last piece that
    /// arrived; `hasProgressed` if one arrived since the last refusal.
    package static func decision(
        afterDownloadFault fault: DownloadFault, failures: Int, hasProgressed: Bool, pauses: ClosedRange<Duration>
    ) -> Decision {
        let mayRetry =
            switch fault {
            case .absent, .refusedKey: true
            case .transient: failures < downloadRetries
            case .doubtful: failures < downloadSecondLooks
            case .refused: hasProgressed
            case .permanent: false
            }
        guard mayRetry else { return .refuse }
        return .retry(after: downloadPause(afterFailures: failures, pauses))
    }

    /// The time for which a download waits in all for a host that refuses everything with 403: such a ban for too many requests
    /// ends within a minute, and any other refusal does not end.
    package static let longestBan = Duration.seconds(60)

    /// The pause of a download before it begins again.
    package static func downloadPause(afterFailures failures: Int, _ pauses: ClosedRange<Duration>) -> Duration {
        doubled(pauses.lowerBound, times: failures, upTo: pauses.upperBound)
    }

    /// Time for which an origin may fail before a recording ends.
    package struct RecordingLimits: Sendable {
        /// For 404 and 410: a presentation is removed (RFC 8216 §6.2.1), or an encoder restarts.
        package var gone = Duration.seconds(60)
        /// For an absent origin, any other answer, or a playlist without new segments: a router or a machine may be
        /// restarting. A stream that is more than 1.5 target durations late already breaks RFC 8216 §6.2.2.
        package var absent = Duration.seconds(600)

        package init(gone: Duration? = nil, absent: Duration? = nil) {
            if let gone {
                self.gone = gone
            }
            if let absent {
                self.absent = absent
            }
        }

        /// The time without a new segment after which a recording ends.
        package func absence(targetDuration: Duration) -> Duration { max(absent, targetDuration * 3) }

        /// Returns for how long a failing segment is retried; nil for as long as the recording itself waits.
        ///
        /// The origin must keep a segment for as long after its removal as it was listed (RFC 8216 §6.2.2). A segment
        /// that the origin reports as missing is retried for three target durations, the distance of a player from the
        /// live edge.
        package func segmentLimit(
            isListed: Bool, isMissing: Bool, isAbsent: Bool, isOver: Bool, targetDuration: Duration
        ) -> Duration? {
            if isListed, isAbsent, !isOver {
                return nil
            }
            let isOutOfSight = !isListed && !isAbsent
            let usual = targetDuration * 3
            guard isMissing || isOutOfSight else { return max(usual, gone) }
            return usual
        }
    }
}

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
    /// A Retry-After up to this is honoured beyond `timeLimit`.
    private var statedPause = Duration.zero

    /// The defaults.
    public init() {}
    private init(attempts: Int, timeLimit: Duration? = nil) {
        self.attempts = attempts
        self.timeLimit = timeLimit
    }

    /// No retries.
    public static var never: Self { Self(attempts: 0) }
    /// One retry, for requests whose answer has a replacement.
    package static var once: Self { Self(attempts: 1) }
    /// One retry, and none after an attempt of more than a second. An origin that names a short time is asked again then.
    package static var hasty: Self {
        var policy = Self(attempts: 1, timeLimit: .seconds(1))
        policy.statedPause = .seconds(2)
        return policy
    }

    /// For a player that has received the beginning of a body, or that has nothing else to play. Aborting would lose
    /// the rest, since ffmpeg and VLC do not request it again, and an error ends VLC and Chromium. So the transfer
    /// waits for the network to return; its attempts cost little.
    public static var whilePlayerWaits: Self {
        var policy = Self(attempts: .max, timeLimit: .seconds(60))
        policy.longestPause = .seconds(2)
        return policy
    }

    /// The pause before the next attempt; nil to give up. The parameters are those of `GiveUpRule.decision`.
    func pause(afterFailures failures: Int, silentFor silence: Duration, retryAfter: Duration?, jitter: Double)
        -> Duration?
    {
        guard failures <= attempts else { return nil }
        var pause = doubled(firstPause, times: failures - 1, upTo: longestPause) * (1 - min(max(jitter, 0), 1) / 2)
        if let retryAfter {
            pause = min(max(pause, retryAfter), longestPause)
        }
        var counted = pause
        if let retryAfter, retryAfter <= statedPause {
            // The origin itself stated when to return.
            counted = .zero
        }
        if let timeLimit, silence + counted > timeLimit {
            return nil
        }
        return pause
    }
}

private func doubled(_ pause: Duration, times: Int, upTo longest: Duration) -> Duration {
    var pause = pause
    for _ in 0..<max(0, times) where pause < longest {
        pause = pause * 2
    }
    return min(pause, longest)
}
