/// Computes the ranges that are stored in every one of several renditions that play together. Their segments seldom
/// have equal durations.
///
/// One stretch needs no common ends: each rendition keeps the segments that reach into it, and their timestamps keep picture and
/// sound together. Between two stretches, the same duration is cut out of each rendition, as closely as their segments allow: a
/// player that counts the time behind a cut from what it has played would lose sync.
struct CommonRanges {
    /// One rendition's segments, in order.
    struct Track: Sendable {
        /// In seconds.
        let durations: [Double]
        /// True for each segment that can be played from the store.
        let isPlayable: [Bool]
    }

    /// True for each segment that stays, by its index, for each track.
    private(set) var kept: [[Bool]]
    /// Duration of the remaining segments of the first track, in seconds.
    private(set) var seconds = 0.0
    /// Maximum difference in seconds of two equal durations, and the least of a segment that counts. Audio is divided at its own
    /// frames of at most 0.1 s.
    static let tolerance = 0.25
    /// In seconds: so much more of what is stored is left out for a cut of equal durations.
    private static let longestSearch = 12.0
    /// Cuts that are compared behind one stretch, however short the segments are.
    private static let mostCandidates = 256
    /// Chains that are looked at. Each reads the rest of the tracks.
    private static let mostChains = 32

    /// Media time counts from the beginning of each track.
    init(_ tracks: [Track]) {
        kept = tracks.map { [Bool](repeating: false, count: $0.durations.count) }
        let scan = Scan(tracks)
        var best = Scan.Chain()
        var cursors = tracks.map { _ in 0 }
        for _ in 0..<Self.mostChains {
            guard let starts = scan.starts(from: cursors) else { break }
            let chain = scan.chain(from: starts)
            if chain.seconds > best.seconds {
                best = chain
            }
            cursors = chain.ends
        }

        for stretch in best.stretches {
            for (track, segments) in stretch.enumerated() {
                for segment in segments {
                    kept[track][segment] = true
                }
            }
        }
        seconds = best.seconds
    }

    /// Follows the tracks through time.
    private struct Scan {
        /// A sequence of stretches that cuts join. Of several chains only one can be played.
        struct Chain {
            /// The segments of each track, for each stretch.
            var stretches: [[Range<Int>]] = []
            /// The segments before which the last stretch ends, for each track.
            var ends: [Int] = []
            /// Duration in the first track.
            var seconds = 0.0
        }

        private let lines: [Timeline]

        init(_ tracks: [Track]) { lines = tracks.map(Timeline.init) }

        /// The first segments that can be played together, at or behind the cursors; nil if there are none.
        func starts(from cursors: [Int]) -> [Int]? {
            var starts = cursors
            var moved = !lines.isEmpty
            while moved {
                moved = false
                for (track, line) in lines.enumerated() {
                    starts[track] = line.firstPlayable(from: starts[track])
                }
                guard !hasEnded(starts) else { return nil }
                let begins = zip(lines, starts).map { $0.times[$1] }
                let begin = begins.max() ?? 0
                for (track, line) in lines.enumerated() {
                    // An end that reaches in only by the length of an audio frame is left out.
                    while starts[track] < line.count, line.times[starts[track] + 1] <= begin + tolerance {
                        starts[track] += 1
                        moved = true
                    }
                }
                guard !hasEnded(starts) else { return nil }
                moved = moved || zip(lines, starts).contains { !$0.isPlayable[$1] }
            }
            guard !lines.isEmpty else { return nil }
            return starts
        }

        /// The stretches from these segments on that cuts can join.
        func chain(from starts: [Int]) -> Chain {
            var chain = Chain()
            var starts = starts
            var last = Cut(next: starts, removed: lines.map { _ in 0 })
            while true {
                let hole = hole(behind: starts)
                let ends = middleEnds(of: starts, before: hole)
                guard hole < .infinity, let cut = cut(from: starts, ends: ends, removed: last.removed) else {
                    append(zip(starts, lastEnds(of: starts, before: hole)).map { $0..<$1 }, to: &chain)
                    chain.ends = ends
                    return chain
                }
                append(zip(starts, ends).map { $0..<$1 }, to: &chain)
                last = cut
                starts = cut.next
            }
        }

        private func append(_ stretch: [Range<Int>], to chain: inout Chain) {
            chain.stretches.append(stretch)
            if let line = lines.first, let first = stretch.first {
                chain.seconds += line.times[first.upperBound] - line.times[first.lowerBound]
            }
        }

        /// A cut in all tracks.
        private struct Cut {
            /// The first segments behind it.
            let next: [Int]
            /// Everything that is cut out of each track so far, in seconds: small differences do not add up.
            let removed: [Double]
            var difference: Double {
                guard let most = removed.max(), let least = removed.min() else { return 0 }
                return most - least
            }
        }

        /// The cut behind a stretch that removes as much of each track, or that comes closest to it; nil if nothing follows.
        private func cut(from starts: [Int], ends: [Int], removed: [Double]) -> Cut? {
            guard zip(starts, ends).allSatisfy(<) else { return nil }
            var next = ends
            var removed = removed
            var best: Cut?
            var limit = Double.infinity
            var candidates = 0
            var track = 0
            while next[track] < lines[track].count {
                removed[track] += lines[track].durations[next[track]]
                next[track] += 1
                // Every track is cut, so that all have the same discontinuities.
                if let other = lines.indices.first(where: { next[$0] == ends[$0] || !lines[$0].plays(next[$0]) }) {
                    track = other
                    continue
                }
                candidates += 1
                let cut = Cut(next: next, removed: removed)
                let hole = hole(behind: next)
                let isFollowed = zip(lines, next).allSatisfy { $0.middle(of: $1) < hole }
                if isFollowed, cut.difference < best?.difference ?? .infinity {
                    best = cut
                    limit = min(limit, lines[0].times[next[0]] + longestSearch)
                }
                let isEqual = isFollowed && cut.difference <= tolerance
                if isEqual || lines[0].times[next[0]] > limit || best != nil && candidates > mostCandidates {
                    break
                }
                track = lines.indices.min { removed[$0] < removed[$1] } ?? 0
            }
            return best
        }

        /// The time of the first missing segment of any track; infinite without one.
        private func hole(behind starts: [Int]) -> Double {
            let holes = zip(lines, starts).map { $0.hole(behind: $1) }
            return holes.min() ?? .infinity
        }

        /// The ends at a cut: a segment that reaches over it stays if most of it is in front of it.
        private func middleEnds(of starts: [Int], before hole: Double) -> [Int] {
            zip(lines, starts).map { line, start in
                line.end(from: start) { line.middle(of: $0) < hole }
            }
        }

        /// The ends where nothing follows: a segment that reaches over the hole stays.
        private func lastEnds(of starts: [Int], before hole: Double) -> [Int] {
            zip(lines, starts).map { line, start in
                line.end(from: start) { line.times[$0] < hole - tolerance || line.times[$0 + 1] <= hole }
            }
        }

        private func hasEnded(_ cursors: [Int]) -> Bool { zip(lines, cursors).contains { $1 >= $0.count } }
    }

    /// The segments of one track on the line of time.
    private struct Timeline {
        let durations: [Double]
        let isPlayable: [Bool]
        /// The start of each segment, then the end of the last one.
        let times: [Double]
        /// From each segment on, the index of the first missing one, or the count.
        private let missing: [Int]
        var count: Int { durations.count }

        init(_ track: Track) {
            durations = track.durations
            isPlayable = track.isPlayable
            var times = [0.0]
            times.reserveCapacity(durations.count + 1)
            for duration in durations {
                times.append((times.last ?? 0) + duration)
            }
            self.times = times

            var missing = [Int](repeating: durations.count, count: durations.count + 1)
            for segment in durations.indices.reversed() {
                if isPlayable[segment] {
                    missing[segment] = missing[segment + 1]
                } else {
                    missing[segment] = segment
                }
            }
            self.missing = missing
        }

        func plays(_ segment: Int) -> Bool { segment < count && isPlayable[segment] }

        func middle(of segment: Int) -> Double { (times[segment] + times[segment + 1]) / 2 }

        func firstPlayable(from segment: Int) -> Int {
            var segment = segment
            while segment < count, !isPlayable[segment] {
                segment += 1
            }
            return segment
        }

        /// The start of the first missing segment; infinite if there is none, because what follows one track's end is no hole.
        func hole(behind segment: Int) -> Double {
            let first = missing[segment]
            guard first < count else { return .infinity }
            return times[first]
        }

        /// The end of the playable segments from one on that meet a condition.
        func end(from segment: Int, while isKept: (Int) -> Bool) -> Int {
            var end = segment
            while plays(end), isKept(end) {
                end += 1
            }
            return end
        }
    }
}
