internal import HLS

/// Finds the name that a user may have meant.
package enum NearestName {
    /// The name with the smallest edit distance to a word; nil if none is similar enough.
    package static func of(_ word: String, in names: [String]) -> String? {
        let ranked = names.map { name in
            (name: name, edits: Spelling.distance(Array(word), Array(name)), strange: strangeLetters(word, name))
        }
        // Two swapped letters are two edits, as is one letter less and another one wrong: "lsit" is "list" rather than "set".
        guard let best = ranked.min(by: { ($0.edits, $0.strange) < ($1.edits, $1.strange) }),
            best.edits <= max(2, word.count / 3), best.edits < word.count
        else { return nil }
        return best.name
    }

    /// The number of letters that only one of two words has.
    private static func strangeLetters(_ word: String, _ other: String) -> Int {
        var counts: [Character: Int] = [:]
        for letter in word {
            counts[letter, default: 0] += 1
        }
        for letter in other {
            counts[letter, default: 0] -= 1
        }
        return counts.values.reduce(0) { $0 + abs($1) }
    }
}
