import Glibc

/// Finds and checks one request head in bytes that arrive in any portions. No I/O: bytes in, head or error out.
///
/// Each line is parsed once, when its end has arrived, so single bytes cost no more than their system calls. Stricter than RFC
/// 9112 allows a recipient to be: lines end with CRLF only, and nothing is unfolded, repaired or guessed.
public struct RequestHeadParser: Sendable {
    private let limits: RequestLimits
    private var requestLine: RequestLine?
    private var fields: [FieldSpan] = []
    private var framing = RequestFraming()
    /// Offset of the first unparsed line.
    private var lineStart = 0
    /// Offset up to which no line feed follows `lineStart`.
    private var searched = 0
    /// Offset of the first field line.
    private var headersStart = 0
    private var skippedEmptyLine = false
    /// Creates a parser for one head.
    public init(limits: RequestLimits = RequestLimits()) { self.limits = limits }

    /// Returns the head if it ends within `bytes`; nil if more is needed.
    ///
    /// `bytes` begins at the head's first byte on each call, with all received since; bytes after the head are ignored.
    public mutating func parse(_ bytes: UnsafeRawBufferPointer) throws(RequestHeadError) -> RequestHead? {
        while let lineFeed = Self.lineFeed(in: bytes, from: searched) {
            guard lineFeed > lineStart, bytes[lineFeed - 1] == ByteClass.carriageReturn else { throw .bareLineFeed }
            let line = lineStart..<lineFeed - 1
            lineStart = lineFeed + 1
            searched = lineStart
            guard let requestLine else {
                try parseFirstLine(line, in: bytes)
                continue
            }
            guard lineStart - headersStart <= limits.headers else { throw .headersTooLarge }
            if line.isEmpty {
                return try finish(requestLine, in: bytes)
            }
            try parseField(line, in: bytes)
        }
        searched = bytes.count
        try checkUnfinishedLine(in: bytes)
        return nil
    }

    /// True until the first byte of a head.
    public var isEmpty: Bool { searched == 0 }

    private static func lineFeed(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard start < bytes.count, let base = bytes.baseAddress else { return nil }
        guard let found = memchr(base + start, 0x0A, bytes.count - start) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    private mutating func parseFirstLine(_ line: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(RequestHeadError)
    {
        // RFC 9112 §2.2: a server should ignore at least one empty line before the request line.
        if line.isEmpty, !skippedEmptyLine {
            skippedEmptyLine = true
            return
        }
        guard line.count <= limits.requestLine else { throw .targetTooLong }
        requestLine = try RequestLine(line, in: bytes)
        headersStart = lineStart
        fields.reserveCapacity(12)
    }

    private mutating func parseField(_ line: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(RequestHeadError) {
        guard fields.count < limits.fieldCount else { throw .tooManyFields }
        guard !ByteClass.isBlank(bytes[line.lowerBound]) else { throw .foldedField }
        var colon = line.lowerBound
        while colon < line.upperBound, ByteClass.isToken(bytes[colon]) {
            colon += 1
        }
        guard colon > line.lowerBound, colon < line.upperBound, bytes[colon] == ByteClass.colon else {
            throw .malformedField
        }
        let value = ByteClass.trimmed(bytes, colon + 1..<line.upperBound)
        guard ByteClass.isFieldValue(UnsafeRawBufferPointer(rebasing: bytes[value])) else { throw .controlCharacter }
        let span = FieldSpan(name: line.lowerBound..<colon, value: value)
        try framing.record(span, in: bytes)
        fields.append(span)
    }

    private mutating func finish(
        _ line: RequestLine, in bytes: UnsafeRawBufferPointer
    ) throws(RequestHeadError) -> RequestHead {
        try framing.finish(method: line.method, limits: limits)
        if let authority = line.authority {
            try framing.checkHost(against: authority, in: bytes)
        }
        return RequestHead(
            method: line.method, version: line.version, framing: framing,
            bytes: Array(UnsafeRawBufferPointer(rebasing: bytes[..<lineStart])),
            targetRange: line.target, fields: fields)
    }

    /// Refuses early an unfinished line that is too long, or that is not HTTP at all, such as a TLS hello.
    private func checkUnfinishedLine(in bytes: UnsafeRawBufferPointer) throws(RequestHeadError) {
        if requestLine != nil {
            guard bytes.count - headersStart <= limits.headers else { throw .headersTooLarge }
        } else if lineStart < bytes.count {
            guard bytes.count - lineStart <= limits.requestLine + 1 else { throw .targetTooLong }
            let first = bytes[lineStart]
            guard ByteClass.isToken(first) || first == ByteClass.carriageReturn else { throw .malformedRequestLine }
        }
    }
}

/// The limits on a request. All in bytes, except `fieldCount`.
public struct RequestLimits: Sendable {
    /// Longest request line, without its CRLF; above it 414.
    public var requestLine = 8 * 1024
    /// Longest header section, line ends included; above it 431.
    public var headers = 16 * 1024
    /// Most field lines; above it 431.
    public var fieldCount = 64
    /// Longest body; above it 413.
    public var body: Int64 = 64 * 1024
    /// The default limits.
    public init() {}
}
