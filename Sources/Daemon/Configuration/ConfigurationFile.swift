internal import Orders
internal import TOMLKit
internal import WeirAPI

/// The settings of a TOML file, each with its line.
struct ConfigurationFile {
    struct Entry {
        let key: Configuration.Key
        let setting: Setting
        /// The line number from 1; nil if the search for the key finds none.
        let line: Int?
    }

    /// An entry of the table `[selection]`.
    struct SelectionEntry {
        let key: Selection.Key
        let setting: Setting
        let line: Int?
    }

    let entries: [Entry]
    /// The table `[handlers]`.
    let handlers: [HandlerRule]
    /// In the order of `Selection.Key`.
    let selection: [SelectionEntry]

    /// Parses the text of the file at `path`. Throws for text that is not TOML, and for unknown keys.
    init(_ text: String, path: String) throws(ConfigurationError) {
        let table = try TOMLText.parse(text, path: path)
        let lines = TOMLText.lines(of: text)
        var entries: [Entry] = []
        var handlers: [HandlerRule] = []
        let line = { (name: String) in TOMLText.line(of: name, in: lines[...]) ?? 0 }
        for name in table.keys.sorted(by: { line($0) < line($1) }) {
            let line = TOMLText.line(of: name, in: lines[...])
            if name == Self.handlersTable {
                guard let table = table[name]?.table else {
                    throw ConfigurationError(
                        source: .file(path, line: line), message: "handlers is not a table", next: "write [handlers]")
                }
                handlers = try HandlerRule.rules(of: table, path: path) { TOMLText.line(of: $0, in: lines[...]) }
                continue
            }
            if name == Self.selectionTable {
                continue
            }
            guard let key = Configuration.Key(rawValue: name) else {
                throw .unknownKey(name, source: .file(path, line: line))
            }
            entries.append(Entry(key: key, setting: Self.setting(table[name]), line: line))
        }
        self.entries = entries
        self.handlers = handlers
        selection = try Self.selection(table[Self.selectionTable], in: lines, path: path)
    }

    private static let selectionTable = "selection"

    private static func selection(
        _ value: (any TOMLValueConvertible)?, in lines: [Substring], path: String
    ) throws(ConfigurationError) -> [SelectionEntry] {
        guard let value else { return [] }
        let head = TOMLText.line(of: selectionTable, in: lines[...])
        guard let table = value.table else {
            throw ConfigurationError(
                source: .file(path, line: head), message: "selection is not a table", next: "write [selection]")
        }
        let below = lines[(head ?? 0)...]
        let names = Selection.Key.allCases.map(\.rawValue)
        for name in table.keys.sorted() where !names.contains(name) {
            throw ConfigurationError(
                source: .file(path, line: TOMLText.line(of: name, in: below)),
                message: "there is no key \"\(name)\" in [selection]",
                next: "delete the line; the keys are \(names.joined(separator: ", "))")
        }
        return Selection.Key.allCases.compactMap { key in
            guard let value = table[key.rawValue] else { return nil }
            return SelectionEntry(key: key, setting: setting(value), line: TOMLText.line(of: key.rawValue, in: below))
        }
    }

    private static let handlersTable = "handlers"

    private static func setting(_ value: (any TOMLValueConvertible)?) -> Setting {
        guard let value else { return .other("nothing") }
        if let text = value.string {
            return .text(text)
        }
        if let truth = value.bool {
            return .truth(truth)
        }
        if let number = value.int {
            return .number(number)
        }
        guard let array = value.array else { return .other(value.type.description) }
        let texts = array.compactMap { $0.string }
        guard texts.count == array.count else { return .other("mixed array") }
        return .list(texts)
    }
}

extension ConfigurationError {
    static func unknownKey(_ name: String, source: Source) -> ConfigurationError {
        let missing = "there is no key \"\(name)\""
        if let nearest = Configuration.Key.nearest(to: name) {
            return ConfigurationError(
                source: source, message: "\(missing); did you mean \"\(nearest.rawValue)\"?",
                next: "correct the key, or delete the line")
        }
        let keys = Configuration.Key.allCases.map(\.rawValue).joined(separator: ", ")
        return ConfigurationError(source: source, message: missing, next: "delete the line; the keys are \(keys)")
    }
}
