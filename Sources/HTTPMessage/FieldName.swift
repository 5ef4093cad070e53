/// A header field's name (RFC 9110 §5.1).
///
/// Only a literal of the program can be one, so outside input never becomes a field name.
public struct FieldName: Sendable, CustomStringConvertible {
    /// The name as written to the wire.
    let text: StaticString
    /// Wraps a literal, which must be a token (RFC 9110 §5.6.2).
    public init(_ literal: StaticString) { text = literal }
    /// The name as written to the wire.
    public var description: String { text.description }

    /// True if `bytes` is this name, in any case.
    func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == text.utf8CodeUnitCount else { return false }
        let own = text.utf8Start
        for index in 0..<bytes.count
        where ByteClass.lowercased(bytes[index]) != ByteClass.lowercased(own[index]) {
            return false
        }
        return true
    }

    // Those of RFC 9110 to 9112, RFC 9211 (Cache-Status) and RFC 6454 (Origin) that more than one room uses.
    package static var acceptRanges: FieldName { FieldName("Accept-Ranges") }
    package static var allow: FieldName { FieldName("Allow") }
    package static var authorization: FieldName { FieldName("Authorization") }
    package static var cacheControl: FieldName { FieldName("Cache-Control") }
    package static var cacheStatus: FieldName { FieldName("Cache-Status") }
    package static var connection: FieldName { FieldName("Connection") }
    package static var contentLength: FieldName { FieldName("Content-Length") }
    package static var contentRange: FieldName { FieldName("Content-Range") }
    package static var contentType: FieldName { FieldName("Content-Type") }
    package static var date: FieldName { FieldName("Date") }
    package static var entityTag: FieldName { FieldName("ETag") }
    package static var expect: FieldName { FieldName("Expect") }
    package static var host: FieldName { FieldName("Host") }
    package static var ifModifiedSince: FieldName { FieldName("If-Modified-Since") }
    package static var ifNoneMatch: FieldName { FieldName("If-None-Match") }
    package static var ifRange: FieldName { FieldName("If-Range") }
    package static var lastModified: FieldName { FieldName("Last-Modified") }
    package static var location: FieldName { FieldName("Location") }
    package static var origin: FieldName { FieldName("Origin") }
    package static var range: FieldName { FieldName("Range") }
    package static var retryAfter: FieldName { FieldName("Retry-After") }
    package static var transferEncoding: FieldName { FieldName("Transfer-Encoding") }
    package static var userAgent: FieldName { FieldName("User-Agent") }
}
