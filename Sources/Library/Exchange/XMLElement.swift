/// One element of an XML text, as far as Apple's files need it: names, attributes, text and children.
///
/// No entities but the five of the standard and numbers, and no document type: what has one is refused. Pure.
struct XMLElement {
    /// The name, without a prefix.
    let name: String
    /// By name.
    fileprivate(set) var attributes: [String: String] = [:]
    /// In the order of the text.
    fileprivate(set) var children: [XMLElement] = []
    /// The characters in it, those of children aside, without blanks around them.
    fileprivate(set) var text = ""

    /// Reads a whole text; nil for what is no XML of this kind, or is nested deeper than anything sensible.
    init?(_ bytes: [UInt8]) {
        var reader = XMLReader(bytes)
        guard let root = reader.root() else { return nil }
        self = root
    }

    fileprivate init(name: String) { self.name = name }

    /// The first child of that name.
    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The children of that name.
    func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }
}

/// Walks over a text from its beginning to its end.
private struct XMLReader {
    private var rest: ArraySlice<UInt8>
    private static let deepest = 32

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func root() -> XMLElement? {
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            if take("<?") {
                guard skip(past: "?>") else { return nil }
            } else if take("<!--") {
                guard skip(past: "-->") else { return nil }
            } else {
                return element(depth: 0)
            }
        }
        return nil
    }

    private mutating func element(depth: Int) -> XMLElement? {
        guard depth < Self.deepest, take("<"), let name = name() else { return nil }
        var element = XMLElement(name: name)
        while true {
            skipBlanks()
            if take("/>") { return element }
            if take(">") { return content(of: element, depth: depth) }
            guard let key = self.name(), let value = value() else { return nil }
            element.attributes[key] = value
        }
    }

    private mutating func content(of element: XMLElement, depth: Int) -> XMLElement? {
        var (element, text) = (element, "")
        while let byte = rest.first {
            if take("<!--") {
                guard skip(past: "-->") else { return nil }
            } else if take("</") {
                guard name() == element.name else { return nil }
                skipBlanks()
                element.text = Self.trimmed(text)
                return take(">") ? element : nil
            } else if byte == UInt8(ascii: "<") {
                guard let child = self.element(depth: depth + 1) else { return nil }
                element.children.append(child)
            } else {
                guard let part = characters(until: UInt8(ascii: "<")) else { return nil }
                text += part
            }
        }
        return nil
    }

    // MARK: Parts

    /// A name, of which what stands in front of a colon is left out.
    private mutating func name() -> String? {
        let end = rest.firstIndex { Self.isBlank($0) || "=/>\"'<".utf8.contains($0) } ?? rest.endIndex
        let name = rest[..<end]
        rest = rest[end...]
        let local = name.split(separator: UInt8(ascii: ":")).last ?? []
        return local.isEmpty ? nil : String(decoding: local, as: UTF8.self)
    }

    /// What stands behind the name of an attribute.
    private mutating func value() -> String? {
        skipBlanks()
        guard take("=") else { return nil }
        skipBlanks()
        guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        rest = rest.dropFirst()
        guard let value = characters(until: quote), rest.first == quote else { return nil }
        rest = rest.dropFirst()
        return value
    }

    /// Characters up to a byte, or to the end, with their references resolved.
    private mutating func characters(until end: UInt8) -> String? {
        let raw = rest.prefix { $0 != end }
        rest = rest[raw.endIndex...]
        var (text, left) = ("", raw)
        while let ampersand = left.firstIndex(of: UInt8(ascii: "&")) {
            guard let semicolon = left[ampersand...].firstIndex(of: UInt8(ascii: ";")),
                let character = Self.character(left[(ampersand + 1)..<semicolon])
            else { return nil }
            text += String(decoding: left[..<ampersand], as: UTF8.self) + String(character)
            left = left[(semicolon + 1)...]
        }
        return text + String(decoding: left, as: UTF8.self)
    }

    private static func character(_ reference: ArraySlice<UInt8>) -> Character? {
        let name = String(decoding: reference, as: UTF8.self)
        if let known = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"][name] { return Character(known) }
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).map(Character.init)
    }

    private mutating func take(_ text: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard rest.starts(with: wanted) else { return false }
        rest = rest.dropFirst(wanted.count)
        return true
    }

    private mutating func skip(past text: StaticString) -> Bool {
        while !rest.isEmpty {
            if take(text) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    private mutating func skipBlanks() { rest = rest.drop(while: Self.isBlank) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func trimmed(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}
