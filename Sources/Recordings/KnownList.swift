import FoundationEssentials
package import HTTPMessage
package import Origin

/// A channel list that the user named by its URL. Pure.
package struct KnownList: Equatable, Sendable {
    /// The name for commands.
    package let name: String
    /// The URL as the user wrote it, perhaps with a user name and a password. Secret.
    package let address: String
    /// Without a user name and a password.
    package let url: WebURL
    /// The header fields that the user wrote. Secret.
    package let lines: [String]
    /// The header fields for the list, those of its user name and password among them. Secret.
    package let fields: UserFields
    /// Seconds between two looks at the list.
    package let interval: Int64

    /// Twice a day: a list changes seldom, and its tokens live for a day or longer.
    package static let usualInterval: Int64 = 12 * 3_600
    /// A minute to a year.
    package static let intervals: ClosedRange<Int64> = 60...366 * 86_400

    /// - Parameter lines: header fields as `Name: value`.
    /// - Throws: `WebURLError` or `UserFields.Refusal`.
    package init(name: String, address: String, lines: [String], interval: Int64 = usualInterval) throws {
        self.name = name
        self.address = address
        self.interval = interval
        self.lines = lines
        let split = UserInformation(splitting: address)
        url = try WebURL(split.url)
        var all = lines
        let isGiven = lines.contains { $0.lowercased().hasPrefix("authorization:") }
        if let field = split.field, !isGiven {
            all.append("\(field.name): \(field.value)")
        }
        fields = try UserFields(all)
    }

    /// The passwords that the address has, before its host or in its query.
    package var secrets: ListSecrets { ListSecrets(address: address) }
}

/// The user name and the password of a list's address, which stand in the URLs of its channels and guides too. Pure.
package struct ListSecrets: Sendable {
    private let words: [String]

    /// Keys of a query whose values are names and passwords.
    private static let keys: Set<String> = ["username", "user", "password", "pass", "pwd", "token"]
    /// Shorter words may stand in any text.
    private static let shortest = 4

    init(address: String) {
        var words: [String] = []
        for pair in Self.pairs(in: address) where Self.keys.contains(pair.key) {
            words.append(pair.value)
            words.append(PercentEncoding.decode(pair.value) ?? pair.value)
        }
        let plain = UserInformation(splitting: address).url
        if plain != address {
            let authority = address.drop { $0 != "/" }.drop { $0 == "/" }.prefix { !"/?#".contains($0) }
            let user = authority[..<(authority.lastIndex(of: "@") ?? authority.startIndex)]
            words += user.split(separator: ":").map(String.init)
        }
        self.words = words.filter { $0.utf8.count >= Self.shortest }
    }

    private static func pairs(in text: String) -> [(key: String, value: String)] {
        let query = text.drop { $0 != "?" }.dropFirst()
        return query.split { "&;#".contains($0) }.map { part in
            let key = part.prefix { $0 != "=" }
            return (key.lowercased(), String(part.dropFirst(key.count + 1)))
        }
    }

    /// True if a text has a password: one of the list's, or one of its own.
    package func areIn(_ text: String) -> Bool {
        if UserInformation(splitting: text).url != text {
            return true
        }
        if words.contains(where: { text.contains($0) }) {
            return true
        }
        return Self.pairs(in: text).contains { Self.keys.contains($0.key) }
    }
}
