/// The share of a link that background transfers may use.
///
/// Applies to running transfers too: a transfer that must pause keeps its connection open, so that nothing is fetched again.
public struct BackgroundAllowance: Hashable, Sendable {
    /// Bytes per second of all background transfers together; 0 stops them, nil is unlimited.
    public var rate: Int64?
    /// Bytes under way of all background transfers: a player's request waits behind them. nil: the system's window.
    public var window: Int64?
    /// Most transfers at once to one (scheme, host, port); nil for the client's configuration.
    public var slots: Int?

    /// Creates an allowance; see the properties.
    public init(rate: Int64? = nil, window: Int64? = nil, slots: Int? = nil) {
        self.rate = rate
        self.window = window
        self.slots = slots
    }

    /// Unlimited: no player shares the link.
    public static let full = BackgroundAllowance()
    /// Stops background transfers.
    public static let nothing = BackgroundAllowance(rate: 0, window: smallestWindow, slots: 0)
    /// The smallest useful window, in bytes: a few packets.
    public static let smallestWindow: Int64 = 8 << 10
}
