package import HTTPMessage
import Origin
package import Playheads

/// Knowledge of the player that has sent a request, by its User-Agent.
package struct KnownPlayer {
    private let agent: ArraySlice<UInt8>

    package init(_ head: RequestHead) { agent = head.firstValue(of: .userAgent) ?? [] }

    /// - Parameter client: the User-Agent; nil if there was none.
    package init(client: String?) { agent = ArraySlice(client?.utf8 ?? "".utf8) }

    private var isMPV: Bool { agent.starts(with: "libmpv".utf8) }
    private var isFFmpeg: Bool { agent.starts(with: "Lavf/".utf8) }
    private var isVLC: Bool { agent.starts(with: "VLC/".utf8) }

    /// True for scripts and players of browsers.
    package var isBrowser: Bool { agent.starts(with: "Mozilla/".utf8) }

    /// True if its User-Agent is the one that it has without being told. Weir sends such a one on while the player plays, and does not
    /// keep it.
    package var hasStockName: Bool {
        isLibavformat || isVLC || Self.otherStockNames.contains { agent.starts(with: $0.utf8) }
    }
    private static let otherStockNames = ["mpv", "GStreamer", "curl/", "Wget/", "Python-urllib", "Weir/"]

    /// True for FFmpeg's programs and mpv, which are built on libavformat. They load the playlists of all variants and of their sound
    /// before any media, one after the other, and then the beginning of each variant. Then they show one variant: mpv the one with
    /// the highest BANDWIDTH, unless its option `hls-bitrate` says otherwise, ffmpeg the one with the largest picture, and ffplay one
    /// of the first. They get bodies without a length, because they read them to their end as well as others: they would not read
    /// what follows a length that the origin states too small.
    package var isLibavformat: Bool { isFFmpeg || isMPV }

    /// True if it begins three or four segments before the end of a playlist that grows, whatever the playlist says: it does not read
    /// EXT-X-START.
    package var beginsAtEnd: Bool { isLibavformat || isVLC || agent.starts(with: "GStreamer".utf8) }

    /// True for Apple's players, ExoPlayer and scripts in browsers, such as hls.js: they do not request segments with EXT-X-GAP. All
    /// others do, and some stop there. A browser's own HLS player hangs at a gap.
    /// - Parameter isRange: true if it asks for playlists by range, as a browser's own player does, and scripts do not.
    package func skipsGaps(isRange: Bool) -> Bool {
        let name = String(decoding: agent, as: UTF8.self)
        if name.contains("AppleCoreMedia") || name.contains("ExoPlayer") {
            return true
        }
        return isBrowser && !isRange
    }

    /// The time after which it gives up if no byte of a segment has come; nil if it is unknown. hls.js and GStreamer give up after 10 to
    /// 15 s, and most players do not document their timeout. A player that is known to wait longer may be kept waiting while it has
    /// more than that in its buffer: segments of 6 s and more then arrive in a better quality on a slow link.
    package var timeout: Duration? {
        guard isLibavformat || isVLC else { return nil }
        return GiveUpRule.longPlayerTimeout
    }

    /// The traits that its requests and its sockets show.
    package var traits: PlayerTraits {
        // cache-pause-wait is 1 s by default.
        if isMPV {
            return PlayerTraits(playsParts: true, resume: 1, keepsConnections: true)
        }
        if isFFmpeg {
            return PlayerTraits(playsParts: true, resume: 0.2, keepsConnections: true)
        }
        return PlayerTraits(poolsConnections: isBrowser)
    }
}
