/// What is left of renditions that play together when all is cut out that is not stored in every one of them.
///
/// Their segments seldom have the same durations, and a cut must be at the same media time in all of them, or sound and
/// picture would part there. So it is made only where a segment ends in each: the smallest groups of segments that
/// begin and end together stay, or go, as a whole.
struct CommonCut {
    /// One rendition's segments in order.
    struct Track {
        /// In seconds.
        let durations: [Double]
        /// Whether it can be played from what is stored.
        let isThere: [Bool]
    }

    /// Whether a segment stays, by its place, for each track.
    private(set) var stays: [[Bool]]
    /// How long what stays lasts in the first track, in seconds.
    private(set) var seconds = 0.0

    /// So far apart ends may be and count as the same: sound is divided between its own frames, of at most a tenth of a
    /// second.
    static let tolerance = 0.25

    /// Works out what stays. Media time counts from the beginning of each track.
    init(_ tracks: [Track]) {
        stays = tracks.map { [Bool](repeating: false, count: $0.durations.count) }
        var cursors = tracks.map { _ in Cursor() }
        var wasKept = true
        while tracks.indices.contains(where: { cursors[$0].next < tracks[$0].durations.count }) {
            let starts = cursors.map(\.next)
            Self.advance(&cursors, tracks)
            let groups = tracks.indices.map { starts[$0]..<cursors[$0].next }
            // Behind the end of one, the rest of the others goes on with what was before.
            let isTail = groups.contains(where: \.isEmpty)
            wasKept = (!isTail || wasKept && starts.contains { $0 > 0 }) && Self.isThere(groups, tracks)
            if wasKept { keep(groups, tracks) }
        }
    }

    private struct Cursor {
        var next = 0
        var end = 0.0

        mutating func advance(_ track: Track) {
            guard next < track.durations.count else { return }
            end += track.durations[next]
            next += 1
        }
    }

    /// Goes on to where all end together, or have no more.
    private static func advance(_ cursors: inout [Cursor], _ tracks: [Track]) {
        for place in tracks.indices { cursors[place].advance(tracks[place]) }
        while let last = cursors.map(\.end).max(),
            let behind = tracks.indices.first(where: {
                cursors[$0].next < tracks[$0].durations.count && cursors[$0].end < last - tolerance
            })
        {
            cursors[behind].advance(tracks[behind])
        }
    }

    private static func isThere(_ groups: [Range<Int>], _ tracks: [Track]) -> Bool {
        zip(groups, tracks).allSatisfy { group, track in track.isThere[group].allSatisfy { $0 } }
    }

    private mutating func keep(_ groups: [Range<Int>], _ tracks: [Track]) {
        for (place, group) in groups.enumerated() {
            for segment in group { stays[place][segment] = true }
        }
        if let first = groups.first { seconds += tracks[0].durations[first].reduce(0, +) }
    }
}
