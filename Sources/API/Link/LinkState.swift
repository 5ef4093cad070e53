/// The state of a link conditioner: its settings and its traffic.
public struct LinkState: Codable, Equatable, Sendable {
    /// The link's settings.
    public var figures: LinkFigures
    /// The link's traffic.
    public var traffic: Traffic

    /// Addresses and traffic of a conditioner.
    public struct Traffic: Codable, Equatable, Sendable {
        /// The URL of the server behind the conditioner.
        public var upstream: String
        /// The URL for clients to use instead of `upstream`.
        public var listening: String
        /// Number of open connections.
        public var connections: Int
        /// Number of connections since the start.
        public var accepted: Int
        /// Seconds since the start.
        public var seconds: Double
        /// Bytes delivered to the clients.
        public var bytesDown: Int
        /// Bytes delivered to the upstream.
        public var bytesUp: Int
        /// Bits delivered to the clients in the last full second.
        public var rateDown: Int
        /// Bits delivered to the upstream in the last full second.
        public var rateUp: Int
    }

    /// Reads figures and traffic from one object.
    public init(from decoder: any Decoder) throws {
        figures = try LinkFigures(from: decoder)
        traffic = try Traffic(from: decoder)
    }

    /// Writes figures and traffic into one object.
    public func encode(to encoder: any Encoder) throws {
        try figures.encode(to: encoder)
        try traffic.encode(to: encoder)
    }
}

/// A change of a link's settings: first a preset for all of them, then single settings; nil keeps a setting.
///
/// The body of `PATCH /api/v1/link`; the response is a `LinkState`. A rate is a number, or null for no limit, as in the
/// response.
public struct LinkChange: Codable, Equatable, Sendable {
    /// The name of the preset, ignoring case.
    public var preset: String?
    /// Rate towards the client.
    public var down: LinkRate?
    /// Rate from the client.
    public var up: LinkRate?
    /// Delay towards the client in milliseconds.
    public var delayDown: Double?
    /// Delay from the client in milliseconds.
    public var delayUp: Double?
    /// Packet loss in per cent.
    public var loss: Double?
    /// Delay of an uncached name lookup in milliseconds.
    public var dnsDelay: Double?

    /// Creates a change to a preset, or an empty change.
    public init(preset: String? = nil) { self.preset = preset }

    /// Reads a change. A null rate means no limit; an absent rate does not change.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        preset = try values.decodeIfPresent(String.self, forKey: .preset)
        down = values.contains(.down) ? try values.decode(LinkRate.self, forKey: .down) : nil
        up = values.contains(.up) ? try values.decode(LinkRate.self, forKey: .up) : nil
        delayDown = try values.decodeIfPresent(Double.self, forKey: .delayDown)
        delayUp = try values.decodeIfPresent(Double.self, forKey: .delayUp)
        loss = try values.decodeIfPresent(Double.self, forKey: .loss)
        dnsDelay = try values.decodeIfPresent(Double.self, forKey: .dnsDelay)
    }
}
