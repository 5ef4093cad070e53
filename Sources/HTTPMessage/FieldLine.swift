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
        var (start, end) = (colon + 1, line.count)
        if end > start, line[end - 1] == ByteClass.lineFeed { end -= 1 }
        if end > start, line[end - 1] == ByteClass.carriageReturn { end -= 1 }
        guard ByteClass.isFieldValue(UnsafeRawBufferPointer(rebasing: line[start..<end])) else { return nil }
        while end > start, ByteClass.isBlank(line[end - 1]) { end -= 1 }
        while start < end, ByteClass.isBlank(line[start]) { start += 1 }
        return (0..<colon, start..<end)
    }

    /// True if the line has this name, in any case.
    public func isNamed(_ field: FieldName) -> Bool {
        [UInt8](name.utf8).withUnsafeBytes { field.matches($0) }
    }
}
