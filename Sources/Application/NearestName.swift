internal import Playlist

/// Finds the name that a user may have meant.
package enum NearestName {
    /// The name with the smallest edit distance to a word; nil if none is similar enough.
    package static func of(_ word: String, in names: [String]) -> String? {
        let ranked = names.map { (name: $0, edits: Spelling.distance(Array(word), Array($0))) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }), best.edits <= max(2, word.count / 3),
            best.edits < word.count
        else { return nil }
        return best.name
    }
}
