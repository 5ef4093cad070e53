// The room HTTPMessage.
//
// Duty: heads of requests and responses, ranges, validators and URLs, after RFC 9110, 9111, 9112 and 3986.
// Entrance: `RequestHead`, `ResponseHead`, `WebURL`.
// Does not enter: sockets, libcurl, routes and what an answer means to Weir. Pure: a date is given, never read from a
//     clock.

/// A well-formed request head (RFC 9112 §3 and §5).
///
/// The bytes are stored once; parts are ranges in them. So a request costs two allocations, however many fields it has.
public struct RequestHead: Sendable {
    /// The request's method.
    public let method: HTTPMethod
    /// The client's version. Replies must not use features that it lacks, such as chunks in 1.0.
    public let version: HTTPVersion
    /// The body's length in bytes; nil without Content-Length, which on a request means no body.
    public let contentLength: Int64?
    /// True if the client keeps the connection open (RFC 9112 §9.3).
    public let keepsConnection: Bool
    /// True if the client waits for "100 Continue" before it sends its body (RFC 9110 §10.1.1).
    public let expectsContinue: Bool
    /// The head from its first byte to its empty line.
    let bytes: [UInt8]
    private(set) var targetRange: Range<Int>
    let fields: [FieldSpan]
    let hostRange: Range<Int>

    /// Parses a complete head. Also throws `malformedRequestLine` when its end is missing.
    public init(parsing text: String, limits: RequestLimits = RequestLimits()) throws(RequestHeadError) {
        var parser = RequestHeadParser(limits: limits)
        let bytes = [UInt8](text.utf8)
        let result: Result<RequestHead?, RequestHeadError> = bytes.withUnsafeBytes { buffer in
            do throws(RequestHeadError) {
                return .success(try parser.parse(buffer))
            } catch {
                return .failure(error)
            }
        }
        guard let head = try result.get() else { throw .malformedRequestLine }
        self = head
    }

    init(
        method: HTTPMethod, version: HTTPVersion, framing: RequestFraming, bytes: [UInt8], targetRange: Range<Int>,
        fields: [FieldSpan]
    ) {
        self.method = method
        self.version = version
        self.contentLength = framing.contentLength
        self.keepsConnection = framing.keepsConnection(version)
        self.expectsContinue = framing.expectsContinue
        self.hostRange = framing.host
        self.bytes = bytes
        self.targetRange = targetRange
        self.fields = fields
    }

    /// The head's length in bytes, its empty line included. The body or the next request begins at this offset.
    public var byteCount: Int { bytes.count }
    /// The target as sent: `*`, or a path with its query. Valid UTF-8, neither percent-decoded nor normalised.
    public var targetBytes: ArraySlice<UInt8> { bytes[targetRange] }

    /// Returns the head with the first `count` bytes of its path removed: a prefix that ends before a slash.
    public func mounted(behind count: Int) -> RequestHead {
        var head = self
        head.targetRange = (targetRange.lowerBound + min(count, targetRange.count))..<targetRange.upperBound
        return head
    }

    /// The target up to the first question mark.
    public var pathBytes: ArraySlice<UInt8> { targetBytes.prefix { $0 != UInt8(ascii: "?") } }

    /// The target after the first question mark; nil without one.
    public var queryBytes: ArraySlice<UInt8>? {
        let target = targetBytes
        guard let mark = target.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return target[(mark + 1)...]
    }

    /// The target as text; see `targetBytes`.
    public var target: String { String(decoding: targetBytes, as: UTF8.self) }
    /// The path as text; see `pathBytes`.
    public var path: String { String(decoding: pathBytes, as: UTF8.self) }
    /// The query as text; see `queryBytes`.
    public var query: String? { queryBytes.map { String(decoding: $0, as: UTF8.self) } }
    /// The value of the single Host field: a host with an optional port, in any case.
    public var hostBytes: ArraySlice<UInt8> { bytes[hostRange] }
    /// The number of field lines.
    public var fieldCount: Int { fields.count }

    /// The field line at `index` (0 ..< `fieldCount`) as sent, its value without surrounding blanks.
    public func fieldLine(at index: Int) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
        (bytes[fields[index].name], bytes[fields[index].value])
    }

    /// The value of the first line with this name, without a copy; nil without one.
    public func firstValue(of name: FieldName) -> ArraySlice<UInt8>? {
        guard let index = index(of: name, from: 0) else { return nil }
        return bytes[fields[index].value]
    }

    /// The value if exactly one line has this name. For fields that are not lists.
    public func onlyValue(of name: FieldName) -> ArraySlice<UInt8>? {
        guard let index = index(of: name, from: 0), self.index(of: name, from: index + 1) == nil else { return nil }
        return bytes[fields[index].value]
    }

    /// True if a line has this name.
    public func contains(_ name: FieldName) -> Bool { index(of: name, from: 0) != nil }

    /// The values of all lines with this name, joined with commas (RFC 9110 §5.3); nil without one.
    public subscript(name: FieldName) -> String? {
        guard var index = index(of: name, from: 0) else { return nil }
        var text = String(decoding: bytes[fields[index].value], as: UTF8.self)
        while let next = self.index(of: name, from: index + 1) {
            text += ", " + String(decoding: bytes[fields[next].value], as: UTF8.self)
            index = next
        }
        return text
    }

    private func index(of name: FieldName, from start: Int) -> Int? {
        bytes.withUnsafeBytes { buffer in
            for index in start..<fields.count
            where name.matches(UnsafeRawBufferPointer(rebasing: buffer[fields[index].name])) {
                return index
            }
            return nil
        }
    }
}
