public import HLS

/// Start time of each segment of a playlist, summed up once instead of with each request.
///
/// Media time counts from the beginning of a playlist that has ended. In a live playlist that has lost its first
/// segments, each lost segment counts as one target duration; differences within one text are exact.
public struct MediaTimeline: Sendable {
    private let first: SequenceNumber
    /// Starts of the segments in seconds, and the end of the last one.
    package let times: [Double]

    /// Sums up the durations of the segments.
    public init(_ playlist: MediaPlaylist) {
        first = playlist.firstSequenceNumber
        let target = Double(playlist.targetDuration ?? 0)
        var time = playlist.isLive ? Double(Int(first)) * target : 0
        var times: [Double] = []
        times.reserveCapacity(playlist.segments.count + 1)
        for segment in playlist.segments {
            times.append(time)
            time += segment.duration.seconds
        }
        times.append(time)
        self.times = times
    }

    /// End of the media, in seconds.
    public var end: Double { times.last ?? 0 }

    /// The segment with a media sequence number; nil if the playlist does not list it.
    public func span(of number: Int) -> SegmentSpan? {
        let index = SequenceNumber(number) - first
        guard index >= 0, index < times.count - 1 else { return nil }
        return SegmentSpan(number: number, start: times[index], duration: times[index + 1] - times[index])
    }
}

/// A segment's position in its rendition and in time.
public struct SegmentSpan: Equatable, Sendable {
    /// The media sequence number.
    public let number: Int
    /// Start in media time, in seconds.
    public let start: Double
    /// In seconds.
    public let duration: Double

    /// Makes a span.
    public init(number: Int, start: Double, duration: Double) {
        self.number = number
        self.start = start
        self.duration = duration
    }

    /// End in media time, in seconds.
    public var end: Double { start + duration }
}
