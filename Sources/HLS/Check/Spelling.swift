/// Finds the name that an unknown one was probably meant to be.
package struct Spelling {
    private let known: [(name: String, letters: [UInt8])]
    /// The number of letters that all names begin with, which say nothing.
    private let prefix: Int
    /// Names with fewer letters must have the same.
    private let shortest: Int
    /// Longer names are not compared.
    private static let longest = 48

    /// - Parameter shortest: names with fewer letters than this must have the same letters.
    package init(_ known: some Collection<String>, prefix: Int = 0, shortest: Int = 5) {
        self.known = known.sorted().map { ($0, Self.letters($0)) }
        self.prefix = prefix
        self.shortest = shortest
    }

    /// Returns the known name that differs from `name` only in case and signs, or in few letters; nil without one. Short names
    /// must have the same letters, because vendors' names resemble them by chance.
    package func correction(of name: String) -> String? {
        guard name.utf8.count <= Self.longest else { return nil }
        let letters = Self.letters(name)
        var best: (name: String, distance: Int)?
        for (other, otherLetters) in known {
            let length = min(letters.count, otherLetters.count) - prefix
            let allowed =
                switch length {
                case ..<shortest: 0
                case ..<9: 1
                default: 2
                }
            guard abs(letters.count - otherLetters.count) <= allowed else { continue }
            let distance = Self.distance(letters, otherLetters)
            if distance <= allowed, distance < best?.distance ?? .max {
                best = (other, distance)
            }
        }
        return best?.name
    }

    /// The letters and digits in lower case.
    private static func letters(_ name: String) -> [UInt8] {
        name.utf8.compactMap { byte -> UInt8? in
            if byte.isDigit {
                return byte
            }
            let letter = byte | 0x20
            guard letter &- 0x61 < 26 else { return nil }
            return letter
        }
    }

    /// The number of elements to insert, omit or replace (Levenshtein).
    package static func distance<Letter: Equatable>(_ first: [Letter], _ second: [Letter]) -> Int {
        var row = Array(0...second.count)
        for (line, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in second.indices {
                let cost = letter == second[column] ? 0 : 1
                let replaced = diagonal + cost
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[second.count]
    }
}
