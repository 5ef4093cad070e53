/// What a request may cost before it is refused.
///
/// All in bytes but for the count.
public struct RequestLimits: Sendable {
    /// Longest request line, without its CRLF; beyond it 414.
    public var requestLine = 8 * 1024
    /// Longest header section, line ends included; beyond it 431.
    public var headers = 16 * 1024
    /// Most field lines; beyond it 431.
    public var fieldCount = 64
    /// Longest body; beyond it 413.
    public var body: Int64 = 64 * 1024

    /// The limits that Weir ships with.
    public init() {}
}
