/// The state of a link conditioner: its settings and its traffic.
public struct LinkState: Codable, Equatable, Sendable {
    /// The link's settings.
    public var figures: LinkFigures
    /// The link's traffic.
    public var traffic: Traffic

    /// Addresses and traffic of a conditioner.
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

/// A change of a link's settings: a preset for all of them, then single settings; nil leaves a setting as it is.
///
/// The body of `PATCH /api/v1/link`, answered by a `LinkState`. As in that, a rate is a number, or null for no limit.
public struct LinkChange: Codable, Equatable, Sendable {
    /// In any case.
    public var preset: String?
    /// Towards the client.
    public var down: LinkRate?
    /// From the client.
    public var up: LinkRate?
    /// Milliseconds towards the client.
    public var delayDown: Double?
    /// Milliseconds from the client.
    public var delayUp: Double?
    /// Per cent of the packets.
    public var loss: Double?
    /// Milliseconds for a name that is not known.
    public var dnsDelay: Double?

    /// A change to a preset, or of nothing yet.
    public init(preset: String? = nil) { self.preset = preset }

    /// Reads a change; a rate that is null is not one that is left out.
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
