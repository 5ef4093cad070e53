/// A channel list: the `.m3u` file in which VLC, Kodi and televisions keep streams, one after the other. Pure.
///
/// It has no standard. Each entry is a line with a URL; lines before it describe it: `#EXTINF` with a title and attributes such
/// as `tvg-logo` and `group-title`, `#EXTGRP`, and header fields in `#EXTVLCOPT`, `#KODIPROP` or behind a `|` in the URL's line.
/// An HLS playlist has the same first line, and is no channel list: see `isHLS`.
public struct ChannelList: Equatable, Sendable {
    /// Something that players and television guides know by its name: `tvg-chno`, `catchup-source`, `url-tvg`.
    public struct Attribute: Equatable, Sendable {
        /// In small letters.
        public let name: String
        /// Without the quotation marks.
        public let value: String

        /// Creates an attribute; nil if the name could not be written in a list.
        public init?(name: String, value: String) {
            let name = name.lowercased()
            let isName = !name.isEmpty && name.utf8.allSatisfy { ChannelText.isLetterOfName($0) }
            guard isName, name.utf8.count <= Self.longestName else { return nil }
            self.name = name
            self.value = value
        }

        private static let longestName = 64
    }

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
        /// The further attributes of `#EXTINF`, in its order, `tvg-name` among it; without two of one name.
        public var attributes: [Attribute] = []
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
    /// The attributes of the first line, such as `url-tvg`, the URL of a guide.
    public let attributes: [Attribute]

    /// Creates a list to be written.
    public init(_ channels: [Channel], attributes: [Attribute] = []) {
        self.channels = channels
        self.attributes = attributes
    }

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
        let signs: Set<Tag> = [.targetDuration, .streamInf, .iFrameStreamInf]
        return hasLine(in: bytes) { line in
            guard let tag = Self.tag(of: line) else { return false }
            return signs.contains(tag)
        }
    }

    /// True for a text that is a channel list to players: it begins like a playlist, has no tag of HLS, and more than the segments that a
    /// playlist without tags would have. An entry is described, has no length, or is a playlist itself.
    public static func isList(_ bytes: [UInt8]) -> Bool {
        guard isMeant(by: bytes), !isPLS(bytes) else { return false }
        var hasSign = false
        var hasEntry = false
        let hasTag = hasLine(in: bytes) { line in
            if line.first != UInt8(ascii: "#") {
                hasEntry = true
                hasSign = hasSign || isPlaylistURL(line)
            } else if tag(of: line) != nil {
                return true
            } else {
                hasSign = hasSign || describesEntry(line)
            }
            return false
        }
        return hasEntry && hasSign && !hasTag
    }

    /// True if one of the lines that are not empty is such a line. They are read as bytes, without blanks in front, up to the first that
    /// is.
    private static func hasLine(in bytes: [UInt8], where isSuch: (ArraySlice<UInt8>) -> Bool) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? rest.endIndex
            let line = rest[..<end].drop { [0x20, 0x09, 0xEF, 0xBB, 0xBF].contains($0) }
            rest = rest[end...].dropFirst()
            if !line.isEmpty, isSuch(line) {
                return true
            }
        }
        return false
    }

    /// The tag of a line that only HLS has.
    private static func tag(of line: ArraySlice<UInt8>) -> Tag? {
        guard line.starts(with: "#EXT-X-".utf8) else { return nil }
        let name = String(decoding: line.prefix { $0 != UInt8(ascii: ":") && $0 != 0x20 }, as: UTF8.self)
        return Tag(rawValue: name)
    }

    private static func isPlaylistURL(_ line: ArraySlice<UInt8>) -> Bool {
        let path = line.prefix { !"?#|".utf8.contains($0) }
        let end = String(decoding: path.suffix(5), as: UTF8.self).lowercased()
        return end == ".m3u8" || end.hasSuffix(".m3u")
    }

    /// True for a line that only channel lists have. Segments have a length and a title.
    private static func describesEntry(_ line: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: line.prefix(longestSign), as: UTF8.self)
        if let rest = ChannelText.value(of: text, behind: "#EXTINF:") {
            let seconds = rest.prefix { $0 != "," && $0 != " " }
            let length = Double(seconds) ?? 1
            return length <= 0 || rest.prefix { $0 != "," }.contains("=")
        }
        if let rest = ChannelText.value(of: text, behind: "#EXTM3U") {
            return rest.contains("=")
        }
        return ["#EXTGRP:", "#EXTVLCOPT:", "#KODIPROP:"].contains { ChannelText.value(of: text, behind: $0) != nil }
    }

    private static let longestSign = 256

    /// The text of a channel list with other URLs. All other lines, and what stands behind a `|`, stay.
    /// - Parameter url: returns the text in place of a URL.
    public static func replacingURLs(in bytes: [UInt8], with url: (String) -> String) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for line in lines(of: bytes) where !line.isEmpty {
            if line.first == "#" {
                text += Array(line.utf8)
            } else {
                let own = line.prefix { $0 != "|" }
                text += Array(url(String(own)).utf8)
                text += Array(line[own.endIndex...].utf8)
            }
            text.append(0x0A)
        }
        return text
    }

    /// Parses a text in UTF-8, or else in ISO 8859-1. Lines that are not understood are ignored.
    public init(_ bytes: [UInt8]) {
        guard !Self.isPLS(bytes) else {
            channels = Self.channels(ofPLS: Self.lines(of: bytes))
            attributes = []
            return
        }
        var channels: [Channel] = []
        var attributes: [Attribute] = []
        var next = Channel(url: "")
        for (index, line) in Self.lines(of: bytes).enumerated() {
            guard !line.isEmpty else { continue }
            if line.first == "#" {
                if let rest = ChannelText.value(of: line, behind: "#EXTM3U") {
                    ChannelText.add(ChannelText.attributes(in: rest.unicodeScalars[...]).pairs, to: &attributes)
                } else {
                    next.read(line)
                }
                continue
            }
            next.setURL(line)
            next.line = index + 1
            channels.append(next)
            next = Channel(url: "")
        }
        self.channels = channels
        self.attributes = attributes
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
        var text =
            String(validating: bytes, as: UTF8.self)
            ?? bytes.reduce(into: "") { $0.unicodeScalars.append(Unicode.Scalar($1)) }
        return text.withUTF8 { text in
            var lines: [String] = []
            var start = 0
            for (index, byte) in text.enumerated() where byte == lineFeed || byte == carriageReturn {
                let isSecondOfTwo = byte == lineFeed && index > 0 && text[index - 1] == carriageReturn
                if !isSecondOfTwo {
                    lines.append(line(of: text[start..<index]))
                }
                start = index + 1
            }
            lines.append(line(of: text[start...]))
            return lines
        }
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// A line without blanks at its ends, control characters and byte order marks. A list may have 200,000 lines, nearly all of which
    /// are of printable ASCII: those are taken as they are.
    private static func line(of bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        let isPlain = bytes.allSatisfy { (0x20...0x7E).contains($0) }
        guard isPlain else {
            // By scalars: an accent behind a byte order mark makes one character of both.
            var scalars = String.UnicodeScalarView()
            for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars where scalar != "\u{FEFF}" {
                scalars.append(ChannelText.withoutControl(scalar))
            }
            return ChannelText.trimmed(scalars[...])
        }

        let blank = UInt8(ascii: " ")
        var rest = bytes.drop { $0 == blank }
        while rest.last == blank {
            rest.removeLast()
        }
        return String(decoding: rest, as: UTF8.self)
    }

    // MARK: Writing

    /// The list as text for players, without header fields.
    public var text: String { text(withFields: false) }

    /// The list as text.
    /// - Parameter withFields: true to write header fields behind the URLs, as Kodi has them. They may be secrets.
    public func text(withFields: Bool) -> String {
        var text = "#EXTM3U" + Self.text(of: attributes) + "\n"
        for channel in channels {
            let duration = Double((channel.duration ?? .zero).milliseconds) / 1000
            var length = "-1"
            if duration > 0 {
                length = "\(duration)"
            }
            text += "#EXTINF:\(length)\(Self.text(of: channel.allAttributes)),\(Self.oneLine(channel.title ?? ""))\n"
            if withFields, channel.isDASH {
                text += "#KODIPROP:inputstream.adaptive.manifest_type=mpd\n"
            }
            text += Self.oneLine(channel.url)
            if withFields, !channel.fields.isEmpty {
                text += "|" + channel.fields.map(Self.encoded).joined(separator: "&")
            }
            text += "\n"
        }
        return text
    }

    private static func text(of attributes: [Attribute]) -> String {
        var text = ""
        for attribute in attributes {
            text += " \(attribute.name)=\"\(oneLine(attribute.value).replacing("\"", with: "'"))\""
        }
        return text
    }

    /// A header field as `Name=value`, percent-encoded.
    private static func encoded(_ field: String) -> String {
        let name = field.prefix { $0 != ":" }
        let value = field.dropFirst(name.count + 1).drop { $0 == " " }
        return "\(ChannelText.encoded(name))=\(ChannelText.encoded(value))"
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

    static func isLetterOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Encodes all bytes but letters, digits and a few signs as `%41`.
    static func encoded(_ text: Substring) -> String {
        var encoded = ""
        for byte in text.utf8 {
            let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            if isCapital || isLetterOfName(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + String(repeating: "0", count: 2 - digits.count) + digits
            }
        }
        return encoded
    }

    /// Most attributes of a channel, and of a list.
    private static let mostAttributes = 64

    /// Adds attributes whose names can be written, unless there is one of the name.
    static func add(_ pairs: [(name: String, value: String)], to attributes: inout [ChannelList.Attribute]) {
        for pair in pairs where attributes.count < mostAttributes && !pair.value.isEmpty {
            guard let attribute = ChannelList.Attribute(name: pair.name, value: pair.value) else { continue }
            let isKnown = attributes.contains { $0.name == attribute.name }
            if !isKnown {
                attributes.append(attribute)
            }
        }
    }

    /// The attributes at the beginning of a text up to its first comma, with their names in small letters, and the rest of the text
    /// behind the comma. Quotation marks may contain commas.
    static func attributes(
        in text: Substring.UnicodeScalarView
    ) -> (pairs: [(name: String, value: String)], rest: Substring.UnicodeScalarView) {
        var rest = text
        var pairs: [(name: String, value: String)] = []
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
            pairs.append((String(String.UnicodeScalarView(key)).lowercased(), trimmed(value)))
        }
        return (pairs, rest.dropFirst())
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

    /// `-1 tvg-id="a" group-title="b",Title`.
    private mutating func readInformation(_ line: String) {
        let text = line.unicodeScalars[...]
        let seconds = text.prefix { !" ,".unicodeScalars.contains($0) }
        setDuration(seconds)

        let (pairs, rest) = ChannelText.attributes(in: text.dropFirst(seconds.count))
        var others: [(name: String, value: String)] = []
        for pair in pairs where !set(pair.name, to: Self.text(pair.value)) {
            others.append(pair)
        }
        ChannelText.add(others, to: &attributes)
        title = Self.text(ChannelText.trimmed(rest)) ?? self["tvg-name"]
    }

    /// The value of a further attribute; nil if the list does not have it.
    public subscript(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// All attributes for `#EXTINF`, those that have a property of their own first.
    fileprivate var allAttributes: [ChannelList.Attribute] {
        var all: [ChannelList.Attribute] = []
        let named = [("tvg-id", id), ("tvg-logo", logo), ("group-title", group)]
        for (name, value) in named {
            guard let value, let attribute = ChannelList.Attribute(name: name, value: value) else { continue }
            all.append(attribute)
        }
        return all + attributes
    }

    /// Sets the duration from a text in seconds; 0 and less stand for a live stream.
    fileprivate mutating func setDuration(_ seconds: Substring.UnicodeScalarView) {
        let number = Double(String(String.UnicodeScalarView(seconds))).map { MediaDuration(seconds: $0) }
        if let number, number > .zero, number < 1e8 {
            duration = number
        }
    }

    /// Sets what has a property of its own; false for any other attribute.
    private mutating func set(_ key: String, to value: String?) -> Bool {
        switch key {
        case "tvg-id": id = value ?? id
        case "tvg-logo", "logo": logo = value ?? logo
        case "group-title": group = value ?? group
        case "http-user-agent", "user-agent": add("User-Agent", value ?? "")
        case "http-referrer", "http-referer", "referer": add("Referer", value ?? "")
        default: return false
        }
        return true
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
        // A URL has no bar, a file or an address of another player may. Relative ones are URLs here, and are stored with their fields.
        let isURL = line.hasPrefix("http") || !line.contains("://")
        guard isURL, let bar = line.firstIndex(of: "|"), bar > line.startIndex else {
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
