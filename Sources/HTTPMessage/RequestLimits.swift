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
