/// A response's head: a status, and field lines in wire format.
///
/// No value can end a line: names are literals, numbers and dates are formatted here, and free text is checked on
/// append. The server writes the fields that frame the message (`Content-Length`, `Transfer-Encoding`, `Connection`,
/// `Date`).
public struct ResponseHead: Sendable {
    /// The status to answer with.
    public var status: HTTPStatus
    /// The field lines, each `Name: value CRLF`.
    public private(set) var fieldBytes: [UInt8] = []

    /// A head without fields.
    public init(_ status: HTTPStatus) { self.status = status }

    /// Appends a line with a literal value.
    public mutating func append(_ name: FieldName, literal value: StaticString) {
        begin(name)
        value.withUTF8Buffer { fieldBytes.append(contentsOf: $0) }
        end()
    }

    /// Appends a line with a number.
    public mutating func append(_ name: FieldName, number value: Int64) {
        begin(name)
        fieldBytes.append(decimal: value)
        end()
    }

    /// Appends a line with text from outside.
    ///
    /// Throws, and appends nothing, when a byte is not allowed in a field value (RFC 9110 §5.5): CR, LF, NUL or another
    /// control.
    public mutating func append(_ name: FieldName, _ value: String) throws(FieldValueError) {
        var value = value
        let isSafe = value.withUTF8 { ByteClass.isFieldValue(UnsafeRawBufferPointer($0)) }
        guard isSafe else { throw FieldValueError(name: name.description) }
        begin(name)
        fieldBytes.append(contentsOf: value.utf8)
        end()
    }

    /// Appends Content-Type.
    public mutating func append(_ mediaType: MediaType) {
        begin(.contentType)
        fieldBytes.append(contentsOf: mediaType.text.utf8)
        end()
    }

    /// Appends ETag.
    public mutating func append(_ entityTag: EntityTag) {
        begin(.entityTag)
        entityTag.append(to: &fieldBytes)
        end()
    }

    /// Appends a line with a date.
    public mutating func append(_ name: FieldName, _ date: HTTPDate) {
        begin(name)
        date.append(to: &fieldBytes)
        end()
    }

    /// Appends Content-Range.
    public mutating func append(_ contentRange: ContentRange) {
        begin(.contentRange)
        contentRange.append(to: &fieldBytes)
        end()
    }

    /// Appends Cache-Status.
    public mutating func append(_ cacheStatus: CacheStatus) {
        begin(.cacheStatus)
        cacheStatus.append(to: &fieldBytes)
        end()
    }

    /// Appends all lines of another head and ignores its status.
    public mutating func append(fieldsOf other: ResponseHead) {
        fieldBytes.append(contentsOf: other.fieldBytes)
    }

    /// Reserves `byteCount` bytes for lines: one allocation instead of several.
    public mutating func reserve(_ byteCount: Int) { fieldBytes.reserveCapacity(byteCount) }

    private mutating func begin(_ name: FieldName) {
        if fieldBytes.isEmpty { fieldBytes.reserveCapacity(256) }
        name.text.withUTF8Buffer { fieldBytes.append(contentsOf: $0) }
        fieldBytes.append(ByteClass.colon)
        fieldBytes.append(ByteClass.space)
    }

    private mutating func end() {
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
        if value < 0 { append(UInt8(ascii: "-")) }
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
