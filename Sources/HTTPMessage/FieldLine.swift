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
        guard let colon = line.firstIndex(of: ByteClass.colon), colon != line.startIndex else { return nil }
        let name = line[..<colon]
        guard name.allSatisfy({ ByteClass.isToken($0) }) else { return nil }
        var value = [UInt8](line[colon...].dropFirst())
        if value.last == ByteClass.lineFeed { value.removeLast() }
        if value.last == ByteClass.carriageReturn { value.removeLast() }
        guard value.allSatisfy({ ByteClass.isFieldValue($0) }) else { return nil }
        while let last = value.last, ByteClass.isBlank(last) { value.removeLast() }
        self.name = String(decoding: name, as: UTF8.self)
        self.value = String(decoding: value.drop { ByteClass.isBlank($0) }, as: UTF8.self)
    }

    /// Whether the line has this name; case does not matter.
    public func isNamed(_ field: FieldName) -> Bool {
        [UInt8](name.utf8).withUnsafeBytes { field.matches($0) }
    }
}
