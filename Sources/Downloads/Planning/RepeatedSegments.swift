import HLS

/// Picks one of several segments that list the same file or range: it stands for all, because their bytes are fetched and stored once.
/// Pure.
struct RepeatedSegments {
    /// Nil if no segment is listed twice, or if that is not known.
    private let locations: SegmentLocations?
    /// The groups of which a segment is stored, and those of which one was picked, by the index of their first segment.
    private var stored: Set<Int> = []
    private var picked: Set<Int> = []

    /// - Parameter isStored: called with the indices of segments that are listed more than once.
    init(_ locations: SegmentLocations?, isStored: (Int) -> Bool) {
        guard let locations, locations.hasRepeats else {
            self.locations = nil
            return
        }
        self.locations = locations
        for group in locations.repeats where group.contains(where: isStored) {
            stored.insert(group[0])
        }
    }

    /// Picks a missing segment to be stored. Returns false if another one of the same bytes was picked: once that is stored, this is a
    /// copy of it.
    mutating func pickMissing(_ index: Int) -> Bool {
        guard let group = locations?.first(of: index), !stored.contains(group) else { return true }
        return picked.insert(group).inserted
    }

    /// Picks a segment whose bytes are counted: of a group the first stored one, or the first one if none is stored.
    mutating func pickCounted(_ index: Int, isStored: Bool) -> Bool {
        guard let group = locations?.first(of: index) else { return true }
        guard isStored || !stored.contains(group) else { return false }
        return picked.insert(group).inserted
    }
}
