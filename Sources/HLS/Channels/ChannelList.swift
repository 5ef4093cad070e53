/// A channel list: the `.m3u` file in which VLC, Kodi and televisions keep streams, one after the other. Pure.
///
/// It has no standard. Each entry is a line with a URL; lines before it describe it: `#EXTINF` with a title and attributes such
/// as `tvg-logo` and `group-title`, `#EXTGRP`, and header fields in `#EXTVLCOPT`, `#KODIPROP` or behind a `|` in the URL's line.
/// An HLS playlist has the same first line, and is no channel list: see `isHLS`.
public struct ChannelList: Equatable, Sendable {
    /// One stream.
    public struct Channel: Equatable, Sendable {
        /// As written, without header fields behind it.
        public var url: String
        /// The text behind the comma of `#EXTINF`, or `tvg-name`.
        public var title: String?
        /// `tvg-id`.
        public var id: String?
        /// The URL of a picture: `tvg-logo`.
        public var logo: String?
        /// `group-title`, or `#EXTGRP`.
        public var group: String?
        /// Header fields as `Name: value`, without two of one name.
        public var fields: [String] = []
        /// True if the entry says that it is MPEG-DASH.
        public var isDASH = false
        /// Nil for a live stream, and if it is not known.
        public var duration: MediaDuration?
        /// Line number of the URL, from 1; 0 for a channel that was not parsed.
        public var line = 0

        /// Creates a channel without a description.
        public init(url: String) { self.url = url }

        /// Creates a channel from the line of its URL, with header fields behind a `|` as Kodi has them: `URL|Referer=…&Name=…`.
        public init(line: String) {
            self.init(url: "")
            setURL(line)
        }
    }

    /// The channels in the order of the list.
    public let channels: [Channel]

    /// Creates a list to be written.
    public init(_ channels: [Channel]) { self.channels = channels }

    /// True if a text is meant as a channel list or an HLS playlist: it begins with `#EXTM3U` or `#EXTINF`, or is a PLS file.
    public static func isMeant(by bytes: [UInt8]) -> Bool {
        let start = Self.start(of: bytes).prefix(7)
        return ["#EXTM3U", "#EXTINF"].contains(String(decoding: start, as: UTF8.self).uppercased()) || isPLS(bytes)
    }

    /// True for a PLS file, the list of radio stations: its first line is `[playlist]`.
    public static func isPLS(_ bytes: [UInt8]) -> Bool {
        String(decoding: start(of: bytes).prefix(10), as: UTF8.self).lowercased() == "[playlist]"
    }

    private static func start(of bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.drop { [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
    }

    /// True for an HLS playlist: a line has a tag that each media or multivariant playlist must have (RFC 8216 §4.3).
    public static func isHLS(_ bytes: [UInt8]) -> Bool {
        lines(of: bytes).contains { line in
            ["#EXT-X-TARGETDURATION", "#EXT-X-STREAM-INF", "#EXT-X-I-FRAME-STREAM-INF"].contains { line.hasPrefix($0) }
        }
    }

    /// Parses a text in UTF-8, or else in ISO 8859-1. Lines that are not understood are ignored.
    public init(_ bytes: [UInt8]) {
        guard !Self.isPLS(bytes) else {
            channels = Self.channels(ofPLS: Self.lines(of: bytes))
            return
        }
        var channels: [Channel] = []
        var next = Channel(url: "")
        for (index, line) in Self.lines(of: bytes).enumerated() {
            guard !line.isEmpty else { continue }
            if line.first == "#" {
                next.read(line)
                continue
            }
            next.setURL(line)
            next.line = index + 1
            channels.append(next)
            next = Channel(url: "")
        }
        self.channels = channels
    }

    /// The entries of a PLS file by their numbers: `File1=URL`, `Title1=…`, and `Length1=` with seconds, -1 for a live stream.
    private static func channels(ofPLS lines: [String]) -> [Channel] {
        var entries: [Int: Channel] = [:]
        for (index, line) in lines.enumerated() {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let value = String(line[line.index(after: equals)...])
            let key = line[..<equals].lowercased()
            let name = key.prefix { !$0.isNumber }
            guard let number = Int(key.dropFirst(name.count)), !value.isEmpty else { continue }

            var channel = entries[number] ?? Channel(url: "")
            switch name {
            case "file":
                channel.setURL(value)
                channel.line = index + 1
            case "title": channel.title = value
            case "length": channel.setDuration(value[...].unicodeScalars)
            default: continue
            }
            entries[number] = channel
        }
        return entries.sorted { $0.key < $1.key }.map(\.value).filter { !$0.url.isEmpty }
    }

    private static func lines(of bytes: [UInt8]) -> [String] {
        let text =
            String(validating: bytes, as: UTF8.self)
            ?? bytes.reduce(into: "") { $0.unicodeScalars.append(Unicode.Scalar($1)) }
        // By scalars: a carriage return and a line feed are one character, and so are a line feed and an accent behind it.
        let scalars = text.unicodeScalars
        var lines = [String.UnicodeScalarView()]
        var previous: Unicode.Scalar?
        for scalar in scalars {
            if scalar == "\n" || scalar == "\r" {
                if scalar != "\n" || previous != "\r" {
                    lines.append(String.UnicodeScalarView())
                }
            } else if scalar != "\u{FEFF}" {
                lines[lines.count - 1].append(ChannelText.withoutControl(scalar))
            }
            previous = scalar
        }
        return lines.map { ChannelText.trimmed($0[...]) }
    }

    // MARK: Writing

    /// The list as text for players.
    public var text: String {
        channels.reduce(into: "#EXTM3U\n") { text, channel in
            let duration = Double((channel.duration ?? .zero).milliseconds) / 1000
            var length = "-1"
            if duration > 0 {
                length = "\(duration)"
            }
            text += "#EXTINF:\(length)"
            let attributes = [("tvg-id", channel.id), ("tvg-logo", channel.logo), ("group-title", channel.group)]
            for (name, value) in attributes {
                if let value {
                    text += " \(name)=\"\(Self.oneLine(value).replacing("\"", with: "'"))\""
                }
            }
            text += ",\(Self.oneLine(channel.title ?? ""))\n\(Self.oneLine(channel.url))\n"
        }
    }

    private static func oneLine(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            line.append(ChannelText.withoutControl(scalar))
        }
        return ChannelText.trimmed(line[...])
    }
}

/// Helpers for the lines of a channel list.
private enum ChannelText {
    /// A blank for a control character, and else the character itself. Controls have no meaning in such a list, and would
    /// be dangerous in a title or a field.
    static func withoutControl(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
        return isControl ? " " : scalar
    }
    /// A text without blanks at its ends.
    static func trimmed(_ text: Substring.UnicodeScalarView) -> String {
        var rest = text.drop { $0 == " " }
        while rest.last == " " {
            rest.removeLast()
        }
        return String(String.UnicodeScalarView(rest))
    }

    /// The value behind a prefix, in any letter case; nil for another line.
    static func value(of line: String, behind prefix: String) -> String? {
        guard line.utf8.count >= prefix.utf8.count,
            zip(line.utf8, prefix.utf8).allSatisfy({ ($0 | 0x20) == ($1 | 0x20) })
        else { return nil }
        return trimmed(line.unicodeScalars.dropFirst(prefix.unicodeScalars.count))
    }

    /// Decodes `%41`; other characters stay.
    static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ChannelList.Channel {
    /// Reads a line that describes the next URL.
    fileprivate mutating func read(_ line: String) {
        if let rest = ChannelText.value(of: line, behind: "#EXTINF:") {
            readInformation(rest)
        } else if let name = ChannelText.value(of: line, behind: "#EXTGRP:") {
            if group == nil {
                group = Self.text(name)
            }
        } else if let option = ChannelText.value(of: line, behind: "#EXTVLCOPT:") {
            readOption(option)
        } else if let property = ChannelText.value(of: line, behind: "#KODIPROP:") {
            readProperty(property)
        }
    }

    /// `-1 tvg-id="a" group-title="b",Title`. Quotation marks may contain commas.
    private mutating func readInformation(_ line: String) {
        var rest = line.unicodeScalars[...]
        let seconds = rest.prefix { !" ,".unicodeScalars.contains($0) }
        rest = rest.dropFirst(seconds.count)
        setDuration(seconds)

        var name: String?
        while let first = rest.first, first != "," {
            if first == " " {
                rest = rest.dropFirst()
                continue
            }

            let key = rest.prefix { !"=, ".unicodeScalars.contains($0) }
            rest = rest.dropFirst(key.count)
            guard rest.first == "=" else {
                if key.isEmpty {
                    rest = rest.dropFirst()
                }
                continue
            }

            rest = rest.dropFirst()
            let isQuoted = rest.first == "\"" && rest.dropFirst().contains("\"")
            var value = rest.prefix { !" ,".unicodeScalars.contains($0) }
            var length = value.count
            if isQuoted {
                value = rest.dropFirst().prefix { $0 != "\"" }
                length = value.count + 2
            }
            rest = rest.dropFirst(length)
            set(
                String(String.UnicodeScalarView(key)).lowercased(), to: Self.text(ChannelText.trimmed(value)),
                name: &name)
        }

        title = Self.text(ChannelText.trimmed(rest.dropFirst())) ?? name
    }

    /// Sets the duration from a text in seconds; 0 and less stand for a live stream.
    fileprivate mutating func setDuration(_ seconds: Substring.UnicodeScalarView) {
        let number = Double(String(String.UnicodeScalarView(seconds))).map { MediaDuration(seconds: $0) }
        if let number, number > .zero, number < 1e8 {
            duration = number
        }
    }

    private mutating func set(_ key: String, to value: String?, name: inout String?) {
        guard let value else { return }
        switch key {
        case "tvg-id": id = value
        case "tvg-name": name = value
        case "tvg-logo", "logo": logo = value
        case "group-title": group = value
        case "http-user-agent", "user-agent": add("User-Agent", value)
        case "http-referrer", "http-referer", "referer": add("Referer", value)
        default: break
        }
    }

    /// An option of VLC for this stream: `http-user-agent=TV/1`.
    private mutating func readOption(_ option: String) {
        guard let equals = option.firstIndex(of: "=") else { return }
        let value = String(option[option.index(after: equals)...])
        switch option[..<equals].lowercased() {
        case "http-user-agent": add("User-Agent", value)
        case "http-referrer", "http-referer": add("Referer", value)
        case "http-origin": add("Origin", value)
        case "http-cookie", "http-cookies": add("Cookie", value)
        default: break
        }
    }

    /// A property of Kodi's inputstream.adaptive: `inputstream.adaptive.stream_headers=User-Agent=TV%2F1&Referer=…`.
    private mutating func readProperty(_ property: String) {
        guard let equals = property.firstIndex(of: "=") else { return }
        let value = property[property.index(after: equals)...]
        switch property[..<equals].lowercased() {
        case "inputstream.adaptive.stream_headers", "inputstream.adaptive.manifest_headers",
            "inputstream.adaptive.common_headers":
            addFields(value)
        case "inputstream.adaptive.manifest_type": isDASH = value.lowercased() == "mpd"
        default: break
        }
    }

    /// Kodi's form of header fields: `Name=value&Name=value`, percent-encoded.
    private mutating func addFields(_ text: Substring) {
        for pair in text.split(separator: "&") {
            guard let equals = pair.firstIndex(of: "=") else { continue }
            add(ChannelText.decoded(pair[..<equals]), ChannelText.decoded(pair[pair.index(after: equals)...]))
        }
    }

    fileprivate mutating func setURL(_ line: String) {
        guard let bar = line.firstIndex(of: "|"), line.hasPrefix("http") else {
            url = line
            return
        }
        url = String(line[..<bar])
        addFields(line[line.index(after: bar)...])
    }

    /// The most header fields of a channel. No request has more.
    private static let mostFields = 32

    /// Adds a header field, unless there is one of its name. One with characters that no field can have is ignored.
    private mutating func add(_ name: String, _ value: String) {
        guard fields.count < Self.mostFields else { return }
        let value = ChannelText.trimmed(value.unicodeScalars[...])
        let isName =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        let isValue = !value.isEmpty && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        let isKnown = fields.contains { $0.lowercased().hasPrefix(name.lowercased() + ":") }
        if isName, isValue, !isKnown {
            fields.append("\(name): \(value)")
        }
    }

    private static func text(_ text: String) -> String? {
        guard !text.isEmpty else { return nil }
        return text
    }
}
