/// What the header fields of a request say about its message: whom it is for, where it ends, and whether another one
/// may follow.
///
/// It is here that request smuggling is refused: each of these fields must be single and plain.
struct RequestFraming {
    var host = 0..<0
    var contentLength: Int64?
    var expectsContinue = false
    private var hasHost = false
    private var wantsClose = false
    private var wantsKeepAlive = false

    /// Takes note of one field line.
    ///
    /// `bytes` is the head.
    mutating func note(_ span: FieldSpan, in bytes: UnsafeRawBufferPointer) throws(RequestHeadError) {
        let name = UnsafeRawBufferPointer(rebasing: bytes[span.name])
        switch name.count {
        case 4 where FieldName.host.matches(name): try noteHost(span.value, in: bytes)
        case 6 where FieldName.expect.matches(name): try noteExpectation(bytes[span.value])
        case 10 where FieldName.connection.matches(name): noteConnection(bytes[span.value])
        case 14 where FieldName.contentLength.matches(name): try noteContentLength(bytes[span.value])
        case 17 where FieldName.transferEncoding.matches(name): throw .transferEncoding
        default: break
        }
    }

    /// Checks what only the whole header section can tell.
    func finish(method: HTTPMethod, limits: RequestLimits) throws(RequestHeadError) {
        guard hasHost else { throw .missingHost }
        guard let contentLength, contentLength > 0 else { return }
        guard method.mayHaveBody else { throw .unexpectedBody }
        guard contentLength <= limits.body else { throw .bodyTooLarge }
    }

    /// RFC 9112 §9.3: 1.1 persists unless closed, 1.0 only when asked to.
    func keepsConnection(_ version: HTTPVersion) -> Bool {
        if wantsClose { return false }
        return version == .http11 || wantsKeepAlive
    }

    private mutating func noteHost(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(RequestHeadError) {
        guard !hasHost else { throw .repeatedHost }
        // uri-host and port (RFC 3986 §3.2.2): no userinfo, no path, no list, no blank.
        for byte in UnsafeRawBufferPointer(rebasing: bytes[range]) {
            let isAllowed = ByteClass.isToken(byte) || byte == ByteClass.colon || byte == 0x5B || byte == 0x5D
            guard isAllowed else { throw .malformedHost }
        }
        guard !range.isEmpty else { throw .malformedHost }
        hasHost = true
        host = range
    }

    private mutating func noteContentLength(_ value: Slice<UnsafeRawBufferPointer>) throws(RequestHeadError) {
        guard contentLength == nil else { throw .repeatedContentLength }
        guard let length = ByteClass.number(value) else {
            let isNumber = !value.isEmpty && value.allSatisfy { ByteClass.isDigit($0) }
            throw isNumber ? .bodyTooLarge : .malformedContentLength
        }
        contentLength = length
    }

    private mutating func noteExpectation(_ value: Slice<UnsafeRawBufferPointer>) throws(RequestHeadError) {
        guard ByteClass.equals(value, ignoringCase: "100-continue") else { throw .unknownExpectation }
        expectsContinue = true
    }

    private mutating func noteConnection(_ value: Slice<UnsafeRawBufferPointer>) {
        // What nearly everyone sends, without taking a list apart.
        if ByteClass.equals(value, ignoringCase: "keep-alive") { return wantsKeepAlive = true }
        for element in value.split(separator: ByteClass.comma) {
            let token = element.drop { ByteClass.isBlank($0) }.prefix { !ByteClass.isBlank($0) }
            if ByteClass.equals(token, ignoringCase: "close") { wantsClose = true }
            if ByteClass.equals(token, ignoringCase: "keep-alive") { wantsKeepAlive = true }
        }
    }
}
