/// Quotes words of commands that are shown to be copied into a shell. Pure.
public enum ShellWord {
    /// The word, between quotes if a POSIX shell would give any of its characters a meaning.
    public static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                (byte | 32 >= 97 && byte | 32 <= 122) || (48...57).contains(byte) || "/._-+:,@%".utf8.contains(byte)
            }
        if isPlain {
            return word
        }
        // By scalars: an apostrophe and an accent behind it are one character.
        var quoted = String.UnicodeScalarView()
        for scalar in word.unicodeScalars {
            if scalar == "'" {
                quoted.append(contentsOf: "'\\''".unicodeScalars)
            } else {
                quoted.append(scalar)
            }
        }
        return "'\(String(quoted))'"
    }

    /// Splits a line into words as bash does, without expansions: blanks separate words; `'…'`, `"…"` and `$'…'` quote, and a
    /// backslash quotes one character or continues the line. Nil if a quotation mark is open at the end.
    public static func split(_ text: String) -> [String]? {
        var splitter = WordSplitter(text)
        return splitter.words()
    }
}

/// Splits a shell's line into words. See `ShellWord.split`.
private struct WordSplitter {
    private var rest: Substring.UnicodeScalarView
    private var word = String.UnicodeScalarView()
    private var isOpen = false
    private var found: [String] = []

    init(_ text: String) { rest = text.unicodeScalars[...] }

    mutating func words() -> [String]? {
        while let scalar = rest.popFirst() {
            switch scalar {
            case " ", "\t", "\n", "\r": end()
            case "'": guard single() else { return nil }
            case "\"": guard double() else { return nil }
            case "$" where rest.first == "'":
                rest.removeFirst()
                guard escaped() else { return nil }
            case "\\":
                // A backslash before a line's end continues the line.
                if rest.first == "\r" {
                    rest.removeFirst()
                }
                if rest.first == "\n" {
                    rest.removeFirst()
                } else if let next = rest.popFirst() {
                    put(next)
                }
            default: put(scalar)
            }
        }
        end()
        return found
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        word.append(scalar)
        isOpen = true
    }

    private mutating func end() {
        if isOpen {
            found.append(String(word))
        }
        word = String.UnicodeScalarView()
        isOpen = false
    }

    private mutating func single() -> Bool {
        isOpen = true
        while let scalar = rest.popFirst() {
            if scalar == "'" {
                return true
            }
            word.append(scalar)
        }
        return false
    }

    private mutating func double() -> Bool {
        isOpen = true
        while let scalar = rest.popFirst() {
            if scalar == "\"" {
                return true
            }
            guard scalar == "\\", let next = rest.first, "\"\\$`\n".unicodeScalars.contains(next) else {
                word.append(scalar)
                continue
            }
            rest.removeFirst()
            if next != "\n" {
                word.append(next)
            }
        }
        return false
    }

    /// The quotes of ANSI C, `$'…'` (bash(1), QUOTING).
    private mutating func escaped() -> Bool {
        isOpen = true
        // Bytes, because \x writes one byte of a character.
        var bytes: [UInt8] = []
        while let scalar = rest.popFirst() {
            if scalar == "'" {
                word.append(contentsOf: String(decoding: bytes, as: UTF8.self).unicodeScalars)
                return true
            }
            guard scalar == "\\", let next = rest.popFirst() else {
                bytes += Array(String(scalar).utf8)
                continue
            }
            bytes += escape(next)
        }
        return false
    }

    private mutating func escape(_ letter: Unicode.Scalar) -> [UInt8] {
        let plain: [Unicode.Scalar: UInt8] = [
            "n": 0x0A, "t": 0x09, "r": 0x0D, "a": 0x07, "b": 0x08, "e": 0x1B, "E": 0x1B, "f": 0x0C, "v": 0x0B,
        ]
        if let byte = plain[letter] {
            return [byte]
        }
        switch letter {
        case "x":
            guard let value = number(digits: 2) else { return Array("\\x".utf8) }
            return [UInt8(truncatingIfNeeded: value)]
        case "u", "U":
            let digits = letter == "u" ? 4 : 8
            guard let value = number(digits: digits) else { return Array("\\\(letter)".utf8) }
            return Array(String(Unicode.Scalar(value) ?? "\u{FFFD}").utf8)
        case "0"..."7":
            var value = letter.value - 0x30
            for _ in 0..<2 {
                guard let next = rest.first, ("0"..."7").contains(next) else { break }
                value = value * 8 + next.value - 0x30
                rest.removeFirst()
            }
            return [UInt8(truncatingIfNeeded: value)]
        case "\\", "'", "\"", "?": return Array(String(letter).utf8)
        default: return Array("\\\(letter)".utf8)
        }
    }

    private mutating func number(digits: Int) -> UInt32? {
        let text = rest.prefix(digits).prefix { $0.properties.isASCIIHexDigit }
        rest = rest.dropFirst(text.count)
        return UInt32(String(String.UnicodeScalarView(text)), radix: 16)
    }
}
