import HTTPMessage

/// Remembers which origins answer by HTTP/2, and which are asked by HTTP/1.1 because HTTP/2 has failed there. Pure.
struct HTTPVersions {
    private enum Entry {
        case http1
        /// With the number of failed streams since the last reply.
        case http2(failedStreams: Int)
        /// HTTP/2 is not used until then.
        case avoided(until: ContinuousClock.Instant)
    }

    /// The extent of a failure of HTTP/2.
    enum Fault: Equatable {
        /// One stream was reset or refused.
        case stream
        /// The connection ended, and with it all its streams.
        case connection
        /// Frames could not be read or were out of order, so that the connection is lost.
        case framing
        /// libcurl has put the request on a connection of HTTP/1.1 that is in use.
        case collision
        /// The origin requires HTTP/1.1 (RFC 9113 §7, HTTP_1_1_REQUIRED).
        case http1Required
    }

    /// Requests of one kind to one origin. libcurl 7.88 reports some faults of HTTP/2 as the end of a body, which shows only if
    /// its length is known. So bodies without one are fetched by HTTP/1.1, whose chunks have an end.
    private struct LengthlessKind: Hashable {
        let origin: WebURL.Origin
        let isPlaylist: Bool
    }

    private var entries: [WebURL.Origin: Entry] = [:]
    /// Origins that have sent a body without its length; see `LengthlessKind`.
    private var lengthless: Set<LengthlessKind> = []

    /// Time for which an origin is asked by HTTP/1.1 after a fault: servers are mended, but not within minutes.
    static let avoidance = Duration.seconds(3600)
    /// So many streams in a row without a reply are no accident.
    static let mostFailedStreams = 4
    private static let maximumCount = 1_000

    /// True if requests share one connection, as the last reply showed.
    func isMultiplexed(_ origin: WebURL.Origin) -> Bool {
        if case .http2? = entries[origin] {
            true
        } else {
            false
        }
    }

    /// True if HTTP/2 may be offered.
    func mayMultiplex(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        guard origin.scheme == .https else { return false }
        if case .avoided(let end)? = entries[origin] {
            return now >= end
        }
        return true
    }

    /// True if a request should wait for a connection that is being opened, because it can probably share it.
    func mayShare(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        if case .http1? = entries[origin] {
            return false
        }
        return mayMultiplex(origin, now: now)
    }

    /// Records a reply to a request that offered HTTP/2.
    mutating func recordReply(_ origin: WebURL.Origin, isHTTP2: Bool, now: ContinuousClock.Instant) {
        // A stream that began before the fault.
        guard mayMultiplex(origin, now: now) else { return }
        if entries.count >= Self.maximumCount, entries[origin] == nil {
            entries = [:]
        }
        if isHTTP2 {
            entries[origin] = .http2(failedStreams: 0)
        } else {
            entries[origin] = .http1
        }
    }

    /// True if replies of this kind have lengths, as far as is known.
    func hasLengths(_ origin: WebURL.Origin, isPlaylist: Bool) -> Bool {
        !lengthless.contains(LengthlessKind(origin: origin, isPlaylist: isPlaylist))
    }

    mutating func recordLengthless(_ origin: WebURL.Origin, isPlaylist: Bool) {
        if lengthless.count >= Self.maximumCount {
            lengthless = []
        }
        lengthless.insert(LengthlessKind(origin: origin, isPlaylist: isPlaylist))
    }

    mutating func record(_ fault: Fault, of origin: WebURL.Origin, now: ContinuousClock.Instant) {
        if fault == .connection || fault == .collision {
            return
        }
        if fault == .stream, case .http2(let failed)? = entries[origin], failed + 1 < Self.mostFailedStreams {
            entries[origin] = .http2(failedStreams: failed + 1)
        } else if fault != .stream || isMultiplexed(origin) {
            entries[origin] = .avoided(until: now + Self.avoidance)
        }
    }
}
