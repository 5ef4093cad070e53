/// A header field's name (RFC 9110 §5.1).
///
/// Only a literal of the program can be one, so outside input never becomes a field name.
public struct FieldName: Sendable, CustomStringConvertible {
    /// The name as written to the wire.
    let text: StaticString

    /// Wraps a literal, which must be a token (RFC 9110 §5.6.2).
    public init(_ literal: StaticString) {
        text = literal
    }

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
}

/// Names that more than one room uses.
extension FieldName {
    /// RFC 9110 §14.3.
    public static var acceptRanges: FieldName { FieldName("Accept-Ranges") }
    /// RFC 9110 §10.2.1.
    public static var allow: FieldName { FieldName("Allow") }
    /// RFC 9110 §11.6.2.
    public static var authorization: FieldName { FieldName("Authorization") }
    /// RFC 9111 §5.2.
    public static var cacheControl: FieldName { FieldName("Cache-Control") }
    /// RFC 9211.
    public static var cacheStatus: FieldName { FieldName("Cache-Status") }
    /// RFC 9110 §7.6.1.
    public static var connection: FieldName { FieldName("Connection") }
    /// RFC 9110 §8.6.
    public static var contentLength: FieldName { FieldName("Content-Length") }
    /// RFC 9110 §14.4.
    public static var contentRange: FieldName { FieldName("Content-Range") }
    /// RFC 9110 §8.3.
    public static var contentType: FieldName { FieldName("Content-Type") }
    /// RFC 9110 §6.6.1.
    public static var date: FieldName { FieldName("Date") }
    /// RFC 9110 §8.8.3.
    public static var entityTag: FieldName { FieldName("ETag") }
    /// RFC 9110 §10.1.1.
    public static var expect: FieldName { FieldName("Expect") }
    /// RFC 9110 §7.2.
    public static var host: FieldName { FieldName("Host") }
    /// RFC 9110 §13.1.3.
    public static var ifModifiedSince: FieldName { FieldName("If-Modified-Since") }
    /// RFC 9110 §13.1.2.
    public static var ifNoneMatch: FieldName { FieldName("If-None-Match") }
    /// RFC 9110 §13.1.5.
    public static var ifRange: FieldName { FieldName("If-Range") }
    /// RFC 9110 §8.8.2.
    public static var lastModified: FieldName { FieldName("Last-Modified") }
    /// RFC 9110 §10.2.2.
    public static var location: FieldName { FieldName("Location") }
    /// RFC 6454 §7.
    public static var origin: FieldName { FieldName("Origin") }
    /// RFC 9110 §14.2.
    public static var range: FieldName { FieldName("Range") }
    /// RFC 9110 §10.2.3.
    public static var retryAfter: FieldName { FieldName("Retry-After") }
    /// RFC 9112 §6.1.
    public static var transferEncoding: FieldName { FieldName("Transfer-Encoding") }
    /// RFC 9110 §10.1.5.
    public static var userAgent: FieldName { FieldName("User-Agent") }
    /// RFC 9110 §12.5.5.
    public static var vary: FieldName { FieldName("Vary") }
}
