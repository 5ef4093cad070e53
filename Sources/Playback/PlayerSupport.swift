import HTTPMessage

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
