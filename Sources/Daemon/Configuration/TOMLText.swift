internal import TOMLKit

/// Parses TOML, and finds the lines of its keys, for messages.
enum TOMLText {
    /// Parses a text to a table. The error of an invalid text has a next step.
    static func parse(
        _ text: String, path: String,
        next: String = "write it as: key = \"text\", key = 1, key = true or key = [\"text\"]"
    ) throws(ConfigurationError) -> TOMLTable {
        if let flaw = TOMLFlaw.first(in: text) {
            throw ConfigurationError(
                source: .file(path, line: flaw.line), message: "is not TOML: \(flaw.reason)", next: next)
        }
        do {
            return try TOMLTable(string: text)
        } catch let error as TOMLParseError {
            throw ConfigurationError(
                source: .file(path, line: error.source.begin.line), message: "is not TOML: \(error.description)",
                next: next)
        } catch {
            throw ConfigurationError(source: .file(path, line: nil), message: "is not TOML: \(error)", next: nil)
        }
    }

    /// The lines of a text, without their line feeds. By bytes: in Swift a line feed behind a carriage return is no character of
    /// its own.
    static func lines(of text: String) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// Finds the line where a key or its table begins. The parser keeps no positions of values.
    static func line(of name: String, in lines: ArraySlice<Substring>) -> Int? {
        let index = lines.firstIndex { line in
            var rest = line.drop { " \t[\"'".contains($0) }
            guard rest.hasPrefix(name) else { return false }
            rest = rest.dropFirst(name.count).drop { " \t\"'".contains($0) }
            guard let sign = rest.first else { return false }
            return "=.]".contains(sign)
        }
        return index.map { $0 + 1 }
    }
}
