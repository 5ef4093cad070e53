/// What is to be different about a link: a preset for all of it, then single figures; nil leaves one as it is.
public struct LinkChange: Encodable, Equatable, Sendable {
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
}
