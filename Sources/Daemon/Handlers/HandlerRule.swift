package import HTTPMessage
internal import TOMLKit

/// One entry of the table `[handlers]`: who answers which URLs instead of an origin.
package struct HandlerRule: Equatable, Sendable {
    /// The URLs that a rule is for.
    package enum Scope: Equatable, Sendable {
        /// All URLs of a scheme, in lower case.
        case scheme(String)
        /// URLs of the user that match a pattern, in which `*` stands for any characters.
        case pattern(String)
    }

    /// The one who answers.
    package enum Target: Equatable, Sendable {
        /// A program and its arguments; `--` and the URL follow them.
        case program([String])
        /// An HTTP server; the query field `url` is added.
        case server(WebURL)
    }

    package let scope: Scope
    package let target: Target
    /// True if the rule also answers URLs that playlists name, such as those of keys.
    package let answersPlaylists: Bool

    /// Reads the table. The error has the line of the entry.
    static func rules(
        of table: TOMLTable, path: String, line: (String) -> Int?
    ) throws(ConfigurationError) -> [HandlerRule] {
        var rules: [HandlerRule] = []
        for key in table.keys.sorted() {
            do throws(Refusal) {
                guard let value = table[key] else { continue }
                rules.append(try rule(key, value))
            } catch {
                throw ConfigurationError(
                    source: .file(path, line: line(key)), message: "handlers, \"\(key)\": \(error.sentence)",
                    next:
                        "write SCHEME = [\"program\", \"argument\"] or \"https://host/*\" = [\"program\"]; see conf/weir.toml"
                )
            }
        }
        return rules
    }

    private static func rule(_ key: String, _ value: any TOMLValueConvertible) throws(Refusal) -> HandlerRule {
        let scope = try scope(key)
        if let words = value.array {
            return .init(scope: scope, target: try program(words), answersPlaylists: false)
        }
        if let text = value.string {
            return .init(scope: scope, target: try server(text), answersPlaylists: false)
        }
        guard let table = value.table else {
            throw Refusal("it is neither a list of words, nor a URL, nor a table")
        }
        let unknown = table.keys.sorted().first { !["command", "server", "from-playlists"].contains($0) }
        if let unknown {
            throw Refusal("there is no key \"\(unknown)\"; the keys are command, server and from-playlists")
        }
        let answersPlaylists = table["from-playlists"]?.bool ?? false
        if answersPlaylists, case .pattern = scope {
            throw Refusal("a pattern answers only URLs that you give yourself")
        }
        switch (table["command"]?.array, table["server"]?.string) {
        case (let words?, nil):
            return .init(scope: scope, target: try program(words), answersPlaylists: answersPlaylists)
        case (nil, let text?):
            return .init(scope: scope, target: try server(text), answersPlaylists: answersPlaylists)
        default: throw Refusal("it needs either command or server")
        }
    }

    private static func scope(_ key: String) throws(Refusal) -> Scope {
        guard !key.contains("://") else {
            guard key.hasPrefix("http://") || key.hasPrefix("https://") else {
                throw Refusal("a pattern begins with http:// or https://")
            }
            return .pattern(key)
        }
        let scheme = key.lowercased()
        guard let first = scheme.utf8.first, (0x61...0x7A).contains(first),
            scheme.utf8.allSatisfy({
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
            })
        else { throw Refusal("it is neither a scheme nor a pattern of URLs") }
        guard !["http", "https", "file", "data"].contains(scheme) else {
            throw Refusal("no handler can answer \(scheme):")
        }
        return .scheme(scheme)
    }

    private static func program(_ array: TOMLArray) throws(Refusal) -> Target {
        let words = array.compactMap(\.string)
        guard words.count == array.count, let first = words.first, !first.isEmpty else {
            throw Refusal("the command is not a list of words that begins with a program")
        }
        return .program(words)
    }

    private static func server(_ text: String) throws(Refusal) -> Target {
        guard let url = try? WebURL(text), !url.needsHandler else {
            throw Refusal("the server is no http or https URL")
        }
        return .server(url)
    }

    /// True if the rule is for the URL.
    /// - Parameter isUsers: true if the user gave the URL.
    func answers(_ url: WebURL, isUsers: Bool) -> Bool {
        switch scope {
        case .scheme(let name): url.scheme == .other(name) && (isUsers || answersPlaylists)
        case .pattern(let pattern): isUsers && Self.matches(url.text, pattern)
        }
    }

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        let parts = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, text.utf8.starts(with: first) else { return false }
        if parts.count == 1 {
            return text.utf8.count == first.count
        }
        var rest = Array(text.utf8.dropFirst(first.count))[...]
        for part in parts.dropFirst().dropLast() {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.suffix(last.count).elementsEqual(last)
    }
}
