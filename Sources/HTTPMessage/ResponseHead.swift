/// A response's head: a status, and field lines in wire format.
///
/// No value can end a line: names are literals, numbers and dates are formatted here, and free text is checked on append. The
/// server writes the fields that frame the message (`Content-Length`, `Transfer-Encoding`, `Connection`, `Date`).
public struct ResponseHead: Sendable {
    /// The status to answer with.
    public var status: HTTPStatus
    /// The field lines, each `Name: value CRLF`.
    public private(set) var fieldBytes: [UInt8] = []
    /// A head without fields.
    public init(_ status: HTTPStatus) { self.status = status }

    /// Appends a line with a literal value.
    public mutating func append(_ name: FieldName, literal value: StaticString) {
        line(name) { bytes in value.withUTF8Buffer { bytes.append(contentsOf: $0) } }
    }

    /// Appends a line with a number.
    public mutating func append(_ name: FieldName, number value: Int64) { line(name) { $0.append(decimal: value) } }

    /// Appends a line with text from outside.
    ///
    /// Throws, and appends nothing, for a control character, which a value must not have (RFC 9110 §5.5).
    public mutating func append(_ name: FieldName, _ value: String) throws(FieldValueError) {
        var value = value
        let isSafe = value.withUTF8 { ByteClass.isFieldValue(UnsafeRawBufferPointer($0)) }
        guard isSafe else { throw FieldValueError(name: name.description) }
        line(name) { $0.append(contentsOf: value.utf8) }
    }

    /// Appends Content-Type.
    public mutating func append(_ mediaType: MediaType) {
        line(.contentType) { $0.append(contentsOf: mediaType.text.utf8) }
    }

    /// Appends ETag.
    public mutating func append(_ entityTag: EntityTag) { line(.entityTag) { entityTag.append(to: &$0) } }
    /// Appends a line with a date.
    public mutating func append(_ name: FieldName, _ date: HTTPDate) { line(name) { date.append(to: &$0) } }
    /// Appends Content-Range.
    public mutating func append(_ contentRange: ContentRange) { line(.contentRange) { contentRange.append(to: &$0) } }
    /// Appends Cache-Status.
    public mutating func append(_ cacheStatus: CacheStatus) { line(.cacheStatus) { cacheStatus.append(to: &$0) } }

    /// Appends all lines of another head and ignores its status.
    public mutating func append(fieldsOf other: ResponseHead) {
        fieldBytes.append(contentsOf: other.fieldBytes)
    }

    /// Reserves `byteCount` bytes for lines: one allocation instead of several.
    public mutating func reserve(_ byteCount: Int) { fieldBytes.reserveCapacity(byteCount) }

    @inline(__always)
    private mutating func line(_ name: FieldName, _ appendValue: (inout [UInt8]) -> Void) {
        if fieldBytes.isEmpty {
            fieldBytes.reserveCapacity(256)
        }
        name.text.withUTF8Buffer { fieldBytes.append(contentsOf: $0) }
        fieldBytes.append(ByteClass.colon)
        fieldBytes.append(ByteClass.space)
        appendValue(&fieldBytes)
        fieldBytes.append(ByteClass.carriageReturn)
        fieldBytes.append(ByteClass.lineFeed)
    }
}

/// Text that contains a control character and must not enter a header field.
public struct FieldValueError: Error, Sendable, Hashable {
    /// The intended field.
    public let name: String
}

extension [UInt8] {
    mutating func append(decimal value: Int64) {
        if value < 0 {
            append(UInt8(ascii: "-"))
        }
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var rest = value.magnitude
            var start = 20
            repeat {
                start -= 1
                digits[start] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
                rest /= 10
            } while rest > 0
            append(contentsOf: digits[start...])
        }
    }
}
