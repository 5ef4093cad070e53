/// Which segments a view leaves out although the playlist offers them: those that are not stored.
///
/// Where one is left out amid others, timestamps jump, and RFC 8216 §4.3.2.3 wants EXT-X-DISCONTINUITY there. What
/// players do with it differs by the container (measured: ffmpeg 5.1.9, mpv 0.35.1, VLC 3.0.24, Chromium 156). In
/// transport streams all play on with it, and Chromium stops at the jump without it. In fragmented MP4 all play on
/// without it, for fragments have their decode time (ISO/IEC 14496-12 §8.8.12), and VLC stops at it. So it depends on
/// `isMarked`, which must be the same for all renditions of a presentation, or they would have other Discontinuity
/// Sequence Numbers.
public struct MediaPlaylistCut: Equatable, Sendable {
    /// Whether a segment stays, by its place in the playlist; those behind the last place are left out.
    let stays: [Bool]
    /// Whether EXT-X-DISCONTINUITY stands behind what is left out amid others.
    let isMarked: Bool

    /// A cut of one playlist.
    public init(stays: [Bool], isMarked: Bool) {
        (self.stays, self.isMarked) = (stays, isMarked)
    }

    /// Whether it leaves out the segment at a place.
    func leavesOut(_ place: Int) -> Bool { place >= stays.count || !stays[place] }
}
