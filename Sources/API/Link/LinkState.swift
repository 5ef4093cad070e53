/// A link conditioner as it stands: its figures, and what it has carried.
public struct LinkState: Codable, Equatable, Sendable {
    /// What it does to what crosses it.
    public var figures: LinkFigures
    /// What has crossed it.
    public var traffic: Traffic

    /// Where a conditioner stands, and what it has carried.
    public struct Traffic: Codable, Equatable, Sendable {
        /// The URL that it relays to.
        public var upstream: String
        /// The URL to use in the place of `upstream`.
        public var listening: String
        /// Connections that are open.
        public var connections: Int
        /// Connections since it was started.
        public var accepted: Int
        /// Since it was started.
        public var seconds: Double
        /// Bytes that arrived at the clients.
        public var bytesDown: Int
        /// Bytes that arrived at the upstream.
        public var bytesUp: Int
        /// Bits that arrived at the clients in the last whole second.
        public var rateDown: Int
        /// Bits that arrived at the upstream in the last whole second.
        public var rateUp: Int
    }

    /// Both have their keys in one object.
    public init(from decoder: any Decoder) throws {
        figures = try LinkFigures(from: decoder)
        traffic = try Traffic(from: decoder)
    }

    /// One object.
    public func encode(to encoder: any Encoder) throws {
        try figures.encode(to: encoder)
        try traffic.encode(to: encoder)
    }
}
