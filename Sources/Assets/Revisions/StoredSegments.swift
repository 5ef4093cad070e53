import Fetching
import Store

/// The stored segments of a rendition, among which samples are chosen. Pure.
struct StoredSegments: Sendable {
    /// The rendition's folder.
    let folder: String
    /// The lengths of its pieces in bytes, by file name.
    let sizes: PieceTable<Int64>
    /// The pieces that were stored since the last comparison.
    let uncompared: UncomparedPieces

    /// The pieces that are compared. Of those that were compared before, it is the one whose entity tag is known, or the middle one,
    /// because the first ones may be a common title. Otherwise it is the one that was stored first, because a later one may be of new
    /// content already.
    /// - Parameter isThorough: true for the first and the last segment as well.
    func samples(isThorough: Bool) -> [PieceName] {
        // A small piece shows little.
        let hasLarge = sizes.values.contains { $0 >= RevisionLook.count }
        let least = hasLarge ? RevisionLook.count : 0
        let files = sizes.filter { $0.value >= least }.map { $0.key }
        let stored = files.compactMap { PieceName($0) }.filter(\.isSegment).sorted { $0.role.number < $1.role.number }
        guard let first = stored.first, let last = stored.last else { return [] }
        var chosen: [PieceName] = []
        let compared = stored.filter { !uncompared.contains($0.description, of: folder) }
        if compared.isEmpty {
            chosen = uncompared.oldest(in: folder) { file in
                let isSegment = PieceName(file)?.isSegment ?? true
                return sizes[file, default: -1] >= least || sizes[file] != nil && !isSegment
            }
        } else {
            let mark = uncompared.marks[folder]?.file
            let marked = compared.first { $0.description == mark }
            chosen = [marked ?? compared[compared.count / 2]]
        }
        if isThorough {
            // A change that an earlier version did not notice is between them.
            for name in [first, last] where !chosen.contains(name) {
                chosen.append(name)
            }
        }
        return chosen
    }
}
