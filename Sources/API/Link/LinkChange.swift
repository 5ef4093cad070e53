/// What is to be different about a link: a preset for all of it, then single figures; nil leaves one as it is.
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
