/// For how long players wait for the first byte of a segment.
///
/// hls.js and GStreamer give up after 10 to 15 s, and most say nothing of it. Those that are known to wait longer may be
/// made to, while they have more than that ahead: segments of 6 s and more, on a slow link, come in a better quality so.
enum PlayerPatience {
    /// What those wait at least who were seen to wait for 25 s.
    private static let long = Duration.seconds(20)
    /// What FFmpeg's programs, mpv and VLC call themselves.
    private static let names = ["Lavf/", "libmpv", "VLC/"]

    /// How long a player waits, by what it calls itself; nil where that is not known.
    static func of(client: String?) -> Duration? {
        guard let client, names.contains(where: client.hasPrefix) else { return nil }
        return long
    }
}
