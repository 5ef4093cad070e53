internal import Assets
internal import HTTPMessage
internal import Origin
internal import TOMLKit

/// The streams file: the user's list of known streams, as a TOML file with one table per stream.
///
/// ```
/// [[stream]]
/// title = "BipBop, 16:9"
/// url = "https://example.com/bipbop/master.m3u8"
/// name = "bipbop"            # optional; derived from the title
/// logo = "https://example.com/bipbop.png"
/// group = "Examples"
/// headers = ["Referer: https://example.com/"]
/// ```
struct StreamFile {
    let streams: [KnownStream]

    /// Parses the text of the file at `path`. The error names the line and the key.
    init(_ text: String, path: String) throws(ConfigurationError) {
        let lines = TOMLText.lines(of: text)
        let table = try TOMLText.parse(text, path: path, next: "write each stream as in conf/streams.toml")
        if let key = table.keys.sorted().first(where: { $0 != "stream" }) {
            throw Self.error(
                path, Self.line(of: key, in: lines[...]), "there is no key \"\(key)\"", "put the key below [[stream]]")
        }
        guard let array = table["stream"]?.array ?? (table.isEmpty ? TOMLArray() : nil) else {
            throw Self.error(path, Self.line(of: "stream", in: lines[...]), "stream is not a list", "write [[stream]]")
        }
        var streams: [KnownStream] = []
        var names: [String: Int] = [:]
        var urls: [WebURL: Int] = [:]
        let heads = Self.heads(in: lines)
        for (index, entry) in array.enumerated() {
            let block = Self.block(index, heads, of: lines)
            let stream = try Self.stream(entry.table, block, path)
            if let twin = (urls[stream.url] ?? names[stream.name]).map({ streams[$0] }) {
                let key = twin.url == stream.url ? "url" : entry.table?["name"] == nil ? "title" : "name"
                let line = Self.line(of: key, in: block)
                let reason = key == "url" ? "\(twin.name) has this URL" : "the name \(stream.name) is taken"
                throw Self.error(
                    path, line, "\(key): \(reason) in an earlier entry", "delete one of them, or give it another name")
            }
            names[stream.name] = index
            urls[stream.url] = index
            streams.append(stream)
        }
        self.streams = streams
    }

    private static func stream(
        _ table: TOMLTable?, _ block: ArraySlice<Substring>, _ path: String
    ) throws(ConfigurationError) -> KnownStream {
        guard let table else { throw error(path, block.startIndex + 1, "stream is not a table", "write [[stream]]") }
        for key in table.keys.sorted() where !keys.contains(key) {
            throw error(
                path, line(of: key, in: block), "there is no key \"\(key)\"",
                "the keys are \(keys.joined(separator: ", "))")
        }
        func text(_ key: String) throws(ConfigurationError) -> String? {
            guard let value = table[key] else { return nil }
            guard let text = value.string, !text.isEmpty else {
                throw error(path, line(of: key, in: block), "\(key) is not a text", "write \(key) = \"…\"")
            }
            return text
        }
        let title = try text("title")
        let given = try text("name")
        guard let address = try text("url") else {
            throw error(path, block.startIndex + 1, "url is missing", "write url = \"https://…\"")
        }
        let url: WebURL
        do {
            url = try WebURL(address)
        } catch {
            // Without the text itself, which may contain a password or a token; the line says where it is.
            throw Self.error(
                path, line(of: "url", in: block), "url: \(error)",
                "write a URL that begins with http:// or https://, without a password")
        }
        let name = given ?? title.map(KnownStream.name) ?? ""
        guard var stream = KnownStream(name: name, title: title, url: url) else {
            throw error(
                path, line(of: given != nil ? "name" : title != nil ? "title" : "url", in: block),
                given.map { "name: \"\($0)\" is not a name" }
                    ?? "there is no name, and none can be derived from the title",
                "write name = \"…\" with lower-case letters, digits and single dashes")
        }
        stream.logo = try text("logo")
        stream.group = try text("group")
        do throws(UserFields.Refusal) {
            if let lines = fields(table), !lines.isEmpty {
                stream.fields = try UserFields(lines)
            }
        } catch {
            // Without the values, which are secrets.
            throw Self.error(
                path, line(of: "headers", in: block), "headers: \(error)",
                "write headers = [\"Name: value\", \"Name: value\"]")
        }
        return stream
    }

    private static let keys = ["name", "title", "url", "logo", "group", "headers"]

    /// The texts of `headers`; one that no field can be for another value, so that it is refused.
    private static func fields(_ table: TOMLTable) -> [String]? {
        guard let value = table["headers"] else { return nil }
        return value.array.map { $0.map { $0.string ?? "" } } ?? [""]
    }

    private static func heads(in lines: [Substring]) -> [Int] {
        lines.indices.filter {
            let line = lines[$0].drop { $0 == " " || $0 == "\t" }
            return line.hasPrefix("[[") && line.filter { $0 != " " && $0 != "\t" }.hasPrefix("[[stream]]")
        }
    }

    /// Finds the lines of an entry. The parser keeps no positions.
    private static func block(_ index: Int, _ heads: [Int], of lines: [Substring]) -> ArraySlice<Substring> {
        guard index < heads.count else { return lines[...] }
        return lines[heads[index]..<(index + 1 < heads.count ? heads[index + 1] : lines.count)]
    }

    private static func line(of key: String, in block: ArraySlice<Substring>) -> Int? {
        TOMLText.line(of: key, in: block)
    }

    private static func error(_ path: String, _ line: Int?, _ message: String, _ next: String) -> ConfigurationError {
        ConfigurationError(source: .file(path, line: line), message: message, next: next)
    }
}

extension StreamFile {
    /// The text of the file at `path` without the entry of a stream; its comments stay. Nil if the rest would not be the other
    /// entries exactly, as in a file with all streams in one list.
    static func removing(_ stream: KnownStream, from text: String, path: String) -> String? {
        guard let old = try? StreamFile(text, path: path).streams,
            let index = old.firstIndex(where: { $0.name == stream.name && $0.url == stream.url })
        else { return nil }
        let lines = TOMLText.lines(of: text)
        let heads = heads(in: lines)
        guard heads.count == old.count else { return nil }

        let block = block(index, heads, of: lines)
        let isKept = { (line: Substring) in
            // By bytes: a combining mark behind a "#" makes another character of it.
            let start = line.utf8.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            return start == nil || start == UInt8(ascii: "#") || start == UInt8(ascii: "\r")
        }
        // The blank lines that separated the entry from the next one go with it.
        let end = block.lastIndex { !isKept($0) } ?? block.startIndex
        let own = block[...end].filter { $0.utf8.contains(UInt8(ascii: "#")) && isKept($0) }
        let rest = block[(end + 1)...].drop { $0.allSatisfy(\.isWhitespace) }
        let kept = lines[..<block.startIndex] + own + rest + lines[block.endIndex...]
        var result = kept.joined(separator: "\n")
        if !result.isEmpty, result.utf8.last != UInt8(ascii: "\n") {
            result += "\n"
        }
        var wanted = old
        wanted.remove(at: index)
        guard let new = try? StreamFile(result, path: path).streams, new == wanted else { return nil }
        return result
    }

    /// An entry as text.
    static func text(of stream: KnownStream) -> String {
        var lines = ["[[stream]]", "name = \(quoted(stream.name))"]
        let optional = [("title", stream.title), ("logo", stream.logo), ("group", stream.group)]
        lines += optional.compactMap { key, value in value.map { "\(key) = \(quoted($0))" } }
        lines.append("url = \(quoted(stream.url.text))")
        if let fields = stream.fields, !fields.isEmpty {
            lines.append("headers = [\(fields.texts.map(quoted).joined(separator: ", "))]")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A basic string of TOML 1.0.
    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\\", "\"": escaped += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return "\"\(escaped)\""
    }
}
