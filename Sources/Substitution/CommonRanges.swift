/// Computes the ranges that are stored in every one of several renditions that play together. Their segments seldom
/// have equal durations. A cut must be at the same media time in all renditions, or audio and video lose sync. So a cut
/// is possible only where segments end in all: the smallest groups that begin and end together stay, or go, as a whole.
struct CommonRanges {
    /// One rendition's segments, in order.
    struct Track: Sendable {
        /// In seconds.
        let durations: [Double]
        /// True for each segment that can be played from the store.
        let isPlayable: [Bool]
    }

    /// True for each segment that stays, by its place, for each track.
    private(set) var kept: [[Bool]]
    /// Duration of the remaining segments of the first track, in seconds.
    private(set) var seconds = 0.0
    /// Maximum distance in seconds of two equal ends. Audio is divided at its own frames of at most 0.1 s.
    static let tolerance = 0.25

    /// Media time counts from the beginning of each track.
    init(_ tracks: [Track]) {
        kept = tracks.map { [Bool](repeating: false, count: $0.durations.count) }
        var cursors = tracks.map { _ in Cursor() }
        var wasKept = true
        while tracks.indices.contains(where: { cursors[$0].next < tracks[$0].durations.count }) {
            let starts = cursors.map(\.next)
            Self.advance(&cursors, tracks)
            let groups = tracks.indices.map { starts[$0]..<cursors[$0].next }
            // Behind the end of one track, the rest of the others joins the last group.
            let isTail = groups.contains(where: \.isEmpty)
            wasKept =
                (!isTail || wasKept && starts.contains { $0 > 0 })
                && zip(groups, tracks).allSatisfy { group, track in track.isPlayable[group].allSatisfy { $0 } }
            guard wasKept else { continue }
            for (place, group) in groups.enumerated() {
                for segment in group {
                    kept[place][segment] = true
                }
            }
            seconds += tracks[0].durations[groups[0]].reduce(0, +)
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

    /// Advances all cursors to the next common end, or to the end of the tracks.
    private static func advance(_ cursors: inout [Cursor], _ tracks: [Track]) {
        for place in tracks.indices {
            cursors[place].advance(tracks[place])
        }
        while let last = cursors.map(\.end).max(),
            let behind = tracks.indices.first(where: {
                cursors[$0].next < tracks[$0].durations.count && cursors[$0].end < last - tolerance
            })
        {
            cursors[behind].advance(tracks[behind])
        }
    }
}
