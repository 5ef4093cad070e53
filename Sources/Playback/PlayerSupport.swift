import HTTPMessage

/// Knowledge of the players that are built on libavformat: FFmpeg's programs and mpv.
enum Libavformat {
    private static let names = [Array("Lavf/".utf8), Array("libmpv".utf8)]

    /// True for a request that libavformat has sent. It loads the playlists of all variants and of their sound before any media, one
    /// after the other. It reads a body without a length to its end as well as any other: a length that the origin states too small
    /// would take the rest from the player, which it reads at the origin if its connection ends there.
    static func sent(_ head: RequestHead) -> Bool {
        guard let client = head.firstValue(of: .userAgent) else { return false }
        return names.contains { client.starts(with: $0) }
    }
}

/// Knowledge of players that open every variant before the first picture, and show the one with the highest BANDWIDTH.
enum VariantSupport {
    /// True for mpv, unless its option `hls-bitrate` says otherwise. ffplay and ffmpeg open all too, but use any of them.
    static func showsHighest(_ head: RequestHead) -> Bool {
        head.firstValue(of: .userAgent)?.starts(with: Array("libmpv".utf8)) ?? false
    }
}

/// Knowledge of players that do not request segments with EXT-X-GAP. All others do, and some stop there.
enum GapSupport {
    /// True for Apple's players, ExoPlayer and scripts in browsers, such as hls.js. A browser's own HLS player hangs at a gap;
    /// it asks for playlists by range, which scripts do not.
    static func of(_ head: RequestHead) -> Bool {
        guard let client = head.firstValue(of: .userAgent).map({ String(decoding: $0, as: UTF8.self) }) else {
            return false
        }
        if client.contains("AppleCoreMedia") || client.contains("ExoPlayer") { return true }
        return client.hasPrefix("Mozilla/") && head.firstValue(of: .range) == nil
    }
}
