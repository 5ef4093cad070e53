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
        for key in table.keys.sorted() where StreamFileEntry.Kind(rawValue: key) == nil {
            let line = TOMLText.line(of: key, in: lines[...])
            throw ConfigurationError(
                source: .file(path, line: line), message: "there is no key \"\(key)\"",
                next: "put the key below [[stream]]")
        }
        var twins = Twins()
        streams = try Self.entries(.stream, of: table, lines, path: path).map { entry throws(ConfigurationError) in
            let stream = try Self.stream(entry)
            try twins.add(name: stream.name, url: stream.url, entry)
            return stream
        }
        twins = Twins()
        lists = try Self.entries(.lists, of: table, lines, path: path).map { entry throws(ConfigurationError) in
            let list = try Self.list(entry)
            try twins.add(name: list.name, url: list.url, entry)
            return list
        }
    }

    /// The entries of one kind; none if the file has no such key.
    private static func entries(
        _ kind: StreamFileEntry.Kind, of table: TOMLTable, _ lines: [Substring], path: String
    ) throws(ConfigurationError) -> [StreamFileEntry] {
        guard let value = table[kind.rawValue] else { return [] }
        guard let array = value.array else {
            let line = TOMLText.line(of: kind.rawValue, in: lines[...])
            throw ConfigurationError(
                source: .file(path, line: line), message: "\(kind.rawValue) is not a list",
                next: "write [[\(kind.rawValue)]]")
        }
        var entries: [StreamFileEntry] = []
        for (index, value) in array.enumerated() {
            let block = block(index, of: kind, in: lines)
            entries.append(try StreamFileEntry(kind, value, lines: block, path: path))
        }
        return entries
    }

    /// Finds entries of one kind with the same name or URL.
    private struct Twins {
        private var names: Set<String> = []
        private var namesByURL: [WebURL: String] = [:]

        mutating func add(name: String, url: WebURL, _ entry: StreamFileEntry) throws(ConfigurationError) {
            let next = "delete one of them, or give it another name"
            if let twin = namesByURL[url] {
                throw entry.error(at: "url", "url: \(twin) has this URL in an earlier entry", next: next)
            }
            guard names.insert(name).inserted else {
                // A name that is not given comes from another key.
                let key = ["name", "title"].first(where: entry.has) ?? "url"
                throw entry.error(at: key, "\(key): the name \(name) is taken in an earlier entry", next: next)
            }
            namesByURL[url] = name
        }
    }

    private static func list(_ entry: StreamFileEntry) throws(ConfigurationError) -> KnownList {
        let address = try entry.address()
        guard let url = try? WebURL(UserInformation(splitting: address).url), !url.needsHandler else {
            // Without the text itself, which may contain a password or a token; the line says where it is.
            throw entry.error(
                at: "url", "url: the URL must begin with http:// or https://", next: "write url = \"https://…\"")
        }
        let name = try entry.name() ?? AssetNaming.name(for: url)
        let interval = try interval(entry)
        let lines = try entry.fields() ?? []
        do {
            return try KnownList(name: name, address: address, lines: lines, interval: interval)
        } catch {
            // The password of the URL makes a field too.
            throw entry.error(at: "url", "url: \(error)", next: "give the password as a field, below headers")
        }
    }

    private static func interval(_ entry: StreamFileEntry) throws(ConfigurationError) -> Int64 {
        guard entry.has("interval") else { return KnownList.usualInterval }
        let text = try entry.text("interval")
        guard let seconds = text.flatMap({ TimeSpan.seconds($0) }), KnownList.intervals.contains(Int64(seconds)) else {
            throw entry.error(
                at: "interval", "interval is not a time from a minute to a year", next: "write interval = \"12h\"")
        }
        return Int64(seconds)
    }

    private static func stream(_ entry: StreamFileEntry) throws(ConfigurationError) -> KnownStream {
        let title = try entry.text("title")
        let given = try entry.name()
        let address = try entry.address()
        let url: WebURL
        do {
            url = try WebURL(address)
        } catch {
            // Without the text itself, as for a list.
            throw entry.error(
                at: "url", "url: \(error)",
                next: "write a URL that begins with http:// or https://, without a password")
        }
        let derived = KnownStream.name(forTitle: title ?? "")
        guard var stream = KnownStream(name: given ?? derived, title: title, url: url) else {
            let key = title == nil ? "url" : "title"
            throw entry.error(
                at: key, "there is no name, and none can be derived from the title", next: StreamFileEntry.nextForName)
        }
        stream.logo = try entry.text("logo")
        stream.group = try entry.text("group")
        stream.guideID = try entry.text("guide-id")
        stream.attributes = try attributes(entry)
        if let lines = try entry.fields() {
            stream.fields = try? UserFields(lines)
        }
        return stream
    }

    private static func attributes(_ entry: StreamFileEntry) throws(ConfigurationError) -> [ChannelList.Attribute] {
        let key = "attributes"
        var attributes: [ChannelList.Attribute] = []
        for text in try entry.texts(key) {
            guard let attribute = ChannelList.Attribute(name: text.key, value: text.value) else {
                throw entry.notTexts(key)
            }
            attributes.append(attribute)
        }
        return attributes
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
    private static func block(
        _ index: Int, of kind: StreamFileEntry.Kind, in lines: [Substring]
    ) -> ArraySlice<Substring> {
        let heads = heads(in: lines)
        let own = heads.filter { $0.table == kind.rawValue }
        guard index < own.count else { return lines[...] }
        let end = heads.first { $0.line > own[index].line }?.line ?? lines.count
        return lines[own[index].line..<end]
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
        guard let result = removing(index, of: .stream, from: text, count: old.streams.count),
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
        guard let result = removing(index, of: .lists, from: text, count: old.lists.count),
            let new = try? StreamFile(result, path: path), new.lists == wanted, new.streams == old.streams
        else { return nil }
        return result
    }

    /// - Parameter count: the number of entries of the kind, each of which must have lines of its own.
    private static func removing(
        _ index: Int, of kind: StreamFileEntry.Kind, from text: String, count: Int
    ) -> String? {
        let lines = TOMLText.lines(of: text)
        guard heads(in: lines).count(where: { $0.table == kind.rawValue }) == count else { return nil }

        let block = block(index, of: kind, in: lines)
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
        var lines = [head(of: .stream), "name = \(quoted(stream.name))"]
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
        var lines = [head(of: .lists), "name = \(quoted(list.name))", "url = \(quoted(list.address))"]
        if list.interval != KnownList.usualInterval {
            lines.append("interval = \(quoted(TimeSpan.text(list.interval)))")
        }
        if !list.lines.isEmpty {
            lines.append("headers = [\(list.lines.map(quoted).joined(separator: ", "))]")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func head(of kind: StreamFileEntry.Kind) -> String { "[[\(kind.rawValue)]]" }

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
