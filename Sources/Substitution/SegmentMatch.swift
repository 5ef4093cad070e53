import HLS

/// A playlist that has ended, with the times of its segments.
struct TimedPlaylist: Sendable {
    let playlist: MediaPlaylist
    /// Starts of the segments in seconds, and the end of the last one.
    let times: [Double]
    /// The date of media time 0 in milliseconds, from the first EXT-X-PROGRAM-DATE-TIME.
    fileprivate let origin: Int?

    init(_ playlist: MediaPlaylist, times: [Double]) {
        self.playlist = playlist
        self.times = times
        guard let first = playlist.firstDatedSegment else {
            origin = nil
            return
        }
        let origins = playlist.segments[first.index...].lazy.compactMap { segment -> Int? in
            guard let text = segment.programDateTime, let date = DateTime(text) else { return nil }
            return date.milliseconds - MediaDuration(seconds: times[segment.index]).milliseconds
        }
        origin = origins.first
    }

    var count: Int { times.count - 1 }

    /// The Discontinuity Sequence Number of a segment.
    fileprivate func discontinuity(of index: Int) -> SequenceNumber {
        playlist.discontinuitySequence + playlist.discontinuities(upTo: index)
    }
}

/// Pairs of segments of two playlists with the same begin, the same end, and equally many discontinuities before them.
/// Each pair is found when it is asked for: one of 256 renditions of 4,000 segments has a million.
struct SegmentMatch {
    private let own: TimedPlaylist
    private let other: TimedPlaylist
    private let shift: Double
    private let tolerance: Double

    /// Compares two playlists that have ended.
    /// - Parameters:
    ///   - shift: seconds to add to times of the first to get those of the second; see `shifts`.
    ///   - tolerance: maximum difference of two times that count as the same, in seconds.
    init(_ own: TimedPlaylist, _ other: TimedPlaylist, shift: Double, tolerance: Double) {
        self.own = own
        self.other = other
        self.shift = shift
        self.tolerance = tolerance
    }

    /// The index of the other's segment for the time of an own one.
    subscript(index: Int) -> Int? {
        guard own.playlist.segments.indices.contains(index) else { return nil }
        let start = own.times[index] + shift
        let end = own.times[index + 1] + shift
        let found = Self.firstIndex(in: other, from: start - tolerance)
        guard found < other.count, other.times[found] <= start + tolerance,
            abs(other.times[found + 1] - end) <= tolerance,
            other.discontinuity(of: found) == own.discontinuity(of: index),
            !own.playlist.segments[index].isGap, !other.playlist.segments[found].isGap
        else { return nil }
        return found
    }

    /// True if there is no pair. Stops at the first one, and gives up after 10,000 segments at the time of the other's first.
    var isEmpty: Bool {
        let first = Self.firstIndex(in: own, from: other.times[0] - shift - tolerance)
        for index in own.playlist.segments.indices[first...].prefix(Self.mostChecked) {
            if self[index] != nil {
                return false
            }
        }
        return true
    }

    private static let mostChecked = 10_000

    /// The pairs by index of the other's segment.
    var reversed: SegmentMatch { SegmentMatch(other, own, shift: -shift, tolerance: tolerance) }

    /// The number of pairs.
    var count: Int { own.playlist.segments.indices.count { self[$0] != nil } }

    /// Index of the first segment that starts at a time or later.
    private static func firstIndex(in playlist: TimedPlaylist, from time: Double) -> Int {
        var range = 0..<playlist.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if playlist.times[middle] < time {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    /// The possible time shifts, the likeliest first: that of the dates (RFC 8216 §4.3.2.6) if both have any, and none.
    static func shifts(_ own: TimedPlaylist, _ other: TimedPlaylist) -> [Double] {
        guard let start = own.origin, let otherStart = other.origin, start != otherStart else { return [0] }
        return [Double(start - otherStart) / 1000, 0]
    }

    /// True if both playlists have dates, so that segments can be matched without inspecting the media.
    static func areDated(_ own: TimedPlaylist, _ other: TimedPlaylist) -> Bool {
        own.origin != nil && other.origin != nil
    }
}
