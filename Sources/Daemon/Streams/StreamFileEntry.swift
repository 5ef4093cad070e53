internal import Assets
internal import Origin
internal import TOMLKit

/// One entry of the streams file with its lines, read key by key. Each error names the line and the key, and shows no secret.
struct StreamFileEntry {
    /// The kinds of entries, by the names of their tables.
    enum Kind: String, CaseIterable {
        case stream
        case lists

        /// All keys. A key of several kinds means the same in each.
        var keys: [String] {
            switch self {
            case .stream: ["name", "title", "url", "logo", "group", "guide-id", "attributes", "headers"]
            case .lists: ["name", "url", "interval", "headers"]
            }
        }
    }

    let kind: Kind
    private let table: TOMLTable
    private let lines: ArraySlice<Substring>
    private let path: String

    /// - Parameters:
    ///   - value: the entry, which must be a table that has only keys of the kind.
    ///   - lines: its part of the file at `path`.
    init(
        _ kind: Kind, _ value: any TOMLValueConvertible, lines: ArraySlice<Substring>, path: String
    ) throws(ConfigurationError) {
        self.kind = kind
        self.lines = lines
        self.path = path
        guard let table = value.table else {
            throw ConfigurationError(
                source: .file(path, line: lines.startIndex + 1), message: "\(kind.rawValue) is not a table",
                next: "write [[\(kind.rawValue)]]")
        }
        self.table = table
        for key in table.keys.sorted() where !kind.keys.contains(key) {
            throw error(
                at: key, "there is no key \"\(key)\"", next: "the keys are \(kind.keys.joined(separator: ", "))")
        }
    }

    func has(_ key: String) -> Bool { table[key] != nil }

    /// An error about a key; without the key's line, its entry's.
    func error(at key: String, _ message: String, next: String) -> ConfigurationError {
        let line = TOMLText.line(of: key, in: lines) ?? lines.startIndex + 1
        return ConfigurationError(source: .file(path, line: line), message: message, next: next)
    }

    /// The text of a key that need not be there.
    func text(_ key: String) throws(ConfigurationError) -> String? {
        guard let value = table[key] else { return nil }
        guard let text = value.string, !text.isEmpty else {
            throw error(at: key, "\(key) is not a text", next: "write \(key) = \"…\"")
        }
        return text
    }

    /// The text of the key `url`.
    func address() throws(ConfigurationError) -> String {
        guard let address = try text("url") else {
            throw error(at: "url", "url is missing", next: "write url = \"https://…\"")
        }
        return address
    }

    /// The key `name`.
    func name() throws(ConfigurationError) -> String? {
        guard let name = try text("name") else { return nil }
        guard AssetNaming.isName(name) else {
            throw error(at: "name", "name: \"\(name)\" is not a name", next: Self.nextForName)
        }
        return name
    }

    static let nextForName = "write name = \"…\" with lower-case letters, digits and single dashes"

    /// The texts of `headers`; nil without any.
    func fields() throws(ConfigurationError) -> [String]? {
        guard let value = table["headers"] else { return nil }
        // A text that no field can be stands for another value.
        var lines = [""]
        if let array = value.array {
            lines = array.map { value in
                value.string ?? ""
            }
        }
        do throws(UserFields.Refusal) {
            _ = try UserFields(lines)
        } catch {
            // Without the values, which are secrets.
            throw self.error(
                at: "headers", "headers: \(error)", next: "write headers = [\"Name: value\", \"Name: value\"]")
        }
        guard !lines.isEmpty else { return nil }
        return lines
    }

    /// The texts of a table, by their keys.
    func texts(_ key: String) throws(ConfigurationError) -> [(key: String, value: String)] {
        guard let value = table[key] else { return [] }
        guard let own = value.table else { throw notTexts(key) }
        var texts: [(key: String, value: String)] = []
        for name in own.keys.sorted() {
            guard let text = own[name]?.string else { throw notTexts(key) }
            texts.append((name, text))
        }
        return texts
    }

    func notTexts(_ key: String) -> ConfigurationError {
        error(at: key, "\(key) is not a table of texts", next: "write \(key) = { \"tvg-chno\" = \"5\" }")
    }
}
