/// The header fields of a response as received (RFC 9110 §5).
///
/// The bytes are stored once, and a `String` is made of a value only on access: most of what an origin sends is never read.
public struct FieldSection: Sendable {
    private var bytes: [UInt8] = []
    private var spans: [FieldSpan] = []
    /// A section without fields.
    public init() {}
    /// The number of field lines.
    public var count: Int { spans.count }

    /// Appends a line as libcurl passes it, line end included.
    /// - Returns: false for anything that is not a field line (see `FieldLine`).
    @discardableResult public mutating func append(line: UnsafeRawBufferPointer) -> Bool {
        guard let parts = FieldLine.split(line) else { return false }
        if bytes.isEmpty {
            bytes.reserveCapacity(512)
            spans.reserveCapacity(16)
        }
        let start = bytes.count
        bytes.append(contentsOf: line[..<parts.value.upperBound])
        spans.append(FieldSpan(name: parts.name, value: parts.value, from: start))
        return true
    }

    /// The value of the first line with this name, without a copy; nil without one.
    public func firstValue(of name: FieldName) -> ArraySlice<UInt8>? {
        let found = bytes.withUnsafeBytes { buffer in
            spans.first { name.matches(UnsafeRawBufferPointer(rebasing: buffer[$0.name])) }
        }
        return found.map { bytes[$0.value] }
    }

    /// The values of all lines with this name as text; bytes that are not UTF-8 become U+FFFD.
    public func values(of name: FieldName) -> [String] {
        bytes.withUnsafeBytes { buffer in
            spans.filter { name.matches(UnsafeRawBufferPointer(rebasing: buffer[$0.name])) }
                .map { String(decoding: buffer[$0.value], as: UTF8.self) }
        }
    }

    /// The value of the first line with this name as text; bytes that are not UTF-8 become U+FFFD.
    public subscript(name: FieldName) -> String? { firstValue(of: name).map { String(decoding: $0, as: UTF8.self) } }
}

/// Offsets of a field line's name and trimmed value in the bytes of a head.
struct FieldSpan: Sendable {
    let nameStart, nameEnd, valueStart, valueEnd: UInt32

    /// Offsets in a line that begins at `start`.
    init(name: Range<Int>, value: Range<Int>, from start: Int = 0) {
        nameStart = UInt32(start + name.lowerBound)
        nameEnd = UInt32(start + name.upperBound)
        valueStart = UInt32(start + value.lowerBound)
        valueEnd = UInt32(start + value.upperBound)
    }

    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
}

/// One header line of a response, split at its colon. libcurl passes each line as received, line end included.
public struct FieldLine: Sendable, Hashable {
    /// The name as sent. Compare without regard to case, or with `isNamed`.
    public let name: String
    /// The value without surrounding blanks and line end. Bytes that are not UTF-8 become U+FFFD.
    public let value: String

    /// Nil for a status line, the empty line, and a line without a token before its colon.
    public init?(_ line: some Collection<UInt8>) {
        guard let field = Array(line).withUnsafeBytes({ Self($0) }) else { return nil }
        self = field
    }

    /// Parses a line in contiguous memory; see the other initialiser.
    public init?(_ line: UnsafeRawBufferPointer) {
        guard let parts = Self.split(line) else { return nil }
        name = String(decoding: line[parts.name], as: UTF8.self)
        value = String(decoding: line[parts.value], as: UTF8.self)
    }

    /// The offsets of name and value in a line; nil for anything that is not a field line.
    static func split(_ line: UnsafeRawBufferPointer) -> (name: Range<Int>, value: Range<Int>)? {
        guard let colon = line.firstIndex(of: ByteClass.colon), colon > 0 else { return nil }
        guard line[..<colon].allSatisfy({ ByteClass.isToken($0) }) else { return nil }
        var start = colon + 1
        var end = line.count
        if end > start, line[end - 1] == ByteClass.lineFeed {
            end -= 1
        }
        if end > start, line[end - 1] == ByteClass.carriageReturn {
            end -= 1
        }
        guard ByteClass.isFieldValue(UnsafeRawBufferPointer(rebasing: line[start..<end])) else { return nil }
        while end > start, ByteClass.isBlank(line[end - 1]) {
            end -= 1
        }
        while start < end, ByteClass.isBlank(line[start]) {
            start += 1
        }
        return (0..<colon, start..<end)
    }

    /// True if the line has this name, in any case.
    public func isNamed(_ field: FieldName) -> Bool {
        guard name.utf8.count == field.text.utf8CodeUnitCount else { return false }
        var name = name
        return name.withUTF8 { field.matches(UnsafeRawBufferPointer($0)) }
    }
}
