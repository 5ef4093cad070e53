package import Playlist

/// When each segment of a playlist begins in media time, so that nobody adds durations up again for each request.
///
/// Media time counts from the beginning of a playlist that has ended. In one that goes on and has lost its first
/// segments they are taken to have lasted a target duration each: differences within one text are exact.
package struct MediaTimeline {
    private let first: Int
    /// The beginnings, and the end behind them.
    private let times: [Double]

    package init(_ playlist: MediaPlaylist) {
        first = playlist.firstSequenceNumber
        let target = Double(playlist.targetDuration ?? 0)
        var time = playlist.isLive ? Double(first) * target : 0
        var times: [Double] = []
        times.reserveCapacity(playlist.segments.count + 1)
        for segment in playlist.segments {
            times.append(time)
            time += segment.duration
        }
        times.append(time)
        self.times = times
    }

    /// Where the media ends, in seconds.
    package var end: Double { times.last ?? 0 }

    /// The segment with a media sequence number; nil if it is not listed.
    package func span(of number: Int) -> SegmentSpan? {
        let (index, overflow) = number.subtractingReportingOverflow(first)
        guard !overflow, index >= 0, index + 1 < times.count else { return nil }
        return SegmentSpan(number: number, start: times[index], duration: times[index + 1] - times[index])
    }
}

/// A segment's place in its rendition and in time.
package struct SegmentSpan: Equatable {
    /// Its media sequence number.
    package let number: Int
    /// Where it begins in media time, in seconds.
    package let start: Double
    /// In seconds.
    package let duration: Double

    /// Where it ends.
    package var end: Double { start + duration }

    package init(number: Int, start: Double, duration: Double) {
        (self.number, self.start, self.duration) = (number, start, duration)
    }
}
