import EventLoop
import Fetching
import HTTPMessage
import Origin
import Playheads

/// Known timeouts of players for the first byte of a segment. hls.js and GStreamer give up after 10 to 15 s, and most
/// players do not document their timeout. A player that is known to wait longer may be kept waiting while it has more
/// than that in its buffer: segments of 6 s and more then arrive in a better quality on a slow link.
enum PlayerTimeout {
    /// User-Agent prefixes of FFmpeg's programs, mpv and VLC.
    private static let names = ["Lavf/", "libmpv", "VLC/"]

    /// Returns the timeout by the head of a request; nil if it is unknown.
    static func of(_ head: RequestHead) -> Duration? {
        of(client: head.firstValue(of: .userAgent).map { String(decoding: $0, as: UTF8.self) })
    }

    /// Returns the timeout by User-Agent; nil if it is unknown.
    static func of(client: String?) -> Duration? {
        guard let client, names.contains(where: client.hasPrefix) else { return nil }
        return GiveUpRule.longPlayerTimeout
    }
}

extension PlayerTraits {
    /// The traits of a player by its User-Agent.
    static func of(client: String?) -> PlayerTraits {
        guard let client else { return PlayerTraits() }
        // cache-pause-wait is 1 s by default.
        if client.hasPrefix("libmpv") { return PlayerTraits(playsParts: true, resume: 1, keepsConnections: true) }
        if client.hasPrefix("Lavf/") { return PlayerTraits(playsParts: true, resume: 0.2, keepsConnections: true) }
        return PlayerTraits(poolsConnections: client.hasPrefix("Mozilla/"))
    }
}

/// Watches a fetch of which nothing is sent yet, and fires when it makes no progress: see `GiveUpRule`.
@LoopActor final class StallWatch {
    private var timer: LoopTimer?
    private var written: Int64
    private var since = ContinuousClock.now

    init(of fetch: Fetch, _ action: @escaping @LoopActor () -> Void) {
        written = fetch.written
        timer = LoopTimer { [unowned self, unowned fetch] in
            if written != fetch.written { (written, since) = (fetch.written, .now) }
            if GiveUpRule.decision(withoutProgressFor: .now - since) == .substitute { return action() }
            timer?.schedule(after: GiveUpRule.stallCheck)
        }
        timer?.schedule(after: GiveUpRule.stallCheck)
    }

    func cancel() { timer = nil }
}
