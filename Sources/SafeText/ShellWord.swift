/// Quotes words of commands that are shown to be copied into a shell. Pure.
public enum ShellWord {
    /// The word, between quotes if a POSIX shell would give any of its characters a meaning.
    public static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                (byte | 32 >= 97 && byte | 32 <= 122) || (48...57).contains(byte) || "/._-+:,@%".utf8.contains(byte)
            }
        if isPlain { return word }
        // By scalars: an apostrophe and an accent behind it are one character.
        var quoted = String.UnicodeScalarView()
        for scalar in word.unicodeScalars {
            if scalar == "'" { quoted.append(contentsOf: "'\\''".unicodeScalars) } else { quoted.append(scalar) }
        }
        return "'\(String(quoted))'"
    }
}
