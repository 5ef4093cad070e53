/// The language that a user's environment asks for.
enum UserLanguage {
    /// An RFC 5646 tag from the locale for messages (POSIX.1 §8.2: LC_ALL, else LC_MESSAGES, else LANG): `pt-BR` of
    /// `pt_BR.UTF-8`. Nil of `C` and `POSIX`, which ask for none.
    static func tag(environment: [String: String]) -> String? {
        let values = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }
        guard let locale = values.first(where: { !$0.isEmpty }) else { return nil }
        let name = locale.prefix { $0 != "." && $0 != "@" }
        let subtags = name.split(whereSeparator: { $0 == "_" || $0 == "-" })
        guard let language = subtags.first, (2...3).contains(language.utf8.count), subtags.allSatisfy(isSubtag) else {
            return nil
        }
        return subtags.joined(separator: "-")
    }

    private static func isSubtag(_ text: Substring) -> Bool {
        text.utf8.count <= 8
            && text.utf8.allSatisfy { (97...122).contains($0 | 32) || (48...57).contains($0) }
    }
}
