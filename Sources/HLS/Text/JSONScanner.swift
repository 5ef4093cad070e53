/// Validates a JSON text (RFC 8259) and reports its strings, objects and arrays to a visitor. Stores nothing.
struct JSONScanner {
    /// Invalid JSON at a byte position.
    struct Fault: Error {
        let position: Int
    }

    let bytes: [UInt8]
    private(set) var position = 0
    private static let deepest = 32
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Parses the text as one value. `visit` is called for each string, object and array, at its end. It gets the
    /// member names on the path, without array positions, and the byte range, including quotes, braces or brackets.
    mutating func run(_ visit: ([String], Range<Int>) -> Void) throws(Fault) {
        try value([], visit)
        skipBlanks()
        if position < bytes.count {
            throw Fault(position: position)
        }
    }

    private mutating func value(_ path: [String], depth: Int = 0, _ visit: ([String], Range<Int>) -> Void) throws(Fault)
    {
        skipBlanks()
        guard position < bytes.count, depth <= Self.deepest else { throw Fault(position: position) }
        switch bytes[position] {
        case UInt8(ascii: "{"): try object(at: path, depth: depth, visit)
        case UInt8(ascii: "["): try array(at: path, depth: depth, visit)
        case UInt8(ascii: "\""): visit(path, try string())
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
    }

    private mutating func object(
        at path: [String], depth: Int, _ visit: ([String], Range<Int>) -> Void
    ) throws(Fault) {
        let start = position
        position += 1
        if skip("}") {
            return visit(path, start..<position)
        }
        repeat {
            skipBlanks()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw Fault(position: position) }
            guard let name = Self.text(bytes[try string()]) else { throw Fault(position: position) }
            try expect(":")
            try value(path + [name], depth: depth + 1, visit)
        } while skip(",")
        try expect("}")
        visit(path, start..<position)
    }

    private mutating func array(
        at path: [String], depth: Int, _ visit: ([String], Range<Int>) -> Void
    ) throws(Fault) {
        let start = position
        position += 1
        if !skip("]") {
            repeat {
                try value(path, depth: depth + 1, visit)
            } while skip(",")
            try expect("]")
        }
        visit(path, start..<position)
    }

    private mutating func string() throws(Fault) -> Range<Int> {
        let start = position
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            guard bytes[position] >= 0x20 else { throw Fault(position: position) }
            if bytes[position] == UInt8(ascii: "\\") {
                // The escaped character ends nothing.
                position += 1
            }
            position += 1
        }
        guard position < bytes.count else { throw Fault(position: start) }
        position += 1
        guard Self.text(bytes[start..<position]) != nil else { throw Fault(position: start) }
        return start..<position
    }

    private mutating func number() throws(Fault) {
        let start = position
        while position < bytes.count, bytes[position].isDigit || "+-.eE".utf8.contains(bytes[position]) {
            position += 1
        }
        let text = bytes.text(start..<position)
        guard position > start, bytes[start].isDigit || bytes[start] == UInt8(ascii: "-"), Double(text) != nil else {
            throw Fault(position: start)
        }
    }

    private mutating func word(_ word: String) throws(Fault) {
        let end = position + word.utf8.count
        guard end <= bytes.count, bytes.matches(position..<end, word) else { throw Fault(position: position) }
        position = end
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(Fault) {
        guard skip(character) else { throw Fault(position: position) }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipBlanks() {
        while position < bytes.count, bytes[position].isBlank || bytes[position] == 0x0A || bytes[position] == 0x0D {
            position += 1
        }
    }
}

/// Strings and their escapes (RFC 8259 §7).
extension JSONScanner {
    /// Decodes a string given with its quotes; nil for an invalid escape or half of a surrogate pair.
    static func text(_ string: ArraySlice<UInt8>) -> String? {
        var units: [UInt8] = []
        var rest = string.dropFirst().dropLast()
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                units.append(byte)
                continue
            }
            guard let scalar = escape(&rest) else { return nil }
            units.append(contentsOf: String(scalar).utf8)
        }
        return String(validating: units, as: UTF8.self)
    }

    private static let short: [UInt8: Unicode.Scalar] = [
        0x22: "\"", 0x5C: "\\", 0x2F: "/", 0x62: "\u{8}", 0x66: "\u{C}", 0x6E: "\n", 0x72: "\r", 0x74: "\t",
    ]

    private static func escape(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let kind = rest.popFirst() else { return nil }
        if kind != UInt8(ascii: "u") {
            return short[kind]
        }
        guard let first = unit(&rest) else { return nil }
        guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
        guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"), let second = unit(&rest),
            (0xDC00..<0xE000).contains(second)
        else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private static func unit(_ rest: inout ArraySlice<UInt8>) -> UInt32? {
        guard rest.count >= 4 else { return nil }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = rest.popFirst()?.hexadecimalValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
