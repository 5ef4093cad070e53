internal import Assets
internal import HLS
internal import HTTPMessage
internal import Origin
internal import Recordings
internal import TOMLKit

/// The streams file: the user's list of known streams and of channel lists, as a TOML file with one table for each.
///
/// ```
/// [[stream]]
/// title = "BipBop, 16:9"
/// url = "https://example.com/bipbop/master.m3u8"
/// name = "bipbop"            # optional; derived from the title
/// logo = "https://example.com/bipbop.png"
/// group = "Examples"
/// headers = ["Referer: https://example.com/"]
///
/// [[lists]]
/// url = "https://example.com/channels.m3u"
/// name = "tv"                # optional; derived from the URL
/// interval = "12h"           # optional
/// ```
struct StreamFile {
    let streams: [KnownStream]
    let lists: [KnownList]

    /// An empty file.
    init() {
        streams = []
        lists = []
    }

    /// Parses the text of the file at `path`. The error names the line and the key.
    init(_ text: String, path: String) throws(ConfigurationError) {
        let lines = TOMLText.lines(of: text)
        let table = try TOMLText.parse(text, path: path, next: "write each stream as in conf/streams.toml")
        for key in table.keys.sorted() where key != Self.streamTable && key != Self.listTable {
            throw Self.error(
                path, line: Self.line(of: key, in: lines[...]), "there is no key \"\(key)\"",
                next: "put the key below [[stream]]")
        }
        let array = try Self.array(Self.streamTable, of: table, lines, path: path)
        let tables = try Self.array(Self.listTable, of: table, lines, path: path)
        lists = try Self.lists(tables, lines, path: path)
        var streams: [KnownStream] = []
        var names: [String: Int] = [:]
        var urls: [WebURL: Int] = [:]
        for (index, entry) in array.enumerated() {
            let block = Self.block(index, of: Self.streamTable, in: lines)
            let stream = try Self.stream(entry.table, in: block, path: path)
            if let index = urls[stream.url] ?? names[stream.name] {
                let twin = streams[index]
                var key = "name"
                var reason = "the name \(stream.name) is taken"
                if twin.url == stream.url {
                    key = "url"
                    reason = "\(twin.name) has this URL"
                } else if entry.table?["name"] == nil {
                    key = "title"
                }
                throw Self.error(
                    path, line: Self.line(of: key, in: block), "\(key): \(reason) in an earlier entry",
                    next: "delete one of them, or give it another name")
            }
            names[stream.name] = index
            urls[stream.url] = index
            streams.append(stream)
        }
        self.streams = streams
    }

    private static let streamTable = "stream"
    private static let listTable = "lists"

    /// The tables of one kind; none if there is no such key.
    private static func array(
        _ key: String, of table: TOMLTable, _ lines: [Substring], path: String
    ) throws(ConfigurationError) -> TOMLArray {
        guard let value = table[key] else { return TOMLArray() }
        guard let array = value.array else {
            throw error(path, line: line(of: key, in: lines[...]), "\(key) is not a list", next: "write [[\(key)]]")
        }
        return array
    }

    // MARK: Channel lists

    private static let listKeys = ["name", "url", "interval", "headers"]

    private static func lists(
        _ array: TOMLArray, _ lines: [Substring], path: String
    ) throws(ConfigurationError) -> [KnownList] {
        var lists: [KnownList] = []
        for (index, entry) in array.enumerated() {
            let block = block(index, of: listTable, in: lines)
            let list = try list(entry.table, block, path: path)
            for (key, isTaken) in [
                ("url", lists.contains { $0.url == list.url }), ("name", lists.contains { $0.name == list.name }),
            ] where isTaken {
                throw error(
                    path, line: line(of: key, in: block) ?? block.startIndex + 1, "\(key): an earlier list has it",
                    next: "delete one of them, or give it another name")
            }
            lists.append(list)
        }
        return lists
    }

    private static func list(
        _ table: TOMLTable?, _ block: ArraySlice<Substring>, path: String
    ) throws(ConfigurationError) -> KnownList {
        guard let table else {
            throw error(path, line: block.startIndex + 1, "lists is not a table", next: "write [[lists]]")
        }
        for key in table.keys.sorted() where !listKeys.contains(key) {
            throw error(
                path, line: line(of: key, in: block), "there is no key \"\(key)\"",
                next: "the keys are \(listKeys.joined(separator: ", "))")
        }
        guard let address = table["url"]?.string else {
            throw error(path, line: block.startIndex + 1, "url is missing", next: "write url = \"https://…\"")
        }
        var interval = KnownList.usualInterval
        if let value = table["interval"] {
            guard let seconds = value.string.flatMap({ TimeSpan.seconds($0) }),
                KnownList.intervals.contains(Int64(seconds))
            else {
                throw error(
                    path, line: line(of: "interval", in: block), "interval is not a time from a minute to a year",
                    next: "write interval = \"12h\"")
            }
            interval = Int64(seconds)
        }
        return try list(table, address: address, interval: interval, block, path: path)
    }

    private static func list(
        _ table: TOMLTable, address: String, interval: Int64, _ block: ArraySlice<Substring>, path: String
    ) throws(ConfigurationError) -> KnownList {
        let split = UserInformation(splitting: address)
        guard let url = try? WebURL(split.url), !url.needsHandler else {
            // Without the text itself, which may contain a password or a token; the line says where it is.
            throw error(
                path, line: line(of: "url", in: block), "url: the URL must begin with http:// or https://",
                next: "write url = \"https://…\"")
        }
        let name = table["name"]?.string ?? AssetNaming.name(for: url)
        guard AssetNaming.isName(name) else {
            throw error(
                path, line: line(of: "name", in: block), "name: \"\(name)\" is not a name",
                next: "write name = \"…\" with lower-case letters, digits and single dashes")
        }
        do {
            return try KnownList(name: name, address: address, lines: fields(table) ?? [], interval: interval)
        } catch {
            // Without the values, which are secrets.
            throw Self.error(
                path, line: line(of: "headers", in: block), "headers: \(error)",
                next: "write headers = [\"Name: value\", \"Name: value\"]")
        }
    }

    private static func stream(
        _ table: TOMLTable?, in block: ArraySlice<Substring>, path: String
    ) throws(ConfigurationError) -> KnownStream {
        guard let table else {
            throw error(path, line: block.startIndex + 1, "stream is not a table", next: "write [[stream]]")
        }
        for key in table.keys.sorted() where !keys.contains(key) {
            throw error(
                path, line: line(of: key, in: block), "there is no key \"\(key)\"",
                next: "the keys are \(keys.joined(separator: ", "))")
        }
        func text(_ key: String) throws(ConfigurationError) -> String? {
            guard let value = table[key] else { return nil }
            guard let text = value.string, !text.isEmpty else {
                throw error(
                    path, line: line(of: key, in: block), "\(key) is not a text", next: "write \(key) = \"…\"")
            }
            return text
        }
        let title = try text("title")
        let given = try text("name")
        guard let address = try text("url") else {
            throw error(path, line: block.startIndex + 1, "url is missing", next: "write url = \"https://…\"")
        }
        let url: WebURL
        do {
            url = try WebURL(address)
        } catch {
            // Without the text itself, which may contain a password or a token; the line says where it is.
            throw Self.error(
                path, line: line(of: "url", in: block), "url: \(error)",
                next: "write a URL that begins with http:// or https://, without a password")
        }
        let derived = title.map(KnownStream.name)
        let name = given ?? derived
        guard var stream = KnownStream(name: name ?? "", title: title, url: url) else {
            var key = "url"
            var message = "there is no name, and none can be derived from the title"
            if let given {
                key = "name"
                message = "name: \"\(given)\" is not a name"
            } else if title != nil {
                key = "title"
            }
            throw error(
                path, line: line(of: key, in: block), message,
                next: "write name = \"…\" with lower-case letters, digits and single dashes")
        }
        stream.logo = try text("logo")
        stream.group = try text("group")
        stream.guideID = try text("guide-id")
        stream.attributes = try attributes(table, block, path: path)
        do throws(UserFields.Refusal) {
            if let lines = fields(table), !lines.isEmpty {
                stream.fields = try UserFields(lines)
            }
        } catch {
            // Without the values, which are secrets.
            throw Self.error(
                path, line: line(of: "headers", in: block), "headers: \(error)",
                next: "write headers = [\"Name: value\", \"Name: value\"]")
        }
        return stream
    }

    private static let keys = ["name", "title", "url", "logo", "group", "guide-id", "attributes", "headers"]

    private static func attributes(
        _ table: TOMLTable, _ block: ArraySlice<Substring>, path: String
    ) throws(ConfigurationError) -> [ChannelList.Attribute] {
        guard let value = table["attributes"] else { return [] }
        let own = value.table
        var attributes: [ChannelList.Attribute] = []
        for key in own?.keys.sorted() ?? [] {
            guard let text = own?[key]?.string, let attribute = ChannelList.Attribute(name: key, value: text) else {
                continue
            }
            attributes.append(attribute)
        }
        guard let own, attributes.count == own.keys.count else {
            throw error(
                path, line: line(of: "attributes", in: block), "attributes is not a table of texts",
                next: "write attributes = { \"tvg-chno\" = \"5\" }")
        }
        return attributes
    }

    /// The texts of `headers`; one that no field can be for another value, so that it is refused.
    private static func fields(_ table: TOMLTable) -> [String]? {
        guard let value = table["headers"] else { return nil }
        guard let array = value.array else { return [""] }
        return array.map { value in
            value.string ?? ""
        }
    }

    /// The lines that begin an entry of any kind, with the name of its table.
    private static func heads(in lines: [Substring]) -> [(line: Int, table: Substring)] {
        lines.indices.compactMap { index in
            let line = lines[index].drop { $0 == " " || $0 == "\t" }
            guard line.hasPrefix("[["), let end = line.firstIndex(of: "]") else { return nil }
            let name = line[..<end].dropFirst(2).drop { $0 == " " || $0 == "\t" }
            return (index, name.prefix { $0 != " " && $0 != "\t" })
        }
    }

    /// Finds the lines of an entry of a kind. The parser keeps no positions.
    private static func block(_ index: Int, of table: String, in lines: [Substring]) -> ArraySlice<Substring> {
        let heads = heads(in: lines)
        let own = heads.filter { $0.table == table }
        guard index < own.count else { return lines[...] }
        let end = heads.first { $0.line > own[index].line }?.line ?? lines.count
        return lines[own[index].line..<end]
    }

    private static func line(of key: String, in block: ArraySlice<Substring>) -> Int? {
        TOMLText.line(of: key, in: block)
    }

    private static func error(_ path: String, line: Int?, _ message: String, next: String) -> ConfigurationError {
        ConfigurationError(source: .file(path, line: line), message: message, next: next)
    }
}

extension StreamFile {
    /// The text of the file at `path` without the entry of a stream; its comments stay. Nil if the rest would not be the other
    /// entries exactly, as in a file with all streams in one list.
    static func removing(_ stream: KnownStream, from text: String, path: String) -> String? {
        guard let old = try? StreamFile(text, path: path),
            let index = old.streams.firstIndex(where: { $0.name == stream.name && $0.url == stream.url })
        else { return nil }
        var wanted = old.streams
        wanted.remove(at: index)
        guard let result = removing(index, of: streamTable, from: text, count: old.streams.count),
            let new = try? StreamFile(result, path: path), new.streams == wanted, new.lists == old.lists
        else { return nil }
        return result
    }

    /// As for a stream, the text without the entry of a channel list.
    static func removing(list name: String, from text: String, path: String) -> String? {
        guard let old = try? StreamFile(text, path: path),
            let index = old.lists.firstIndex(where: { $0.name == name })
        else { return nil }
        var wanted = old.lists
        wanted.remove(at: index)
        guard let result = removing(index, of: listTable, from: text, count: old.lists.count),
            let new = try? StreamFile(result, path: path), new.lists == wanted, new.streams == old.streams
        else { return nil }
        return result
    }

    /// - Parameter count: the number of entries of the kind, each of which must have lines of its own.
    private static func removing(_ index: Int, of table: String, from text: String, count: Int) -> String? {
        let lines = TOMLText.lines(of: text)
        guard heads(in: lines).count(where: { $0.table == table }) == count else { return nil }

        let block = block(index, of: table, in: lines)
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
        return result
    }

    /// An entry as text.
    static func text(of stream: KnownStream) -> String {
        var lines = ["[[stream]]", "name = \(quoted(stream.name))"]
        let optional = [
            ("title", stream.title), ("logo", stream.logo), ("group", stream.group), ("guide-id", stream.guideID),
        ]
        for case (let key, let value?) in optional {
            lines.append("\(key) = \(quoted(value))")
        }
        lines.append("url = \(quoted(stream.url.text))")
        if !stream.attributes.isEmpty {
            let pairs = stream.attributes.map { "\(quoted($0.name)) = \(quoted($0.value))" }
            lines.append("attributes = { \(pairs.joined(separator: ", ")) }")
        }
        if let fields = stream.fields, !fields.isEmpty {
            lines.append("headers = [\(fields.texts.map(quoted).joined(separator: ", "))]")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The entry of a channel list as text.
    static func text(of list: KnownList) -> String {
        var lines = ["[[lists]]", "name = \(quoted(list.name))", "url = \(quoted(list.address))"]
        if list.interval != KnownList.usualInterval {
            lines.append("interval = \(quoted(TimeSpan.text(list.interval)))")
        }
        if !list.lines.isEmpty {
            lines.append("headers = [\(list.lines.map(quoted).joined(separator: ", "))]")
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
