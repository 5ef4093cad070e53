import Playlist

/// Which segments of two playlists lie over the same time: begin together, end together, and have as many
/// discontinuities before them.
struct SegmentMatch {
    /// By the places of one's segments those of the other's; -1 where none is like it.
    private let places: [Int32]
    /// How many there are.
    let count: Int

    /// Compares two playlists that have ended.
    ///
    /// - Parameters:
    ///   - shift: what is added to times of the first to have those of the second, in seconds; see `shifts`.
    ///   - tolerance: by how much two times may differ that count as the same, in seconds.
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

    /// The place of the other's segment over the time of one's own.
    subscript(place: Int) -> Int? {
        places.indices.contains(place) && places[place] >= 0 ? Int(places[place]) : nil
    }

    /// The shifts that may be between the times of two playlists, the likelier one first: that of their dates, where
    /// both have them (RFC 8216 §4.3.2.6), and none.
    static func shifts(_ own: MediaPlaylist, _ other: MediaPlaylist) -> [Double] {
        guard let mine = origin(own), let its = origin(other), mine != its else { return [0] }
        return [Double(mine - its) / 1000, 0]
    }

    /// Whether both tell of dates, so that it is known what lies over what without a look into the media.
    static func areDated(_ own: MediaPlaylist, _ other: MediaPlaylist) -> Bool {
        origin(own) != nil && origin(other) != nil
    }

    /// When media time 0 was, in milliseconds, by the first date.
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
        /// Its Discontinuity Sequence Number.
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
