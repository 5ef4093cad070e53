/// The fields of a request that frame its message: target host, body length, and connection persistence.
/// Each of these fields must be single and plain. This is where request smuggling is refused.
struct RequestFraming {
    var host = 0..<0
    var contentLength: Int64?
    var expectsContinue = false
    private var hasHost = false
    private var hasClose = false
    private var hasKeepAlive = false

    /// Records one field line of the head `bytes`.
    mutating func record(_ span: FieldSpan, in bytes: UnsafeRawBufferPointer) throws(RequestHeadError) {
        let name = UnsafeRawBufferPointer(rebasing: bytes[span.name])
        switch name.count {
        case 4 where FieldName.host.matches(name): try recordHost(span.value, in: bytes)
        case 6 where FieldName.expect.matches(name): try recordExpectation(bytes[span.value])
        case 10 where FieldName.connection.matches(name): recordConnection(bytes[span.value])
        case 14 where FieldName.contentLength.matches(name): try recordContentLength(bytes[span.value])
        case 17 where FieldName.transferEncoding.matches(name): throw .transferEncoding
        default: break
        }
    }

    /// Checks the rules that need the whole header section.
    func finish(method: HTTPMethod, limits: RequestLimits) throws(RequestHeadError) {
        guard hasHost else { throw .missingHost }
        guard let contentLength, contentLength > 0 else { return }
        guard method.mayHaveBody else { throw .unexpectedBody }
        guard contentLength <= limits.body else { throw .bodyTooLarge }
    }

    /// Checks that the target of a request names the host of the Host field: two programs could otherwise take the request for
    /// two different ones.
    func checkHost(against authority: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(RequestHeadError) {
        let isEqual = bytes[host].elementsEqual(bytes[authority]) { one, other in
            ByteClass.lowercased(one) == ByteClass.lowercased(other)
        }
        guard isEqual else { throw .contradictoryHost }
    }

    /// RFC 9112 §9.3: HTTP/1.1 persists unless closed, 1.0 only on request.
    func keepsConnection(_ version: HTTPVersion) -> Bool {
        if hasClose {
            return false
        }
        return version == .http11 || hasKeepAlive
    }

    private mutating func recordHost(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(RequestHeadError) {
        guard !hasHost else { throw .repeatedHost }
        for byte in UnsafeRawBufferPointer(rebasing: bytes[range]) {
            guard ByteClass.isAuthority(byte) else { throw .malformedHost }
        }
        guard !range.isEmpty else { throw .malformedHost }
        hasHost = true
        host = range
    }

    private mutating func recordContentLength(_ value: Slice<UnsafeRawBufferPointer>) throws(RequestHeadError) {
        guard contentLength == nil else { throw .repeatedContentLength }
        guard let length = ByteClass.number(value) else {
            let isNumber = !value.isEmpty && value.allSatisfy { ByteClass.isDigit($0) }
            guard isNumber else { throw .malformedContentLength }
            throw .bodyTooLarge
        }
        contentLength = length
    }

    private mutating func recordExpectation(_ value: Slice<UnsafeRawBufferPointer>) throws(RequestHeadError) {
        guard ByteClass.equals(value, ignoringCase: "100-continue") else { throw .unknownExpectation }
        expectsContinue = true
    }

    private mutating func recordConnection(_ value: Slice<UnsafeRawBufferPointer>) {
        // The usual value, without splitting a list.
        if ByteClass.equals(value, ignoringCase: "keep-alive") {
            return hasKeepAlive = true
        }
        for element in value.split(separator: ByteClass.comma) {
            let token = element.drop { ByteClass.isBlank($0) }.prefix { !ByteClass.isBlank($0) }
            if ByteClass.equals(token, ignoringCase: "close") {
                hasClose = true
            }
            if ByteClass.equals(token, ignoringCase: "keep-alive") {
                hasKeepAlive = true
            }
        }
    }
}
