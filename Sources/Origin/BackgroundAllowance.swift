/// What background transfers may take of the links that they share with players.
///
/// It bites on transfers under way: those that may not go on wait with open connections, so that nothing has to be
/// fetched again.
public struct BackgroundAllowance: Hashable, Sendable {
    /// Bytes a second, all together; 0 for nothing at all, nil for whatever comes.
    public var rate: Int64?
    /// How many bytes may be on their way, all together: a player's request waits at the bottleneck until they have
    /// passed. nil for as much as the system thinks best.
    public var window: Int64?
    /// The most transfers at once to one (scheme, host, port); nil for what the client's configuration says.
    public var places: Int?

    /// - Parameters: see the properties.
    public init(rate: Int64? = nil, window: Int64? = nil, places: Int? = nil) {
        self.rate = rate
        self.window = window
        self.places = places
    }

    /// Nobody needs to be spared.
    public static let full = BackgroundAllowance()
    /// Nothing, for now.
    public static let nothing = BackgroundAllowance(rate: 0, window: smallestWindow, places: 0)

    /// The least that a window is of use with: a few packets.
    public static let smallestWindow: Int64 = 8 << 10
}
