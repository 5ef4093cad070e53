/// One header line of a response, split at its colon: libcurl hands each over as it came, line end included.
public struct FieldLine: Sendable, Hashable {
    /// As sent; compare without regard to case, or with `isNamed`.
    public let name: String
    /// Without the blanks around it and without the line end.
    ///
    /// Bytes that are not UTF-8 become U+FFFD.
    public let value: String

    /// Nil for what is no field line: a status line, the empty line, a line without a token before its colon.
    public init?(_ line: some Collection<UInt8>) {
        // Every line of every response comes by here; in one piece its bytes are looked at without a witness call each.
        let parts =
            line.withContiguousStorageIfAvailable { Self.split(UnsafeRawBufferPointer($0)) }
            ?? Array(line).withUnsafeBytes(Self.split)
        guard let parts else { return nil }
        (name, value) = parts
    }

    /// The same for bytes in one piece.
    public init?(_ line: UnsafeRawBufferPointer) {
        guard let parts = Self.split(line) else { return nil }
        (name, value) = parts
    }

    private static func split(_ line: UnsafeRawBufferPointer) -> (name: String, value: String)? {
        guard let colon = line.firstIndex(of: ByteClass.colon), colon > 0 else { return nil }
        let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
        guard name.allSatisfy({ ByteClass.isToken($0) }) else { return nil }
        var (start, end) = (colon + 1, line.count)
        if end > start, line[end - 1] == ByteClass.lineFeed { end -= 1 }
        if end > start, line[end - 1] == ByteClass.carriageReturn { end -= 1 }
        guard line[start..<end].allSatisfy({ ByteClass.isFieldValue($0) }) else { return nil }
        while end > start, ByteClass.isBlank(line[end - 1]) { end -= 1 }
        while start < end, ByteClass.isBlank(line[start]) { start += 1 }
        let value = UnsafeRawBufferPointer(rebasing: line[start..<end])
        return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// Whether the line has this name; case does not matter.
    public func isNamed(_ field: FieldName) -> Bool {
        [UInt8](name.utf8).withUnsafeBytes { field.matches($0) }
    }
}
