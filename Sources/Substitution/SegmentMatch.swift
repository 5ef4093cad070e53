import Playlist

/// Pairs of segments of two playlists with the same begin, the same end, and equally many discontinuities before them.
struct SegmentMatch {
    /// The index of the other's segment, by index of the own one; -1 for none.
    private let places: [Int32]
    /// The number of pairs.
    let count: Int

    /// Compares two playlists that have ended.
    /// - Parameters:
    ///   - shift: seconds to add to times of the first to get those of the second; see `shifts`.
    ///   - tolerance: maximum difference of two times that count as the same, in seconds.
    init(_ own: MediaPlaylist, _ other: MediaPlaylist, shift: Double, tolerance: Double) {
        let (ownSpans, others) = (Self.spans(own), Self.spans(other))
        var (places, next, count) = ([Int32](repeating: -1, count: ownSpans.count), 0, 0)
        for (place, span) in ownSpans.enumerated() {
            let (start, end) = (span.start + shift, span.end + shift)
            while next < others.count, others[next].start < start - tolerance { next += 1 }
            guard next < others.count else { break }
            let found = others[next]
            guard found.start <= start + tolerance, abs(found.end - end) <= tolerance,
                found.discontinuities == span.discontinuities, !own.segments[place].isGap, !other.segments[next].isGap
            else { continue }
            places[place] = Int32(next)
            count += 1
        }
        (self.places, self.count) = (places, count)
    }

    /// The index of the other's segment for the time of an own one.
    subscript(place: Int) -> Int? { places.indices.contains(place) && places[place] >= 0 ? Int(places[place]) : nil }

    /// The possible time shifts, the likeliest first: that of the dates (RFC 8216 §4.3.2.6) if both have any, and none.
    static func shifts(_ own: MediaPlaylist, _ other: MediaPlaylist) -> [Double] {
        guard let start = origin(own), let otherStart = origin(other), start != otherStart else { return [0] }
        return [Double(start - otherStart) / 1000, 0]
    }

    /// True if both playlists have dates, so that segments can be matched without inspecting the media.
    static func areDated(_ own: MediaPlaylist, _ other: MediaPlaylist) -> Bool {
        origin(own) != nil && origin(other) != nil
    }

    /// The date of media time 0 in milliseconds, from the first EXT-X-PROGRAM-DATE-TIME.
    private static func origin(_ playlist: MediaPlaylist) -> Int? {
        var time = 0.0
        for segment in playlist.segments {
            if let date = segment.programDateTime.flatMap({ DateTime($0) }) {
                return date.milliseconds - Int((time * 1000).rounded())
            }
            time += segment.duration
        }
        return nil
    }

    /// The time of a segment, and its Discontinuity Sequence Number.
    private typealias Span = (start: Double, end: Double, discontinuities: Int)

    private static func spans(_ playlist: MediaPlaylist) -> [Span] {
        var (time, discontinuities) = (0.0, playlist.discontinuitySequence)
        return playlist.segments.map { segment in
            if segment.isDiscontinuity { discontinuities += 1 }
            defer { time += segment.duration }
            return (time, time + segment.duration, discontinuities)
        }
    }
}
