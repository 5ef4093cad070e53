import Playlist

/// Pairs of segments of two playlists that cover the same time: they begin together, end together, and have the same
/// number of discontinuities before them.
struct SegmentMatch {
    /// The index of the other's segment, by index of the own one; -1 if there is none.
    private let places: [Int32]
    /// The number of pairs.
    let count: Int

    /// Compares two playlists that have ended.
    ///
    /// - Parameters:
    ///   - shift: seconds to add to times of the first to get those of the second; see `shifts`.
    ///   - tolerance: maximum difference of two times that count as the same, in seconds.
    init(_ own: MediaPlaylist, _ other: MediaPlaylist, shift: Double, tolerance: Double) {
        let (mine, its) = (Self.spans(own), Self.spans(other))
        var (places, next, count) = ([Int32](repeating: -1, count: mine.count), 0, 0)
        for (place, span) in mine.enumerated() {
            let (start, end) = (span.start + shift, span.end + shift)
            while next < its.count, its[next].start < start - tolerance { next += 1 }
            guard next < its.count else { break }
            let found = its[next]
            guard found.start <= start + tolerance, abs(found.end - end) <= tolerance, found.era == span.era,
                !own.segments[place].isGap, !other.segments[next].isGap
            else { continue }
            places[place] = Int32(next)
            count += 1
        }
        (self.places, self.count) = (places, count)
    }

    /// The index of the other's segment for the time of an own one.
    subscript(place: Int) -> Int? {
        places.indices.contains(place) && places[place] >= 0 ? Int(places[place]) : nil
    }

    /// The possible shifts between the times of two playlists, the likeliest first: that of their dates, if both have
    /// them (RFC 8216 §4.3.2.6), and none.
    static func shifts(_ own: MediaPlaylist, _ other: MediaPlaylist) -> [Double] {
        guard let mine = origin(own), let its = origin(other), mine != its else { return [0] }
        return [Double(mine - its) / 1000, 0]
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

    private struct Span {
        let start: Double
        let end: Double
        /// The segment's Discontinuity Sequence Number.
        let era: Int
    }

    private static func spans(_ playlist: MediaPlaylist) -> [Span] {
        var (time, era) = (0.0, playlist.discontinuitySequence)
        return playlist.segments.map { segment in
            if segment.isDiscontinuity { era += 1 }
            defer { time += segment.duration }
            return Span(start: time, end: time + segment.duration, era: era)
        }
    }
}
