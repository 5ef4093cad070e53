/// Decides which segments of a live playlist are left out of the text that players get, and how its sequence numbers change. Pure.
///
/// A segment is judged once, when a playlist first lists it: a player that has seen it must find it again under its number, and
/// none may appear between two that it knows (RFC 8216 §6.2.2). The media sequence numbers of players count the segments that
/// are shown, so that none is missing and none comes twice. The EXT-X-DISCONTINUITY tags of omitted segments precede the next
/// one, so the discontinuity sequence numbers stay those of the other renditions. Where an omission has no such tag, one is
/// added, and counted once it has left the window.
///
/// EXT-X-GAP would keep the numbers, but of the players only scripts in browsers, Apple's and ExoPlayer do not request such
/// segments: the others do, and some stop there.
public struct LiveOmissions: Sendable {
    /// Sequence numbers in ascending order; of very old ones only their count.
    private struct Numbers {
        private var forgotten = 0
        private var numbers: [Int] = []
        private static let limit = 4_096

        var isEmpty: Bool { forgotten == 0 && numbers.isEmpty }

        mutating func append(_ number: Int) {
            numbers.append(number)
            guard numbers.count > Self.limit else { return }
            numbers.removeFirst(Self.limit / 2)
            forgotten += Self.limit / 2
        }

        func count(below number: Int) -> Int { forgotten + index(of: number) }

        func contains(_ number: Int) -> Bool {
            let index = index(of: number)
            return index < numbers.count && numbers[index] == number
        }

        /// The index of the first number that is not lower.
        private func index(of number: Int) -> Int {
            var low = 0
            var high = numbers.count
            while low < high {
                let middle = (low + high) / 2
                if numbers[middle] < number {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            return low
        }
    }

    /// The number of the first segment that is not judged; nil before the first playlist.
    private var next: Int?
    private var shift = 0
    private var omitted = Numbers()
    /// The shown segments that an added discontinuity precedes.
    private var marked = Numbers()
    private var hasShown = false
    /// True if the last judged segment was omitted.
    private var isBehindOmitted = false
    private var hasOmittedDiscontinuity = false

    /// Creates the state before the first playlist.
    public init() {}

    /// True if no segment was omitted.
    public var isEmpty: Bool { omitted.isEmpty }

    /// The indexes of the segments that `cut(_:shift:isLost:)` judges.
    /// - Parameter shift: as in `LiveNumbering`.
    public func unjudged(in playlist: MediaPlaylist, shift: Int) -> Range<Int> {
        let count = playlist.segments.count
        guard let next, shift == self.shift else { return 0..<count }
        let known = SequenceNumber(next) - playlist.firstSequenceNumber
        return min(max(known, 0), count)..<count
    }

    /// Judges the new segments of a playlist. Returns the cut of all; nil if nothing was ever omitted.
    /// - Parameter isLost: true for a segment that cannot be fetched; nil if each one can, which costs no look at them.
    public mutating func cut(
        _ playlist: MediaPlaylist, shift: Int, isLost: ((Segment) -> Bool)?
    ) -> MediaPlaylistCut? {
        let new = unjudged(in: playlist, shift: shift)
        // The origin has restarted its numbers.
        if shift != self.shift {
            self = LiveOmissions()
        }
        self.shift = shift
        let first = Int(playlist.firstSequenceNumber)
        next = max(next ?? first, first + playlist.segments.count)
        if isLost == nil, omitted.isEmpty {
            hasShown = hasShown || !new.isEmpty
            return nil
        }
        let isMarked = playlist.maps.isEmpty
        for index in new {
            let segment = playlist.segments[index]
            if !segment.isGap, let isLost, isLost(segment) {
                omitted.append(first + index)
                hasOmittedDiscontinuity = hasOmittedDiscontinuity || segment.isDiscontinuity
                isBehindOmitted = true
                continue
            }
            let hasTag = hasOmittedDiscontinuity || segment.isDiscontinuity
            if isBehindOmitted, hasShown, isMarked, !hasTag {
                marked.append(first + index)
            }
            hasShown = true
            isBehindOmitted = false
            hasOmittedDiscontinuity = false
        }
        guard !omitted.isEmpty else { return nil }

        let indices = playlist.segments.indices
        let numbers = MediaPlaylistCut.LiveNumbers(
            omitted: omitted.count(below: first), discontinuities: marked.count(below: first),
            marked: Set(indices.filter { marked.contains(first + $0) }))
        return MediaPlaylistCut(
            stays: indices.map { !omitted.contains(first + $0) }, isMarked: isMarked, numbers: numbers)
    }
}
