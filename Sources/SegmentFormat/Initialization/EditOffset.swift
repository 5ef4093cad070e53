/// What an edit list does to the times of a track whose samples are not cut (ISO/IEC 14496-12 §8.6.6).
///
/// An empty edit first lets the track begin later; the media time of the edit that follows lets it begin earlier.
public struct EditOffset: Hashable, Sendable {
    /// The length of the empty edit, in ticks of the movie.
    public var emptyTicks: UInt64 = 0
    /// Ticks a second of the movie.
    public var movieTimescale: UInt32 = 1
    /// The media time at which the presentation begins, in ticks of the track.
    public var mediaTime: Int64 = 0
    /// There are more edits than these two, or one at another speed: no offset can say what they do.
    public var isIntricate = false

    /// The offset in ticks of a track's timescale, rounded to the nearest.
    public func ticks(timescale: UInt32) -> Int64 {
        let empty = (Int128(emptyTicks) * Int128(timescale) + Int128(movieTimescale) / 2) / Int128(movieTimescale)
        return Int64(clamping: empty - Int128(mediaTime))
    }

    /// The part of a second that the movie's clock cannot tell, in ticks of a track, rounded up.
    func tolerance(timescale: UInt32) -> Int64 {
        emptyTicks == 0 ? 0 : Int64((UInt64(timescale) + UInt64(movieTimescale) - 1) / UInt64(movieTimescale))
    }
}
