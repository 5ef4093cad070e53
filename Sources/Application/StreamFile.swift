internal import HTTPMessage
internal import Library
internal import TOMLKit

/// The streams file: the user's list of known streams, as a TOML file with one table per stream.
///
/// ```
/// [[stream]]
/// title = "BipBop, 16:9"
/// url = "https://example.com/bipbop/master.m3u8"
/// name = "bipbop"            # optional; derived from the title
/// ```
struct StreamFile {
    let streams: [KnownStream]

    /// Parses the text of the file at `path`. The error names the line and the key.
    init(_ text: String, path: String) throws(ConfigurationError) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let table = try ConfigurationFile.parse(text, path: path, next: "write each stream as in conf/streams.toml")
        if let key = table.keys.sorted().first(where: { $0 != "stream" }) {
            throw Self.error(
                path, Self.line(of: key, in: lines[...]), "there is no key \"\(key)\"", "put the key below [[stream]]")
        }
        guard let array = table["stream"]?.array ?? (table.isEmpty ? TOMLArray() : nil) else {
            throw Self.error(path, Self.line(of: "stream", in: lines[...]), "stream is not a list", "write [[stream]]")
        }
        var streams: [KnownStream] = []
        for (index, entry) in array.enumerated() {
            let block = Self.block(index, of: lines)
            let stream = try Self.stream(entry.table, block, path)
            if let twin = streams.first(where: { $0.name == stream.name || $0.url == stream.url }) {
                let key = twin.url == stream.url ? "url" : entry.table?["name"] == nil ? "title" : "name"
                let line = Self.line(of: key, in: block)
                let reason = key == "url" ? "\(twin.name) has this URL" : "the name \(stream.name) is taken"
                throw Self.error(
                    path, line, "\(key): \(reason) in an earlier entry", "delete one of them, or give it another name")
            }
            streams.append(stream)
        }
        self.streams = streams
    }

    private static func stream(
        _ table: TOMLTable?, _ block: ArraySlice<Substring>, _ path: String
    ) throws(ConfigurationError) -> KnownStream {
        guard let table else { throw error(path, block.startIndex + 1, "stream is not a table", "write [[stream]]") }
        for key in table.keys.sorted() where !["name", "title", "url"].contains(key) {
            throw error(
                path, line(of: key, in: block), "there is no key \"\(key)\"", "the keys are name, title and url")
        }
        func text(_ key: String) throws(ConfigurationError) -> String? {
            guard let value = table[key] else { return nil }
            guard let text = value.string, !text.isEmpty else {
                throw error(path, line(of: key, in: block), "\(key) is not a text", "write \(key) = \"…\"")
            }
            return text
        }
        let (title, given) = (try text("title"), try text("name"))
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
        guard let stream = KnownStream(name: name, title: title, url: url) else {
            throw error(
                path, line(of: given != nil ? "name" : title != nil ? "title" : "url", in: block),
                given.map { "name: \"\($0)\" is not a name" }
                    ?? "there is no name, and none can be derived from the title",
                "write name = \"…\" with lower-case letters, digits and single dashes")
        }
        return stream
    }

    /// Finds the lines of an entry. The parser keeps no positions.
    private static func block(_ index: Int, of lines: [Substring]) -> ArraySlice<Substring> {
        let heads = lines.indices.filter {
            lines[$0].filter { $0 != " " && $0 != "\t" && $0 != "\r" }.hasPrefix("[[stream]]")
        }
        guard index < heads.count else { return lines[...] }
        return lines[heads[index]..<(index + 1 < heads.count ? heads[index + 1] : lines.count)]
    }

    private static func line(of key: String, in block: ArraySlice<Substring>) -> Int? {
        ConfigurationFile.line(of: key, in: block)
    }

    private static func error(_ path: String, _ line: Int?, _ message: String, _ next: String) -> ConfigurationError {
        ConfigurationError(place: .file(path, line: line), message: message, next: next)
    }
}
