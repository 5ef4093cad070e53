/// A request line (RFC 9112 §3): method, target and version, separated by single spaces.
struct RequestLine: Sendable {
    let method: HTTPMethod
    /// Offsets into the head: of the asterisk, or of the path with its query.
    let target: Range<Int>
    /// Offsets into the head: of the host and port that an absolute target names; nil for any other target.
    let authority: Range<Int>?
    let version: HTTPVersion

    init(_ line: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(RequestHeadError) {
        var methodEnd = line.lowerBound
        while methodEnd < line.upperBound, ByteClass.isToken(bytes[methodEnd]) {
            methodEnd += 1
        }
        guard methodEnd > line.lowerBound, methodEnd < line.upperBound, bytes[methodEnd] == ByteClass.space else {
            throw .malformedRequestLine
        }

        // "HTTP/1.1" is eight bytes long and follows a space.
        let versionStart = line.upperBound - 8
        guard versionStart - 1 > methodEnd, bytes[versionStart - 1] == ByteClass.space else {
            throw .malformedRequestLine
        }
        version = try Self.version(UnsafeRawBufferPointer(rebasing: bytes[versionStart..<line.upperBound]))

        let name = UnsafeRawBufferPointer(rebasing: bytes[line.lowerBound..<methodEnd])
        guard let method = HTTPMethod(name) else { throw .unknownMethod }
        self.method = method

        let written = methodEnd + 1..<versionStart - 1
        if let parts = try Self.absoluteParts(of: written, in: bytes) {
            authority = parts.authority
            target = parts.target
        } else {
            authority = nil
            target = written
        }
        try Self.checkTarget(UnsafeRawBufferPointer(rebasing: bytes[target]), method: method)
    }

    /// Takes a target in absolute form apart, `http://host:port/path?query` (RFC 9112 §3.2.2): clients that take this server for a
    /// proxy send it. Returns nil for a target of another form.
    private static func absoluteParts(
        of target: Range<Int>, in bytes: UnsafeRawBufferPointer
    ) throws(RequestHeadError) -> (authority: Range<Int>?, target: Range<Int>)? {
        let start = target.lowerBound + absoluteStart.utf8CodeUnitCount
        guard start < target.upperBound,
            ByteClass.equals(bytes[target.lowerBound..<start], ignoringCase: absoluteStart)
        else { return nil }

        var end = start
        while end < target.upperBound, ByteClass.isAuthority(bytes[end]) {
            end += 1
        }
        guard end > start else { throw .malformedTarget }
        // An empty path is the root: the slash before the host stands for it.
        guard end < target.upperBound else { return (start..<end, start - 1..<start) }
        guard bytes[end] == UInt8(ascii: "/") else { throw .malformedTarget }
        return (start..<end, end..<target.upperBound)
    }

    private static var absoluteStart: StaticString { "http://" }

    private static func version(_ bytes: UnsafeRawBufferPointer) throws(RequestHeadError) -> HTTPVersion {
        // "HTTP/" and "." with the digits masked out, in little-endian memory order.
        let word = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        let isVersion =
            word & 0x00FF_00FF_FFFF_FFFF == 0x002E_002F_5054_5448 && ByteClass.isDigit(bytes[5])
            && ByteClass.isDigit(bytes[7])
        guard isVersion else { throw .malformedRequestLine }
        guard bytes[5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
        guard bytes[7] != UInt8(ascii: "0") else { return .http10 }
        // A later minor version has the semantics of 1.1 (RFC 9110 §2.5).
        return .http11
    }

    /// Accepts origin form, also behind the host of an absolute one, and the asterisk of OPTIONS.
    ///
    /// Wider than RFC 3986 in one respect: users paste an origin's URL after Weir's own, so any visible ASCII except `#` is accepted, and
    /// so is UTF-8.
    private static func checkTarget(
        _ target: UnsafeRawBufferPointer, method: HTTPMethod
    ) throws(RequestHeadError) {
        if target.count == 1, target[0] == UInt8(ascii: "*"), method == .options {
            return
        }
        guard let first = target.first, first == UInt8(ascii: "/") else { throw .malformedTarget }
        var isASCII = true
        for byte in target {
            guard byte > 0x20, byte != 0x7F, byte != UInt8(ascii: "#") else { throw .malformedTarget }
            if byte >= 0x80 {
                isASCII = false
            }
        }
        guard isASCII || String(validating: target, as: UTF8.self) != nil else { throw .malformedTarget }
    }
}
